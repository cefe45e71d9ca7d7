"""Bundles, read and run by ExecuTorch's own code."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from executorch.devtools.bundled_program.config import MethodTestCase, MethodTestSuite
from executorch.devtools.bundled_program.core import BundledProgram
from executorch.devtools.bundled_program.serialize import (
    deserialize_from_flatbuffer_to_bundled_program,
    serialize_from_bundled_program_to_flatbuffer,
)
from executorch.extension.pybindings import portable_lib

from pteron.edit import Case, arrays_from_bundle, bundle, cases_from_arrays
from pteron.errors import FormatError, UnsupportedError, UsageError
from pteron.files import BundledFile, PTEFile
from pteron.files import open as open_file
from pteron.files.check import check
from pteron.schema import bundled
from pteron.schema.program import (
    Bool,
    Double,
    EValue,
    ExtraTensorInfo,
    Int,
    Program,
    String,
    Tensor,
    TensorShapeDynamism,
)
from tests.edit.proof import assert_equal, run
from tests.files.made import Made
from tests.files.oracle import plain
from tests.files.programs import add_plan, float_tensor

Opened = Callable[[str], PTEFile]
Maker = Callable[[str], Made]


def reopened(data: bytes) -> BundledFile:
    file = open_file(data)
    assert isinstance(file, BundledFile)
    assert [finding for finding in check(file) if finding.severity != "note"] == []
    return file


def case_of(inputs: Any, outputs: Any = ()) -> Case:
    """By position, from tensors."""
    return Case(
        {str(i): tensor.numpy() for i, tensor in enumerate(inputs)},
        {str(i): tensor.numpy() for i, tensor in enumerate(outputs)},
    )


@pytest.mark.parametrize("kind", ["portable", "dynamic", "xnnpack", "mutable"])
def test_equal_to_what_executorch_bundles(
    opened: Opened, made: Maker, tmp_path: Path, kind: str
) -> None:
    pte, inputs = made(kind).pte, made(kind).inputs["forward"]
    outputs = run(pte, inputs)
    (tmp_path / "model.pte").write_bytes(pte)
    cases = [MethodTestCase(inputs, outputs), MethodTestCase(inputs)]
    suites = [MethodTestSuite("forward", cases)]
    theirs = serialize_from_bundled_program_to_flatbuffer(
        BundledProgram(None, suites, str(tmp_path / "model.pte"))
    )
    ours = bundle(opened(kind), {"forward": [case_of(inputs, outputs), case_of(inputs)]}).to_bytes()
    decode = deserialize_from_flatbuffer_to_bundled_program
    assert plain(decode(ours)) == plain(decode(theirs))
    assert bytes(reopened(ours).bundle.program) == pte


@pytest.mark.parametrize("kind", ["portable", "dynamic", "xnnpack"])
def test_executorch_verifies_it(opened: Opened, made: Maker, kind: str) -> None:
    inputs = made(kind).inputs["forward"]
    outputs = run(made(kind).pte, inputs)
    wrong = [*outputs[:-1], outputs[-1] + 1]
    cases = {"forward": [case_of(inputs, outputs), case_of(inputs, wrong)]}
    data = bundle(opened(kind), cases).to_bytes()
    loaded = portable_lib._load_bundled_program_from_buffer(data)
    verify = loaded.verify_result_with_bundled_expected_output
    assert_equal(verify("forward", 0), outputs)
    with pytest.raises(RuntimeError, match="verification failed"):
        verify("forward", 1)


def test_several_methods_in_order(opened: Opened, made: Maker) -> None:
    case = case_of(made("multi_method").inputs["forward"])
    file = reopened(
        bundle(opened("multi_method"), {"forward": [case], "double": [case]}).to_bytes()
    )
    assert [suite.method_name for suite in file.test_suites] == ["double", "forward"]


def mixed_plan() -> PTEFile:
    """Takes a named channels-last tensor, an int, a float, a bool and a text."""
    tensor = float_tensor(0, (1, 2, 2, 2))
    assert isinstance(tensor.val, Tensor)
    tensor.val.dim_order = [0, 2, 3, 1]
    tensor.val.extra_tensor_info = ExtraTensorInfo(fully_qualified_name="image")
    values = [tensor, EValue(Int(0)), EValue(Double(0)), float_tensor(64), EValue(Bool(False))]
    plan = add_plan([*values, EValue(String(""))], [0, 1, 2, 4])
    plan.chains[0].instructions = []
    plan.non_const_buffer_sizes = [0, 128]
    return PTEFile(Program(execution_plan=[plan]))


def test_names_scalars_and_dim_order() -> None:
    image = np.arange(8, dtype=np.float32).reshape(1, 2, 2, 2)
    inputs = {
        "image": image,
        "input_1": np.asarray(3),
        "2": np.asarray(0.5),
        "3": np.asarray(True),
    }
    file = reopened(bundle(mixed_plan(), {"forward": [Case(inputs)]}).to_bytes())
    (case,) = file.test_suites[0].test_cases
    stored, *scalars = [value.val for value in case.inputs]
    assert scalars == [Int(3), Double(0.5), Bool(True)]
    assert isinstance(stored, bundled.Tensor)
    assert stored.dim_order == [0, 2, 3, 1]
    assert bytes(stored.data) == image.transpose(0, 2, 3, 1).tobytes()
    arrays = arrays_from_bundle(file)
    assert np.array_equal(arrays["forward/0/input/0"], image)
    again = bundle(mixed_plan(), cases_from_arrays(arrays, "forward"))
    assert again.to_bytes() == file.to_bytes()


IMAGE = np.zeros((1, 2, 2, 2), np.float32)
GOOD = {"0": IMAGE, "1": np.asarray(1), "2": np.asarray(1.0), "3": np.asarray(True)}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"0": IMAGE.astype(np.float16)}, r"float32\[1, 2, 2, 2\], got float16\[1, 2, 2, 2\]"),
        ({"0": IMAGE[0]}, r"expected float32\[1, 2, 2, 2\], got float32\[2, 2, 2\]"),
        ({"1": np.asarray(1.5)}, r"'input_1': expected one Int, got float64\[\]"),
        ({"1": np.asarray([1])}, r"expected one Int, got int64\[1\]"),
        ({"3": np.asarray(1)}, r"expected one Bool, got int64\[\]"),
        ({"4": IMAGE}, "no '4'; there are: image, input_1, input_2, input_3"),
        ({"image": IMAGE}, "one is given by name and by position"),
    ],
)
def test_inputs_that_do_not_fit(changed: dict[str, np.ndarray], message: str) -> None:
    with pytest.raises(UsageError, match=f"forward, case 0, input.*{message}"):
        bundle(mixed_plan(), {"forward": [Case(GOOD | changed)]})


def test_missing_inputs_and_outputs(opened: Opened, made: Maker) -> None:
    with pytest.raises(UsageError, match="case 0, input: input_1, input_3 missing"):
        bundle(mixed_plan(), {"forward": [Case({"0": IMAGE, "2": np.asarray(1.0)})]})
    inputs = made("portable").inputs["forward"]
    with pytest.raises(UsageError, match="case 0, output: output_1, output_2, output_3 missing"):
        outputs = run(made("portable").pte, inputs)[:1]
        bundle(opened("portable"), {"forward": [case_of(inputs, outputs)]})
    with pytest.raises(UsageError, match="no method 'backward'"):
        bundle(mixed_plan(), {"backward": []})


def test_kinds_that_bundles_lack() -> None:
    parts = mixed_plan().parts()
    parts.program.execution_plan[0].inputs = [5]
    with pytest.raises(UnsupportedError, match="cannot hold a value of kind String"):
        bundle(PTEFile(**vars(parts)), {"forward": [Case({"0": np.asarray("x")})]})


@pytest.mark.parametrize(
    ("dynamism", "shape", "fits"),
    [
        (TensorShapeDynamism.STATIC, (2, 2), True),
        (TensorShapeDynamism.STATIC, (1, 2), False),
        (TensorShapeDynamism.DYNAMIC_BOUND, (1, 2), True),
        (TensorShapeDynamism.DYNAMIC_BOUND, (0, 2), True),
        (TensorShapeDynamism.DYNAMIC_BOUND, (3, 1), False),
        (TensorShapeDynamism.DYNAMIC_BOUND, (2,), False),
        (TensorShapeDynamism.DYNAMIC_UNBOUND, (9, 9), True),
        (TensorShapeDynamism.DYNAMIC_UNBOUND, (9,), False),
    ],
)
def test_bounds(dynamism: TensorShapeDynamism, shape: tuple[int, ...], fits: bool) -> None:
    tensor = float_tensor(0)
    assert isinstance(tensor.val, Tensor)
    tensor.val.shape_dynamism = dynamism
    plan = add_plan([tensor, tensor, EValue(Int(1)), float_tensor(32)], [0])
    file = PTEFile(Program(execution_plan=[plan]))
    cases = {"forward": [Case({"0": np.zeros(shape, np.float32)})]}
    if fits:
        bundle(file, cases)
        return
    bound = "up to " if dynamism == TensorShapeDynamism.DYNAMIC_BOUND else ""
    with pytest.raises(UsageError, match=rf"expected float32{bound}"):
        bundle(file, cases)


def test_foreign_bundles(corpus: Path) -> None:
    for name in ("bundled-2023.bp", "bundled-2025.bpte"):
        file = open_file(corpus / name)
        assert isinstance(file, BundledFile)
        arrays = arrays_from_bundle(file)
        assert arrays
        again = bundle(file.pte, cases_from_arrays(arrays, "forward"))
        decode = deserialize_from_flatbuffer_to_bundled_program
        theirs = plain(decode((corpus / name).read_bytes()))
        ours = plain(decode(again.to_bytes()))
        assert ours[1]["method_test_suites"] == theirs[1]["method_test_suites"]
        assert bytes(reopened(again.to_bytes()).bundle.program) == bytes(file.bundle.program)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, "holds no value"),
        (bundled.Tensor(sizes=[2], data=b"123", dim_order=[0]), r"3 bytes for \[2\] of uint8"),
        (bundled.Tensor(sizes=[-1], data=b"", dim_order=[0]), r"0 bytes for \[-1\]"),
        (bundled.Tensor(sizes=[1], data=b"1", dim_order=[1]), r"dim order \[1\] does not fit"),
    ],
)
def test_damaged_cases(value: bundled.Tensor | None, message: str) -> None:
    case = bundled.BundledMethodTestCase(inputs=[bundled.Value(value)])
    suite = bundled.BundledMethodTestSuite("forward", [case])
    with pytest.raises(FormatError, match=f"forward/0/input/0: {message}"):
        arrays_from_bundle(BundledFile(mixed_plan(), [suite]))


# Keys


def test_keys() -> None:
    one, two = np.asarray(1), np.asarray(2)
    full = cases_from_arrays(
        {"m/1/input/a/b": one, "m/0/input/x": two, "m/0/output/0": one, "n/0/input/x": one}, "m"
    )
    assert full == {
        "m": [Case({"x": two}, {"0": one}), Case({"a/b": one})],
        "n": [Case({"x": one})],
    }
    short = {"x": one, "input/y": two, "output/z": one}
    assert cases_from_arrays(short, "m") == {"m": [Case({"x": one, "y": two}, {"z": one})]}


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ([], "there are no test cases"),
        (["m/" + "9" * 5000 + "/input/a"], "is neither"),
        (["m/x/input/a"], "the key 'm/x/input/a' is neither METHOD/CASE/input/NAME"),
        (["m/0/inputs/a"], "is neither"),
        (["m/0"], "is neither"),
        (["m/1/input/a"], "the cases of 'm' must be counted from 0"),
        (["m/0/input/a", "m/2/input/a"], "without a gap"),
        (["a", "input/a"], "input 'a' of 'm', case 0, is there twice"),
    ],
)
def test_bad_keys(keys: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        cases_from_arrays({key: np.asarray(1) for key in keys}, "m")
