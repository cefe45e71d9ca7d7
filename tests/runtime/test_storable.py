"""Outputs as arrays that an .npz can hold."""

from __future__ import annotations

import numpy as np
import pytest

from pteron.errors import UsageError
from pteron.runtime.storable import storable


def test_arrays_and_labels_stay_what_they_are() -> None:
    arrays = storable({"y": np.ones(2, np.float16), "label": np.array("cat"), "n": 3})
    assert arrays["y"].dtype == np.float16
    assert arrays["label"].item() == "cat"
    assert arrays["n"].item() == 3


@pytest.mark.parametrize("shape", [(), (2,)])
def test_a_dictionary_becomes_probabilities_and_classes(shape: tuple[int, ...]) -> None:
    scores = np.empty(shape, object)
    scores[...] = {"cat": 0.25, "dog": 0.75}
    arrays = storable({"scores": scores})
    assert arrays["scores"].shape == (*shape, 2)
    assert arrays["scores"].dtype == np.float32
    assert arrays["scores.classes"].tolist() == ["cat", "dog"]


def test_what_no_file_can_hold() -> None:
    with pytest.raises(UsageError, match="'nothing'"):
        storable({"nothing": None})
