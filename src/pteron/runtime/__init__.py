"""Runs programs: load one, call its methods, hold its state."""

from __future__ import annotations

from pteron.runtime.loading import load
from pteron.runtime.method import Method
from pteron.runtime.module import Module
from pteron.runtime.signature import Parameter
from pteron.runtime.snapshot import Snapshot
from pteron.runtime.state import ModuleState, StateEntry

__all__ = ["Method", "Module", "ModuleState", "Parameter", "Snapshot", "StateEntry", "load"]
