"""Spoilt payloads: whatever the bytes, a reader answers or raises PteronError, in little time."""

from __future__ import annotations

import random
import time

import pytest

from pteron.errors import PteronError
from pteron.payloads import find_reader
from tests.fuzz.mutate import mutate

INPUTS = 1500
SEED = 20261130


def exercise(backend: str, payload: bytes, named: dict[str, memoryview]) -> None:
    reader, view = find_reader(backend), memoryview(payload)
    part = reader.parts(view, named)
    assert part.size == len(payload)
    for inner in part.walk():
        assert not inner.children or sum(c.size for c in inner.children) == inner.size
    reader.named_parts(view, named)
    source = reader.open(view, named, "forward")
    reader.summary(source)
    for constant in reader.constants(source):
        constant.read()


@pytest.fixture(scope="module")
def seeds(coreml_program, multifunction_program, xnnpack_program):
    """Per kind: backend, payloads to spoil, named data to resolve references with."""
    shared = {key: memoryview(data) for key, data in multifunction_program.named_data.items()}
    weights = {key: memoryview(data) for key, data in xnnpack_program.named_data.items()}
    return {
        "core ml": ("CoreMLBackend", [*coreml_program.payloads.values(), *shared.values()], {}),
        "reference": ("CoreMLBackend", list(multifunction_program.payloads.values()), shared),
        "xnnpack": ("XnnpackBackend", list(xnnpack_program.payloads.values()), weights),
    }


@pytest.mark.parametrize("kind", ["core ml", "reference", "xnnpack"])
def test_spoilt_payloads(seeds, kind: str):
    backend, payloads, named = seeds[kind]
    rng, slowest, answered = random.Random(SEED), 0.0, 0
    for payload in payloads:
        exercise(backend, bytes(payload), named)
    for _ in range(INPUTS):
        spoilt = mutate(payloads, rng)
        started = time.process_time()
        try:
            exercise(backend, spoilt, named)
            answered += 1
        except PteronError:
            pass
        slowest = max(slowest, time.process_time() - started)
    assert slowest < 2
    assert 0 < answered < INPUTS
