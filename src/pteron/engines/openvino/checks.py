"""Checks by value: what an operation demands of values that are computed while its program runs.

OpenVINO has no error by value. An operation that must have one demands a scalar boolean of the
graph; those of a function leave the model as one more output, which the session reads after every
call. Branches and loops hand the demands of their blocks on to the graph around them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pteron.engines.openvino._import import opset
from pteron.engines.openvino.graph import ints
from pteron.engines.openvino.values import Output
from pteron.errors import EngineError


@dataclass(frozen=True)
class Check:
    """What is wrong with an operation (type and output name) where its demand is not met."""

    op: str
    problem: str


Demand = tuple[Check, Output]
"""A check, and the scalar boolean that must be true."""


def checks_output(demands: Sequence[Demand]) -> Any:
    """Result of a model: one boolean per demand, in order."""
    answers = [opset.reshape(answer, ints([1]), False) for _, answer in demands]
    return opset.result(opset.concat(answers, 0))


def verify(checks: Sequence[Check], answers: NDArray[np.bool_], function: str) -> None:
    """Raise EngineError for the first check that does not hold."""
    for check, holds in zip(checks, answers.tolist(), strict=True):
        if not holds:
            message = f"function '{function}', {check.op}: {check.problem}"
            raise EngineError(message, function=function, op=check.op)
