"""Released runtimes, and what each of them can execute: for ``pteron check --for``."""

from __future__ import annotations

from pteron.files.runtimes.catalogue import RUNTIMES, coreml_state_runtimes, find_runtime
from pteron.files.runtimes.runtime import Runtime

__all__ = ["RUNTIMES", "Runtime", "coreml_state_runtimes", "find_runtime"]
