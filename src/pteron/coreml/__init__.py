"""Core ML off macOS: ``predict`` for users of coremltools on any machine."""

from __future__ import annotations

from pteron.coreml.enable import disable_predict, enable_predict

__all__ = ["disable_predict", "enable_predict"]
