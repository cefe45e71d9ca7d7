"""A fixed list of shapes: each runs, every other is refused."""

from __future__ import annotations

import copy

import coremltools as ct
import pytest
import torch
from torch import Tensor, nn

import pteron
from pteron.errors import LoweringError, PteronError, UsageError
from pteron.lowering import CoreML, lower

from . import packages

SHAPES = [(1, 4), (3, 4), (8, 4)]


class Rows(nn.Module):
    """State, a weight, and an output as long as the input."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 5)
        self.register_buffer("total", torch.zeros(1, 5))

    def forward(self, x: Tensor) -> Tensor:
        y = self.linear(x).relu()
        self.total.add_(y.sum(0, keepdim=True))
        return torch.cat([y, y * 2], 0) + self.total


def coreml(**options: object) -> CoreML:
    return CoreML(compute_precision="float32", **options)


def test_each_shape_runs_and_every_other_is_refused(tmp_path):
    torch.manual_seed(0)
    eager = Rows()
    backend = coreml(enumerated_shapes={"x": SHAPES})
    file = lower(copy.deepcopy(eager), (torch.ones(1, 4),), backend=backend)
    package = packages.unpack(file, tmp_path)
    (feature,) = ct.utils.load_spec(str(package)).description.input
    listed = feature.type.multiArrayType.enumeratedShapes.shapes
    assert [tuple(shape.shape) for shape in listed] == SHAPES
    assert ct.models.MLModel(str(package), skip_model_load=True).input_description is not None
    module = pteron.load(file, cache=None)
    for rows in (3, 8, 1, 3):
        x = torch.randn(rows, 4)
        (got,) = module.forward(x.numpy())
        with torch.no_grad():
            torch.testing.assert_close(torch.as_tensor(got), eager(x), rtol=4e-3, atol=4e-3)
    with pytest.raises(PteronError, match=r"\[1, 4\] or \[3, 4\] or \[8, 4\].*not.*\[2, 4\]"):
        module.forward(torch.ones(2, 4).numpy())


@pytest.mark.slow
def test_as_coremltools_itself_writes_them(tmp_path):
    model, x = nn.Linear(4, 5).eval(), torch.ones(3, 4)
    file = lower(model, (x,), backend=coreml(enumerated_shapes={"input": SHAPES}))
    (ours,) = ct.utils.load_spec(str(packages.unpack(file, tmp_path))).description.input
    program = torch.export.export(
        model, (x,), dynamic_shapes=({0: torch.export.Dim("n", min=1, max=8)},)
    )
    theirs = ct.convert(
        program.run_decompositions({}),
        inputs=[ct.TensorType(name="input", shape=ct.EnumeratedShapes(SHAPES, default=SHAPES[0]))],
        minimum_deployment_target=ct.target.iOS18,
        skip_model_load=True,
    ).get_spec()
    mine, given = ours.type.multiArrayType, theirs.description.input[0].type.multiArrayType
    assert mine.enumeratedShapes == given.enumeratedShapes
    assert list(mine.shape) == list(given.shape)


class Beside(nn.Module):
    """Two inputs that vary together, with an operator between two delegates."""

    def forward(self, x: Tensor, y: Tensor, z: Tensor) -> Tensor:
        return torch.sigmoid((x * 2) @ y).mul(3) + z


def test_several_inputs_and_delegates_vary_together():
    shapes = {"x": [(2, 4), (5, 4)], "y": [(4, 3), (4, 6)]}
    example = (torch.ones(2, 4), torch.ones(4, 3), torch.ones(1))
    options = {"backend": coreml(enumerated_shapes=shapes), "exclude": ["aten.sigmoid.*"]}
    file = lower(Beside(), example, **options)
    assert len(file.delegates) == 2
    module = pteron.load(file, cache=None)
    for x, y in ((2, 3), (5, 6)):
        inputs = torch.randn(x, 4), torch.randn(4, y), torch.randn(1)
        (got,) = module.forward(*(value.numpy() for value in inputs))
        want = Beside()(*inputs)
        torch.testing.assert_close(torch.as_tensor(got), want, rtol=1e-3, atol=1e-3)
    with pytest.raises(PteronError, match=r"\[2, 4\] or \[5, 4\]"):
        module.forward(torch.ones(3, 4).numpy(), torch.ones(4, 3).numpy(), torch.ones(1).numpy())


@pytest.mark.slow
def test_several_methods_each_with_the_inputs_it_has():
    model = Rows()
    methods = {"many": (model, (torch.ones(3, 4),)), "one": (nn.Sigmoid(), (torch.ones(2),))}
    file = lower(methods, backend=coreml(enumerated_shapes={"x": SHAPES}))
    many, one = file.methods["many"].plan, file.methods["one"].plan
    assert many.values[many.inputs[0]].val.sizes == [8, 4]
    assert one.values[one.inputs[0]].val.sizes == [2]


@pytest.mark.parametrize(
    ("shapes", "said"),
    [
        ({"x": [(1, 4)]}, "two shapes or more"),
        ({"x": [(1, 4), (2,)]}, "of one rank"),
        ({"x": [(0, 4), (2, 4)]}, "whole numbers from 1 on"),
        ({"x": SHAPES, "y": SHAPES[:2]}, "same number of shapes"),
    ],
)
def test_lists_that_mean_nothing(shapes, said):
    with pytest.raises(UsageError, match=said):
        CoreML(enumerated_shapes=shapes)


def test_what_does_not_fit_the_model():
    with pytest.raises(UsageError, match="several inputs needs iOS18"):
        CoreML("iOS17", enumerated_shapes={"x": SHAPES, "y": SHAPES})
    with pytest.raises(UsageError, match=r"no input 'q'; the inputs are x"):
        lower(Rows(), (torch.ones(3, 4),), backend=coreml(enumerated_shapes={"q": SHAPES}))
    with pytest.raises(UsageError, match=r"input x has shape \[2, 4\], which is none"):
        lower(Rows(), (torch.ones(2, 4),), backend=coreml(enumerated_shapes={"x": SHAPES}))

    class Fixed(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x + torch.ones(3, 4)

    with pytest.raises(LoweringError, match=r"axis 0 of input x is always 3"):
        lower(
            Fixed(), (torch.ones(3, 4),), backend=coreml(enumerated_shapes={"x": [(3, 4), (8, 4)]})
        )
