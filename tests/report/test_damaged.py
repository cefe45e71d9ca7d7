"""Damaged files: a report, with the reason where a part is missing, or one clear error."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

import pteron
from pteron.report import report
from pteron.report.page import embedded
from tests.files.programs import busy_program
from tests.report.made import counter_program, hostile_program, long_program

_WHOLE = [
    made.to_bytes()
    for made in (busy_program(), counter_program(), hostile_program(), long_program(5, layers=2))
]


@settings(max_examples=60)
@given(
    st.sampled_from(_WHOLE),
    st.lists(st.tuples(st.integers(0, 2**16), st.integers(0, 255)), min_size=1, max_size=6),
)
def test_any_bytes_give_a_page_or_an_error(whole, changes):
    damaged = bytearray(whole)
    for position, value in changes:
        damaged[position % len(damaged)] = value
    try:
        opened = pteron.open(bytes(damaged))
    except pteron.PteronError:
        return
    json.loads(embedded(report(opened).data))


@settings(max_examples=15)
@given(st.sampled_from(_WHOLE), st.integers(0, 2**16), st.integers(0, 255))
def test_two_files_of_which_one_is_damaged(whole, position, value):
    damaged = bytearray(whole)
    damaged[position % len(damaged)] = value
    try:
        opened = pteron.open(bytes(damaged))
    except pteron.PteronError:
        return
    json.loads(embedded(report(pteron.open(whole), opened).data))
