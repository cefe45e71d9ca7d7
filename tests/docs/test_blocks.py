"""A page that says something wrong is found out."""

from __future__ import annotations

from pathlib import Path

import pytest
from sybil.example import SybilFailure

from tests.docs.blocks import run_page

RIGHT = {
    "print": "```python\nprint(1 + 1)  # 2\n```\n",
    "text": "```python\nprint(1)\nprint(2)\n```\n\n```text\n1\n...\n```\n",
    "one namespace": "```python\na = 3\n```\n\n```python\nprint(a)  # 3\n```\n",
    "command": "```console\n$ echo one \\\n    two\none two\n$ true\n```\n",
    "pteron": "```console\n$ pteron --version\npteron ...\n```\n",
    "steps": "```yaml\nsteps:\n  - run: pip install nothing\n  - run: test 1 -eq 1\n```\n",
}
WRONG = {
    "print": "```python\nprint(1 + 1)  # 3\n```\n",
    "text": "```python\nprint(1)\n```\n\n```text\n2\n```\n",
    "output": "```console\n$ echo one\ntwo\n```\n",
    "failing command": "```console\n$ false\n```\n",
    "second command": "```console\n$ echo one\none\n$ echo two\none\n```\n",
    "pteron": "```console\n$ pteron inspect no-such-file.pte\n```\n",
    "steps": "```yaml\nsteps:\n  - run: test 1 -eq 2\n```\n",
}


def page(directory: Path, text: str) -> Path:
    """A page with this text."""
    path = directory / "page.md"
    path.write_text(text)
    return path


@pytest.mark.parametrize("name", RIGHT)
def test_right(name: str, tmp_path: Path) -> None:
    assert run_page(page(tmp_path, RIGHT[name])) > 0


@pytest.mark.parametrize("name", WRONG)
def test_wrong(name: str, tmp_path: Path) -> None:
    with pytest.raises(SybilFailure):
        run_page(page(tmp_path, WRONG[name]))


def test_an_exception_passes_through(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        run_page(page(tmp_path, "```python\n1 / 0\n```\n"))


def test_a_skipped_block_is_not_run(tmp_path: Path) -> None:
    skipped = '% skip: next "needs a Mac"\n\n```python\nraise RuntimeError\n```\n'
    run_page(page(tmp_path, skipped))
    with pytest.raises(RuntimeError):  # the mark is for one block
        run_page(page(tmp_path, f"{skipped}\n```python\nraise RuntimeError\n```\n"))
