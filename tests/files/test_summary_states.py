"""States of delegates in the summary, whatever their payload says."""

from __future__ import annotations

import pytest

import pteron
from pteron.files import PTEFile
from pteron.files.summary import summarise
from pteron.payloads import open_payload
from pteron.payloads.coreml.memfs import flatten
from pteron.payloads.coreml.package import CoreMLPackage


@pytest.mark.parametrize(
    ("number", "dtype", "size"), [(10, "float16", 64), (21, "int8", 0), (99, "data type 99", 0)]
)
def test_a_state_of_any_type(made, number: int, dtype: str, size: int):
    file = pteron.open(made("core_ml_state").pte)
    source = open_payload("CoreMLBackend", file.delegates[0].payload)
    package = CoreMLPackage(source)
    (state,) = (
        value.type.stateType
        for value in package.program.functions["main"].inputs
        if value.type.WhichOneof("type") == "stateType"
    )
    state.wrappedType.tensorType.dataType = number
    model = {package.model_path: package.model.SerializeToString()}
    parts = file.parts()
    parts.delegate_payloads = [flatten({**source.files, **model})]
    (found,) = summarise(PTEFile(**vars(parts)))["states"]
    assert (found["dtype"], found["shape"], found["bytes"]) == (dtype, [4, 8], size)
