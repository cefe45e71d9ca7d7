"""The OpenVINO engine: Core ML programs, compiled for this machine's processor."""

from __future__ import annotations

from pteron.engines.openvino.engine import OpenVINOEngine

__all__ = ["OpenVINOEngine"]
