"""Programs with fewer methods, and without what only those used."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pteron.edit import drop
from pteron.errors import UsageError
from pteron.files import PTEFile
from pteron.files import open as open_file
from tests.edit.proof import assert_equal, canonical, program, proven, run
from tests.files.made import Made, X

Opened = Callable[[str], PTEFile]


def test_the_rest_runs(opened: Opened, made: Callable[[str], Made]) -> None:
    data = proven(drop(opened("multi_method"), ["double", "get_name"]))
    assert list(program(data).methods) == ["forward", "get_max_seq_len"]
    assert_equal(run(data, [X]), run(made("multi_method").pte, [X]))


def test_its_weights_go_with_it(opened: Opened) -> None:
    file = opened("multi_method")
    left = drop(file, ["forward"])
    assert sum(map(len, file.constants)) > 3000
    assert list(map(len, left.constants)) == [0]
    assert_equal(run(proven(left), [X], "double"), [X])


def test_training_metadata_goes_with_its_method(opened: Opened) -> None:
    with pytest.raises(UsageError, match="not all can be dropped"):
        drop(opened("training"), ["forward"])


def test_nothing_to_drop_changes_nothing(opened: Opened) -> None:
    for kind in ("multi_method", "xnnpack", "mutable", "with_stacktraces"):
        file = opened(kind)
        assert drop(file, []).to_bytes() == canonical(file)


@pytest.mark.parametrize(
    ("methods", "message"),
    [
        (["nothing"], "no method 'nothing'"),
        (["double", "forward", "get_max_seq_len", "get_name"], "not all can be dropped"),
    ],
)
def test_bad_methods(opened: Opened, methods: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        drop(opened("multi_method"), methods)


def test_a_foreign_payload_shared_by_two_methods_stays(corpus: Path) -> None:
    file = open_file(corpus / "stories260k-qnn.pte")
    assert isinstance(file, PTEFile)
    kept, gone = file.delegates[0], file.delegates[1]
    left = drop(file, [gone.method])
    assert [delegate.method for delegate in left.delegates] == [kept.method]
    assert left.delegates[0].payload == kept.payload
    proven(left)
