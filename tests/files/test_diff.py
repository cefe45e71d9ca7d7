"""Differences: exactly those that were made, and none where there are none."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import pteron
from pteron.edit import add_constant_methods, drop, rename
from pteron.errors import PteronError
from pteron.files import NamedBlob, PTDFile, PTEFile
from pteron.files.diff import Change, Distance, diff
from pteron.files.diff.distance import distance
from pteron.files.diff.lines import Line, lines
from pteron.payloads import open_payload
from pteron.payloads.coreml.memfs import flatten
from pteron.payloads.coreml.weights import WeightFile
from pteron.schema.flat_tensor import TensorLayout
from pteron.schema.program import Double, ScalarType
from tests.files.made import Made
from tests.files.programs import add_constant_program, add_program


def places(changes: list[Change]) -> set[str]:
    return {"/".join(change.where) for change in changes}


def floats(*values: float) -> bytes:
    return np.array(values, np.float32).tobytes()


def with_payload(file: PTEFile, payload: bytes) -> PTEFile:
    parts = file.parts()
    parts.delegate_payloads = [payload]
    return PTEFile(**vars(parts))


def test_a_file_does_not_differ_from_itself(made_file: Made, tmp_path: Path):
    path = tmp_path / "copy"
    for data in (made_file.pte, *made_file.data.values()):
        path.write_bytes(data)
        with pteron.open(path) as copy:
            assert diff(pteron.open(data), copy) == []


def test_differences_are_the_same_both_ways(corpus: Path):
    paths = [path for path in corpus.iterdir() if path.suffix in (".pte", ".ptd", ".bp", ".bpte")]
    mirror = {"added": "removed", "removed": "added", "changed": "changed"}
    for one, other in itertools.combinations(sorted(paths), 2):
        with pteron.open(one) as a, pteron.open(other) as b:
            forth, back = diff(a, b), diff(b, a)
        assert forth
        assert {(c.where, mirror[c.kind]) for c in forth} == {(c.where, c.kind) for c in back}


def test_a_constant_that_changed_has_its_distance():
    before = add_constant_program([b"", floats(1, 2, 3, 4)])
    after = add_constant_program([b"", floats(1, 2, 3.5, 2)])
    (change,) = diff(before, after)
    assert change.where == ("constants", "constant 1")
    assert (change.before, change.after) == ("float32[2, 2]", "float32[2, 2]")
    apart = change.distance
    assert (apart.differing, apart.count, apart.max_abs, apart.mean_abs) == (2, 4, 2.0, 0.625)
    assert math.isclose(apart.relative, math.sqrt(4.25 / 30))


def test_an_unused_constant_and_another_size():
    before = add_constant_program([b"", floats(1, 2, 3, 4)])
    after = add_constant_program([b"", floats(1, 2, 3, 4), b"12345678" * 40])
    changes = diff(before, after)
    assert places(changes) == {"size", "constants/constant 2", "segments/constants/bytes"}
    (added,) = [change for change in changes if change.kind == "added"]
    assert added.after == "bytes[320]"


def test_a_constant_of_a_type_that_numpy_lacks():
    before = add_constant_program([b"", floats(1, 2, 3, 4)])
    after = add_constant_program([b"", floats(1, 2, 3, 4)])
    after.program.execution_plan[0].values[1].val.scalar_type = ScalarType.QUINT4X2
    changes = {change.where: change for change in diff(before, after)}
    change = changes["constants", "constant 1"]
    assert (change.before, change.after) == ("float32[2, 2]", "quint4x2[2, 2]")
    assert change.distance is None


def test_a_dim_order_and_the_kind_of_an_input():
    before, after = (add_constant_program([b"", floats(1, 2, 3, 4)]) for _ in range(2))
    values = after.program.execution_plan[0].values
    values[1].val.dim_order = [1, 0]
    changes = {change.where: change for change in diff(before, after)}
    change = changes["constants", "constant 1"]
    assert change.after == "float32[2, 2] in dim order [1, 0]"
    assert change.distance.max_abs == 1.0
    values[0].val = Double(1.5)
    assert ("methods", "forward", "inputs", "0", "kind") in {c.where for c in diff(before, after)}


def test_methods_signatures_and_scalars():
    file = add_program()
    renamed = diff(file, rename(file, {"forward": "backward"}))
    assert {(c.kind, c.where) for c in renamed if c.where != ("size",)} == {
        ("removed", ("methods", "forward")),
        ("added", ("methods", "backward")),
    }
    with_length = add_constant_methods(file, {"get_max_seq_len": 128})
    assert ("methods", "get_max_seq_len") in {c.where for c in diff(file, with_length)}
    longer = add_constant_methods(file, {"get_max_seq_len": 256})
    changes = diff(with_length, longer)
    assert {change.where[:2] for change in changes} == {("methods", "get_max_seq_len")}
    assert {(change.before, change.after) for change in changes} == {(128, 256)}


def test_inputs_memory_plan_and_steps():
    before, after = add_program(), add_program()
    tensor = after.program.execution_plan[0].values[0].val
    tensor.sizes = [4, 2]
    tensor.allocation_info.memory_offset_low = 48
    assert places(diff(before, after)) >= {
        "methods/forward/inputs/0/shape",
        "methods/forward/memory_plan/value 0/memory_offset_low",
    }
    steps = add_program()
    chain = steps.program.execution_plan[0].chains[0]
    chain.instructions = [*chain.instructions, *chain.instructions]
    changes = {change.where: change for change in diff(before, steps)}
    change = changes["methods", "forward", "steps", "from 1"]
    assert (change.before, change.after) == ([], ["aten::add.out"])
    assert changes["methods", "forward", "operators", "aten::add.out"].after == 2


def test_the_same_content_in_other_bytes_is_layout(corpus: Path):
    with pteron.open(corpus / "add-2023.pte") as before:
        after = PTEFile(**vars(before.parts()))
        size, layout = diff(before, after)
    assert size.where == ("size",)
    assert layout == Change(
        ("layout",), "changed", "the same in all that is compared", "other bytes"
    )


def test_inside_a_core_ml_package(made):
    before = pteron.open(made("core_ml").pte)
    files = open_payload("CoreMLBackend", before.delegates[0].payload).files
    path = next(path for path in files if path.endswith("weight.bin"))
    weights = bytearray(files[path])
    record = next(WeightFile(files[path]).records())
    values = np.frombuffer(weights, np.float16, record.count, record.offset)
    old = values[5].item()
    values[5] = 3.0
    after = with_payload(before, flatten({**files, path: bytes(weights)}, root="lowered_module"))

    changes = {change.where: change for change in diff(before, after)}
    weight = changes.pop(("delegates", "forward[0]", "weights", "p_0_weight_to_fp16"))
    assert (weight.before, weight.distance.differing) == ("float16[32, 16]", 1)
    assert math.isclose(weight.distance.max_abs, abs(3.0 - old))
    files_changed = [w for w in changes if w[2:3] == ("files",)]
    assert files_changed == [("delegates", "forward[0]", "files", path)]


def test_functions_and_operations_of_payloads(made):
    before, after = pteron.open(made("core_ml").pte), pteron.open(made("core_ml_state").pte)
    found = places(diff(before, after))
    functions = "delegates/forward[0]/payload/functions/main"
    assert f"{functions}/operations/linear" in found
    assert any(place.startswith(f"{functions}/states/") for place in found)
    assert any(place.startswith("states/") for place in found)


@pytest.mark.slow
def test_an_xnnpack_payload(made):
    before, after = pteron.open(made("xnnpack").pte), pteron.open(made("xnnpack_quantised").pte)
    changes = {"/".join(c.where): c for c in diff(before, after)}
    weights = [c for w, c in changes.items() if "/weights/tensor" in w]
    assert {c.after.split("[")[0] for c in weights if c.after} >= {"qcint8"}


def test_data_files_by_name():
    layout = TensorLayout(scalar_type=ScalarType.FLOAT, sizes=[2], dim_order=[0])
    one = NamedBlob(floats(1, 2), tensor_layout=layout)
    two = NamedBlob(floats(1, 4), tensor_layout=layout)
    before = PTDFile({"same": one, "changed": one, "gone": one})
    after = PTDFile({"same": one, "changed": two, "new": two})
    kinds = {c.where: c.kind for c in diff(before, after) if c.where[-1] != "alignment"}
    kinds.pop(("size",), None)
    assert kinds == {
        ("named_data", "changed"): "changed",
        ("named_data", "gone"): "removed",
        ("named_data", "new"): "added",
    }


def test_kinds_of_file():
    changes = diff(add_program(), PTDFile({"a": NamedBlob(b"1")}))
    assert Change(("kind",), "changed", "program", "data file") in changes


def test_a_dropped_method(made):
    before = pteron.open(made("multi_method").pte)
    after = drop(before, ["double"])
    removed = {c.where for c in diff(before, after) if c.kind == "removed"}
    assert ("methods", "double") in removed


@given(
    hnp.arrays(np.float32, 7, elements=st.floats(width=32)),
    hnp.arrays(np.float32, 7, elements=st.floats(width=32)),
)
def test_distance_is_what_numpy_says(a, b):
    found = distance(a, b)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    assert found.differing == np.count_nonzero(~same)
    gaps = np.abs(a[~same].astype(np.float64) - b[~same].astype(np.float64))
    expected = np.max(gaps, initial=0.0)
    assert found.max_abs == expected or (math.isnan(found.max_abs) and math.isnan(expected))


def test_distance_over_many_chunks_and_other_types():
    a = np.zeros((3 << 20) + 5, np.int8)
    b = a.copy()
    b[[0, 1 << 20, -1]] = 1, 2, -3
    assert distance(a, b) == Distance(3, a.size, 3.0, 6 / a.size, math.inf)
    c, d = np.array([1.0, 2.0], ml_dtypes.bfloat16), np.array([1.0, 3.0], np.float16)
    assert distance(c, d).max_abs == 1.0
    assert distance(np.zeros(0), np.zeros(0)) == Distance(0, 0, 0.0, 0.0, 0.0)
    assert distance(a, b).as_json()["relative"] == "inf"


@given(data=st.data())
def test_mutated_files_differ_or_are_an_error(made, data):
    original = made("xnnpack").pte
    changed = bytearray(original)
    at = data.draw(st.integers(0, len(changed) - 1))
    changed[at] ^= data.draw(st.integers(1, 255))
    try:
        with pteron.open(bytes(changed)) as file:
            assert diff(pteron.open(original), file)
    except PteronError:
        pass


def test_lines_group_fold_and_shorten():
    changes = [
        Change(("size",), "changed", 10, 20),
        *(Change(("constants", f"c{i}"), "removed", "float32[1]") for i in range(30)),
        Change(("methods", "forward", "inputs", "0", "shape"), "changed", [1, 2], [1, 3]),
        Change(("constants", "w"), "changed", "a", "a", Distance(1, 4, 0.5, 0.125, 0.01)),
        Change(("methods", "prefill"), "added", after={"inputs": {}}),
        Change(("methods", "forward", "steps", "from 3"), "changed", [], ["x" * 200]),
    ]
    found = list(lines(changes))
    assert found[:4] == [
        Line("", "size"),
        Line("~", "size: 10 → 20"),
        Line("", "constants"),
        Line("-", "c0: float32[1]"),
    ]
    assert Line("~", "and 12 more") in found
    assert found[-5:-2] == [
        Line("", "method: forward"),
        Line("~", "inputs / 0 / shape: [1, 2] → [1, 3]"),
        Line("~", f"steps / from 3: [] → 1 steps: {'x' * 60}…"),
    ]
    assert found[-2:] == [Line("", "methods"), Line("+", "prefill")]
    everything = list(lines(changes, fold=None))
    assert Line("~", "w: a, 1 of 4 differ, by 0.5 at most, relatively 0.01") in everything
