"""The size tree: it covers every byte once, and its leaves are what ExecuTorch decodes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pteron
from pteron.errors import PteronError
from pteron.files import PTEFile
from pteron.files.size import size_tree
from pteron.files.size.rows import Row, rows
from pteron.payloads import Part
from tests.files.made import Made, mlp
from tests.files.oracle import their_file
from tests.files.programs import add_constant_program


def check_exact(part: Part, size: int) -> None:
    """Children follow one another without gap or overlap, on every level."""
    assert part.size == size
    for inner in part.walk():
        position = inner.offset
        for child in inner.children:
            assert child.offset == position
            assert child.size > 0
            position += child.size
        assert not inner.children or position == inner.offset + inner.size


def leaves(part: Part) -> list[Part]:
    return [inner for inner in part.walk() if not inner.children]


def find(part: Part, name: str) -> Part:
    (found,) = [inner for inner in part.walk() if inner.name == name]
    return found


def programs(corpus: Path) -> list[Path]:
    return [path for path in corpus.iterdir() if path.suffix in (".pte", ".ptd", ".bp", ".bpte")]


def test_sums_to_the_file_for_the_whole_corpus(corpus: Path):
    for path in programs(corpus):
        with pteron.open(path) as file:
            check_exact(size_tree(file), path.stat().st_size)


def test_sums_to_the_file_for_every_kind(made_file: Made, tmp_path: Path):
    for name, data in {"program": made_file.pte, **made_file.data}.items():
        path = tmp_path / name
        path.write_bytes(data)
        with pteron.open(path) as file:
            check_exact(size_tree(file), path.stat().st_size)


def test_constants_are_where_executorch_finds_them(made):
    data = made("portable").pte
    theirs = [bytes(b.storage) for b in their_file(data).program.constant_buffer]
    tree = size_tree(pteron.open(data))
    constants = [part for part in tree.walk() if part.kind == "constant"]
    assert [data[p.offset : p.offset + p.size] for p in constants] == [b for b in theirs if b]
    assert all(part.dtype and part.shape is not None for part in constants)


def test_core_ml_weights_are_found_by_name(made):
    data = made("core_ml").pte
    tree = size_tree(pteron.open(data))
    weights = {part.shape: part for part in tree.walk() if part.kind == "weight"}
    large = [t for t in mlp().state_dict().values() if t.numel() > 10]  # others are in the program
    assert len(large) == len(weights) == 3
    for tensor in large:
        part = weights[tuple(tensor.shape)]
        assert part.dtype == "float16"
        assert data[part.offset : part.offset + part.size] == tensor.half().numpy().tobytes()
        assert part.note == "const"


def test_a_shared_core_ml_model_is_taken_apart_in_named_data(made):
    tree = size_tree(pteron.open(made("core_ml_multifunction").pte))
    (model,) = [p for p in tree.children if p.name.startswith("named data coreml_")]
    assert any(part.kind == "weight" for part in model.walk())
    assert {p.kind for p in tree.children if "delegate" in p.name} == {"reference"}


@pytest.mark.parametrize("kind", ["xnnpack", "xnnpack_inline"])
def test_xnnpack_weights_are_named_data_with_types(made, kind: str):
    tree = size_tree(pteron.open(made(kind).pte))
    typed = [p for p in tree.walk() if p.kind == "weight"]
    assert {p.shape for p in typed} == {tuple(t.shape) for t in mlp().state_dict().values()}
    assert all(re.fullmatch(r"tensor \d+", part.note) for part in typed)
    assert [p for p in tree.walk() if p.name == "forward: delegate 0 (XnnpackBackend)"] or (
        kind == "xnnpack_inline"
    )


def test_test_cases_of_a_bundle(corpus: Path):
    with pteron.open(corpus / "bundled-2023.bp") as file:
        tree = size_tree(file)
    image = find(tree, "forward: test case 1: input 0")
    assert (image.dtype, image.shape, image.size) == ("float32", (1, 1, 32, 32), 4096)
    assert find(tree, "constant 5").shape == (120, 400)


def test_external_data(corpus: Path):
    with pteron.open(corpus / "linear-external.ptd") as file:
        tree = size_tree(file)
    weight = find(tree, "linear.weight")
    assert (weight.dtype, weight.shape, weight.size) == ("float32", (3, 3), 36)


def test_a_program_in_memory_is_sized_as_it_would_be_saved():
    file = add_constant_program([b"", bytes(range(16))])
    tree = size_tree(file)
    check_exact(tree, len(file.to_bytes()))
    assert find(tree, "constants").shape == (2, 2)


def test_a_payload_that_cannot_be_read_is_one_part_with_the_reason(made):
    file = pteron.open(made("core_ml").pte)
    assert isinstance(file, PTEFile)
    parts = file.parts()
    parts.delegate_payloads = [b"not a payload at all"]
    damaged = PTEFile(**{k: v for k, v in vars(parts).items() if k != "unknown_fields"})
    tree = size_tree(damaged)
    (payload,) = [part for part in tree.walk() if "delegate" in part.name]
    assert payload.size == 20
    assert payload.note.startswith("cannot be read: no index of files")


@given(data=st.data())
def test_mutated_files_give_an_exact_tree_or_an_error(made, data):
    pte = bytearray(made("xnnpack").pte)
    for _ in range(data.draw(st.integers(1, 3))):
        pte[data.draw(st.integers(0, len(pte) - 1))] = data.draw(st.integers(0, 255))
    try:
        tree = size_tree(pteron.open(bytes(pte)))
    except PteronError:
        return
    check_exact(tree, len(pte))


TREE = Part(
    "file",
    "file",
    0,
    100,
    children=(
        Part("padding", "padding", 0, 5),
        Part("a", "weight", 5, 60, "float32", (3, 5), children=(Part("inner", "x", 5, 60),)),
        Part("padding", "padding", 65, 5),
        *(Part(f"w{i}", "weight", 70 + i, 1) for i in range(30)),
    ),
)


def test_rows_rank_fold_and_count_together():
    shown = list(rows(TREE))
    assert shown[:4] == [
        Row(0, "file", 100),
        Row(1, "a", 60, "float32[3, 5]"),
        Row(2, "inner", 60),
        Row(1, "padding (2 times)", 10),
    ]
    assert shown[-1] == Row(1, "13 smaller parts", 13)
    assert sum(row.size for row in shown if row.level == 1) == 100


def test_rows_stop_at_a_depth_and_show_all_when_asked():
    assert [row.level for row in rows(TREE, depth=0)] == [0]
    assert max(row.level for row in rows(TREE, depth=1)) == 1
    assert len(list(rows(TREE, fold=None))) == 34
