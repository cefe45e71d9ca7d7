"""Measuring a program on this machine: how fast, how much memory, and where the time goes."""

from __future__ import annotations

from pteron.bench.benchmark import Options, benchmark
from pteron.bench.result import Result
from pteron.bench.trace import chrome_trace

__all__ = ["Options", "Result", "benchmark", "chrome_trace"]
