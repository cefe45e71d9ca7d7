"""Cases of coremltools' own tests that fail here, each with its reason.

``docs/conformance.md`` says more. A pattern is looked for in the case's node id.
"""

from __future__ import annotations

import re

_NEURAL_NETWORK = "builds a neural network, not an ML program"
_RANK = "OpenVINO needs every rank when it compiles; here it depends on a value"
_INDICES = "no error is raised for an index out of range"

KNOWN: list[tuple[str, str]] = [
    (r"TestSliceByIndex::test_slice_by_index(_slice_squeeze_separate)?$", _NEURAL_NETWORK),
    (r"TestConv::test_type_inference_dynamic_x_with_groups", _NEURAL_NETWORK),
    (
        r"TestNormalizationLocalResponseNorm::test_builder_to_backend_smoke.*fp32",
        "expects each value normalised by itself, against the definition and the torch-based test",
    ),
    (r"TestFill::test_builder_to_backend_symbolic", _RANK),
    (r"test_ios17_invalid_indices.*validate_indices=True", _INDICES),
    (
        r"TestCropResize::test_builder_to_backend_(ios16.*fp32|ios17.*fp32.*N=3)",
        "expects 7.899 at 1e-4 where the exact value is 7.9",
    ),
]


def reason(node_id: str) -> str | None:
    """Why a case is expected to fail; None where it is expected to pass."""
    return next((why for pattern, why in KNOWN if re.search(pattern, node_id)), None)
