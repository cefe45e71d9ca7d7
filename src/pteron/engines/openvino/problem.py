"""How an op says what is wrong with it; the translator adds which op, and in which function."""

from __future__ import annotations


class OpProblem(Exception):  # noqa: N818  (never leaves the engine: it becomes an EngineError)
    """What is wrong with one operation, without saying which one it is."""
