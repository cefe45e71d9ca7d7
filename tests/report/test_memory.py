"""Planned memory: boxes, what is in use, the peak."""

from __future__ import annotations

import numpy as np

import pteron
from pteron.report.memory import memory
from tests.report.made import long_program


def test_boxes_and_peak_of_a_chain():
    (buffer,) = memory(long_program(6).program.execution_plan[0])["buffers"]
    by_value = {box[0]: box for box in buffer["boxes"]}
    assert by_value[0] == [0, 0, 4096, 0, 0]  # the input, until it is read
    assert by_value[3] == [3, 4096, 4096, 0, 1]
    assert by_value[13][3:] == [5, 5]  # the output, to the end
    assert buffer["in_use"] == [8192, 8192, 8192, 8192, 8192, 8192]
    assert (buffer["most"], buffer["peak"]) == (8192, 0)


def test_in_use_counts_every_byte_once(corpus):
    plan = pteron.open(corpus / "keyword-spotting-ethos-u.pte").program.execution_plan[0]
    for buffer in memory(plan)["buffers"]:
        in_use = np.zeros((len(buffer["in_use"]), buffer["bytes"]), bool)
        for _, offset, size, first, last in buffer["boxes"]:
            in_use[first : last + 1, offset : offset + size] = True
        counted = in_use.sum(axis=1)
        assert buffer["in_use"] == counted.tolist()
        assert buffer["most"] == counted.max()
        assert buffer["peak"] == counted.argmax()
