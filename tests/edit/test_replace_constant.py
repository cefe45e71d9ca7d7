"""Constants and first values replaced, and run."""

from __future__ import annotations

from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest
import torch
from executorch.exir import to_edge
from torch import nn
from torch.export import export

from pteron.edit import replace_constant
from pteron.errors import UsageError
from pteron.files import PTEFile
from pteron.schema.program import EValue, ExtraTensorInfo, Int, Program, ScalarType, Tensor
from tests.edit.proof import assert_equal, canonical, program, proven, run
from tests.files.made import Made, X, mlp
from tests.files.programs import add_plan, constant_tensor, float_tensor

Opened = Callable[[str], PTEFile]
ONES = np.ones((2, 2), np.float32)


def constant_of(file: PTEFile, shape: tuple[int, ...]) -> int:
    """Index of the only constant of that shape."""
    (index,) = {
        value.val.data_buffer_idx
        for value in file.program.execution_plan[0].values
        if isinstance(value.val, Tensor) and tuple(value.val.sizes) == shape
        if value.val.data_buffer_idx
    }
    return index


def test_weights_of_another_training(opened: Opened) -> None:
    """All constants replaced by those of a model with the same shapes."""
    model = mlp()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(-0.5)
    file = edited = opened("with_stacktraces")
    for weights in model.state_dict().values():
        index = constant_of(edited, tuple(weights.shape))
        edited = replace_constant(edited, index, weights.numpy())
    expected = bytes(to_edge(export(model, (X,))).to_executorch().buffer)
    assert_equal(run(proven(edited), [X]), run(expected, [X]))
    assert file.to_bytes() == opened("with_stacktraces").to_bytes()


def test_the_same_values_change_nothing(opened: Opened) -> None:
    file = opened("with_stacktraces")
    weights = mlp().state_dict()["2.weight"].numpy()
    edited = replace_constant(file, constant_of(file, (8, 32)), weights)
    assert sorted(map(bytes, edited.constants)) == sorted(map(bytes, file.constants))
    assert len(edited.to_bytes()) == len(canonical(file))


def sum_of_constants(names: tuple[str | None, str | None] = ("a", "b")) -> PTEFile:
    """Adds two constants that are stored once."""
    values = [constant_tensor(1), constant_tensor(1), EValue(Int(1)), float_tensor(32)]
    for value, name in zip(values, names, strict=False):
        assert isinstance(value.val, Tensor)
        value.val.extra_tensor_info = ExtraTensorInfo(fully_qualified_name=name)
    return PTEFile(Program(execution_plan=[add_plan(values, [])]), constants=[b"", ONES.tobytes()])


@pytest.mark.parametrize(
    ("target", "total"), [("a", 4), ("b", 4), (1, 6), (("forward", 0), 4), (("forward", 1), 4)]
)
def test_only_what_is_meant(target: str | int | tuple[str, int], total: float) -> None:
    edited = replace_constant(sum_of_constants(), target, 3 * ONES)
    (output,) = run(proven(edited))
    assert torch.equal(output, torch.full((2, 2), float(total)))


def test_dim_order(opened: Opened) -> None:
    """A channels-last weight is given in logical order, as PyTorch gives it."""
    torch.manual_seed(0)
    weights = torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last)

    class Model(nn.Module):
        def __init__(self, weights: torch.Tensor) -> None:
            super().__init__()
            self.register_buffer("weights", weights)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x + self.weights

    x = torch.zeros(2, 3, 4, 5).to(memory_format=torch.channels_last)
    file = program(bytes(to_edge(export(Model(weights), (x,))).to_executorch().buffer))
    index = constant_of(file, (2, 3, 4, 5))
    assert replace_constant(file, index, weights.numpy()).to_bytes() == canonical(file)
    other = torch.randn(2, 3, 4, 5)
    (output,) = run(proven(replace_constant(file, index, other.numpy())), [x])
    assert torch.equal(output, other)


def test_first_value_of_a_state(opened: Opened, made: Callable[[str], Made]) -> None:
    first = np.full((2, 4), 5, np.float32)
    edited = proven(replace_constant(opened("mutable"), "total", first))
    x = made("mutable").inputs["forward"][0]
    (output,) = run(edited, [x])
    assert torch.equal(output, torch.full((2, 4), 6.0))


def test_bfloat16_and_byte_order() -> None:
    file = sum_of_constants().parts()
    for value in file.program.execution_plan[0].values[:2]:
        assert isinstance(value.val, Tensor)
        value.val.scalar_type = ScalarType.BFLOAT16
    file.constants = [b"", bytes(8)]
    values = np.array([[1, 2], [3, 4]], ml_dtypes.bfloat16)
    for given in (values, values.view("V2")):  # .npy keeps no more of it than its size
        edited = replace_constant(PTEFile(**vars(file)), 1, given)
        assert bytes(edited.constants[1]) == values.tobytes()
    edited = replace_constant(sum_of_constants(), 1, ONES.astype(">f4"))
    assert bytes(edited.constants[1]) == ONES.tobytes()


def test_one_8_bit_float_is_not_another() -> None:
    parts = sum_of_constants().parts()
    for value in parts.program.execution_plan[0].values[:2]:
        assert isinstance(value.val, Tensor)
        value.val.scalar_type = ScalarType.FLOAT8E5M2
    parts.constants = [b"", bytes(4)]
    values = np.ones((2, 2), ml_dtypes.float8_e4m3fn)
    with pytest.raises(UsageError, match="the array is float8_e4m3fn"):
        replace_constant(PTEFile(**vars(parts)), 1, values)


@pytest.mark.parametrize(
    ("target", "array", "message"),
    [
        (1, ONES.astype(np.float64), r"is float32\[2, 2\]; the array is float64\[2, 2\]"),
        (1, ONES[0], r"is float32\[2, 2\]; the array is float32\[2\]"),
        (1, ONES.view("V4"), "the array is void32"),
        (1, ONES.view(ml_dtypes.bfloat16), r"the array is bfloat16\[2, 4\]"),
        (2, ONES, "no tensor uses constant 2"),
        ("c", ONES, "is called 'c'; the names are: a, b"),
        (("forward", 3), ONES, "value 3 of method 'forward' is no tensor with data"),
        (("forward", 9), ONES, "has no value 9, only 4"),
        (("backward", 0), ONES, "no method 'backward'"),
    ],
)
def test_bad_arguments(
    target: str | int | tuple[str, int], array: np.ndarray, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        replace_constant(sum_of_constants(), target, array)


def test_no_names() -> None:
    with pytest.raises(UsageError, match="none has a name: give an index"):
        replace_constant(sum_of_constants((None, None)), "a", ONES)
