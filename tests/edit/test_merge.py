"""Programs joined into one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pteron.edit import add_constant_methods, drop, merge, rename
from pteron.errors import UsageError
from pteron.files import NamedBlob, PTEFile
from pteron.files import open as open_file
from tests.edit.proof import assert_equal, canonical, content, program, proven, run
from tests.files.made import Made, X

Opened = Callable[[str], PTEFile]
Maker = Callable[[str], Made]

KINDS = ["portable", "mutable", "xnnpack", "xnnpack_inline", "dynamic", "aligned", "training"]


@pytest.mark.parametrize("kind", KINDS)
def test_both_run_as_before(opened: Opened, made: Maker, kind: str) -> None:
    first, second = made("with_stacktraces"), made(kind)
    merged = proven(merge(program(first.pte), rename(program(second.pte), {"forward": "other"})))
    assert_equal(run(merged, first.inputs["forward"]), run(first.pte, first.inputs["forward"]))
    inputs = second.inputs["forward"]
    for calls in (1, 3):
        theirs = run(second.pte, inputs, calls=calls)
        assert_equal(run(merged, inputs, "other", calls=calls), theirs)


@pytest.mark.parametrize("kind", KINDS)
def test_drop_gives_back_what_was_merged(opened: Opened, kind: str) -> None:
    first, second = opened("multi_method"), rename(opened(kind), {"forward": "other"})
    merged = program(merge(first, second).to_bytes())
    assert content(drop(merged, ["other"])) == content(first)
    assert content(drop(merged, list(first.methods))) == content(drop(second, []))


@pytest.mark.parametrize("kind", [*KINDS, "multi_method", "external_constants"])
def test_a_program_with_itself_is_itself(opened: Opened, kind: str) -> None:
    file = opened(kind)
    assert merge(file, file).to_bytes() == canonical(file)
    assert merge(file).to_bytes() == canonical(file)


def test_equal_blobs_are_stored_once(opened: Opened) -> None:
    xnnpack, portable = opened("xnnpack"), opened("with_stacktraces")
    for one in (xnnpack, portable):
        three = merge(one, rename(one, {"forward": "b"}), rename(one, {"forward": "c"}))
        again = program(proven(three))
        assert len(again.segments) == len(one.segments)
        assert list(map(len, again.constants)) == list(map(len, one.constants))
        assert len({delegate.table.processed.index for delegate in again.delegates}) == len(
            one.delegates
        )


def test_inputs_are_untouched(opened: Opened) -> None:
    first, second = opened("xnnpack"), rename(opened("mutable"), {"forward": "other"})
    before = first.to_bytes(), second.to_bytes()
    merge(first, second)
    assert (first.to_bytes(), second.to_bytes()) == before


def test_equal_constant_methods_are_kept_once(opened: Opened) -> None:
    one = add_constant_methods(opened("portable"), {"get_max_seq_len": 128})
    other = rename(opened("multi_method"), {"forward": "other"})
    assert list(merge(one, other).methods) == [
        "forward",
        "get_max_seq_len",
        "double",
        "other",
        "get_name",
    ]


def test_every_clash_is_named(opened: Opened) -> None:
    one = opened("portable").parts()
    other = opened("xnnpack").parts()
    key = next(iter(other.named_data))
    one.named_data = {key: NamedBlob(b"something else")}
    with pytest.raises(UsageError) as error:
        merge(PTEFile(**vars(one)), PTEFile(**vars(other)))
    assert "both have a method 'forward', and they differ" in str(error.value)
    assert f"both have named data {key!r}, and it differs" in str(error.value)


def test_named_data_keeps_the_stricter_alignment(opened: Opened) -> None:
    one, other = opened("portable").parts(), opened("multi_method").parts()
    one.named_data = {"k": NamedBlob(b"blob", 64)}
    other.named_data = {"k": NamedBlob(b"blob", 1024), "l": NamedBlob(b"blob2", 4)}
    other.program.execution_plan.pop(1)
    merged = merge(PTEFile(**vars(one)), PTEFile(**vars(other)))
    again = program(proven(merged)).named_data
    assert {key: bytes(blob.data) for key, blob in again.items()} == {"k": b"blob", "l": b"blob2"}
    assert again["k"].alignment % 1024 == 0


def test_external_data_of_one_name(opened: Opened, made: Maker) -> None:
    (ptd,) = made("external_constants").data.values()
    one = opened("external_constants")
    other = rename(one, {"forward": "other"})
    with pytest.raises(UsageError, match=r"both take '.*' from a data file, which cannot serve"):
        merge(one, other)
    data = proven(merge(one, other, share_external=True))
    expected = run(made("external_constants").pte, [X], ptd=ptd)
    assert_equal(run(data, [X], "other", ptd=ptd), expected)


def test_schema_versions(opened: Opened) -> None:
    other = opened("multi_method").parts()
    other.program.version = 1
    with pytest.raises(UsageError, match="schema versions 0 and 1"):
        merge(opened("portable"), PTEFile(**vars(other)))


def test_foreign_programs(corpus: Path) -> None:
    names = ("add-2023.pte", "lstm.pte", "linear-inline-constants.pte", "softmax-2023.pte")
    files = []
    for number, name in enumerate(names):
        file = open_file(corpus / name)
        assert isinstance(file, PTEFile)
        files.append(rename(file, {old: f"{old}_{number}" for old in file.methods}))
    merged = program(proven(merge(*files)))
    assert len(merged.methods) == len(names)
    for number, file in enumerate(files):
        others = [name for name in merged.methods if not name.endswith(f"_{number}")]
        assert drop(merged, others).program.execution_plan == drop(file, []).program.execution_plan
