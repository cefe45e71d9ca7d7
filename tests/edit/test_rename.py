"""Methods under other names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pteron.edit import rename
from pteron.errors import UnsupportedError, UsageError
from pteron.files import PTEFile
from pteron.files import open as open_file
from tests.edit.proof import assert_equal, canonical, proven, run
from tests.files.made import Made, X

Opened = Callable[[str], PTEFile]


def test_runs_under_its_new_name(opened: Opened, made: Callable[[str], Made]) -> None:
    data = proven(rename(opened("multi_method"), {"forward": "encode"}))
    assert_equal(run(data, [X], "encode"), run(made("multi_method").pte, [X]))


def test_names_can_be_exchanged(opened: Opened) -> None:
    file = opened("multi_method")
    swapped = rename(file, {"forward": "double", "double": "forward"})
    assert list(file.methods) == ["double", "forward", "get_max_seq_len", "get_name"]
    assert list(swapped.methods) == ["forward", "double", "get_max_seq_len", "get_name"]
    back = rename(swapped, {"forward": "double", "double": "forward"})
    assert back.to_bytes() == canonical(file)


def test_training_metadata_goes_with_its_method(opened: Opened) -> None:
    renamed = rename(opened("training"), {"forward": "train"})
    assert set(renamed.methods) == {
        "train",
        "__et_training_gradients_index_train",
        "__et_training_parameters_index_train",
        "__et_training_fqn_train",
    }
    proven(renamed)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ({"nothing": "x"}, "no method 'nothing'; there are: double, forward"),
        ({"forward": "double"}, "two methods would be called 'double'"),
        ({"forward": ""}, "needs a name"),
    ],
)
def test_bad_names(opened: Opened, names: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        rename(opened("multi_method"), names)


def test_a_backend_that_looks_the_method_up_keeps_its_name(corpus: Path) -> None:
    file = open_file(corpus / "stories260k-qnn.pte")
    assert isinstance(file, PTEFile)
    name = file.delegates[0].method
    with pytest.raises(UnsupportedError, match="looked up by the method's name"):
        rename(file, {name: "other"})
    assert "get_vocab" in rename(file, {"get_vocab_size": "get_vocab"}).methods
