"""The registry against coremltools' own declarations, and the table made of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from coremltools.converters.mil.mil.ops.registry import SSAOpRegistry

from pteron.engines.openvino.declare import ContextInput, KnownInput
from pteron.engines.openvino.problem import OpProblem
from pteron.engines.openvino.registry import OPSETS, all_ops, find
from tests.engines.ops_table import PATH, render

# Not part of ML programs: constants are no ops here, the others never reach a file.
NOT_IN_FILES = {"const", "_const_symbolic", "conv_quantized"}
VERSIONS = {"CoreML5": "iOS15", "CoreML6": "iOS16", "CoreML7": "iOS17", "CoreML8": "iOS18"}
# What coremltools calls differently in memory and in a file.
IN_FILES = {"cond": {"pred"}, "while_loop": {"loop_vars"}}


def declared_by_coremltools(opset: str):
    """(op, its input types by name) of an opset, the newest version of each op."""
    for name, versions in SSAOpRegistry.core_ops.items():
        fitting = {version.name: cls for version, cls in versions.items()}
        if name not in NOT_IN_FILES and VERSIONS[opset] in fitting:
            yield name, fitting[VERSIONS[opset]].input_spec.input_types


@pytest.mark.parametrize("opset", VERSIONS)
def test_every_op_of_an_opset_takes_exactly_its_inputs(opset) -> None:
    count = 0
    for name, inputs in declared_by_coremltools(opset):
        parameters = {
            p.name: p
            for p in find(name, opset).parameters
            if not isinstance(p.declared, ContextInput)
        }
        expected = IN_FILES.get(name, set(inputs))
        missing = expected - set(parameters)
        assert not missing, f"{name} in {opset} lacks {missing}"
        for parameter in parameters.values():
            if parameter.name in inputs and name not in IN_FILES:
                optional = inputs[parameter.name].optional
                assert parameter.required is not optional, f"{name}.{parameter.name} in {opset}"
                if isinstance(parameter.declared, KnownInput):
                    assert inputs[parameter.name].const or name == "reshape_like"
        count += 1
    assert count > 120


@pytest.mark.parametrize("name", ["gather_nd", "topk", "gelu", "reshape"])
def test_a_later_opset_keeps_what_an_earlier_one_brought(name) -> None:
    releases = [find(name, opset).since for opset in OPSETS]
    assert releases == sorted(releases)


def test_an_op_before_its_time_is_an_error() -> None:
    with pytest.raises(OpProblem, match="iOS 18"):
        find("scaled_dot_product_attention", "CoreML7")


def test_the_table_is_current() -> None:
    assert PATH.read_text(encoding="utf-8") == render(), "run: python -m tests.engines.ops_table"


def test_every_op_says_what_it_is_tested_against() -> None:
    assert all(spec.tested_against for versions in all_ops().values() for spec in versions)


def test_every_op_has_a_test_that_names_it() -> None:
    tests = "".join(path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("*.py"))
    named = set(re.findall(r"[\"'.](\w+)\b", tests))
    assert set(all_ops()) <= named
