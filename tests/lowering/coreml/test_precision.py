"""Precision, deployment target and compute units, as the produced package and program say them."""

from __future__ import annotations

import copy

import coremltools as ct
import pytest
import torch
from torch import nn
from torch.utils import _pytree

import pteron
from pteron.lowering import CoreML, lower

from .. import zoo
from . import packages

X = (torch.ones(2, 16),)


def net() -> nn.Module:
    return nn.Sequential(nn.Linear(16, 16), nn.ReLU())


@pytest.mark.parametrize(("precision", "dtype"), [("float16", "fp16"), ("float32", "fp32")])
def test_the_payload_computes_in_the_precision_that_was_asked_for(precision, dtype, tmp_path):
    backend = CoreML(compute_precision=precision, compute_units="cpu_and_ne")
    file = lower(net(), X, backend=backend)
    package = packages.unpack(file, tmp_path)
    made = packages.operations(package)
    assert {o.outputs[0].dtype.__name__ for o in made if o.op_type != "cast"} == {dtype}
    description = ct.utils.load_spec(str(package)).description
    features = [*description.input, *description.output]
    kinds = {f.type.multiArrayType.dataType for f in features}
    assert kinds == {ct.proto.FeatureTypes_pb2.ArrayFeatureType.FLOAT32}
    (plan,) = file.program.execution_plan
    specs = {spec.key: bytes(spec.value) for spec in plan.delegates[0].compile_specs}
    assert specs["model_compute_precision"] == precision.encode()
    assert specs["compute_units"] == b"cpu_and_ne"
    assert specs["min_deployment_target"] == b"9"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "version"), [("iOS15", 6), ("iOS16", 7), ("iOS17", 8), ("iOS26", 10)]
)
def test_the_deployment_target_is_the_packages_version(target, version, tmp_path):
    file = lower(net(), X, backend=CoreML(target))
    package = packages.unpack(file, tmp_path)
    assert ct.utils.load_spec(str(package)).specificationVersion == version
    specs = {
        s.key: bytes(s.value) for s in file.program.execution_plan[0].delegates[0].compile_specs
    }
    assert specs["min_deployment_target"] == str(version).encode()
    assert pteron.load(file, cache=None).forward(X[0].numpy())[0].shape == (2, 16)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["AddmmInPlace", "BatchNormTraining"])
def test_fp16_errors_are_roundings(name):
    """Products of states grow, and so do roundings: they stay within a few units of fp16."""
    model, steps = zoo.build(name), zoo.inputs_of(name)
    module = pteron.load(lower(copy.deepcopy(model), steps[0]), cache=None)
    for inputs in steps:
        with torch.no_grad():
            wanted = _pytree.tree_leaves(model(*inputs))
        outputs = module.forward(*(x.numpy() for x in inputs))
        for got, want in zip(_pytree.tree_leaves(outputs), wanted, strict=True):
            unit = float(want.abs().max()) * 2**-11
            assert (torch.as_tensor(got) - want).abs().max() <= 4 * unit
