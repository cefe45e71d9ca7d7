"""How the code blocks of a page are run.

- ``python``: executed, the blocks of a page in one namespace. A comment behind a ``print`` call is
  what it prints; a ``text`` block that follows is what the whole block prints.
- ``console``: every line that begins with ``$ `` is a command, the lines behind it are its output.
  Without such lines any output is right. A command that fails is an error.
- ``yaml``: a CI configuration; its ``run`` steps are commands, except those that install something.
- ``% skip: next "reason"`` before a block: it cannot run here, and the page says why.

``...`` in an expected output stands for anything.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from doctest import ELLIPSIS, NORMALIZE_WHITESPACE, OutputChecker
from pathlib import Path
from unittest import SkipTest

import yaml
from sybil import Example, Sybil
from sybil.evaluators.python import PythonEvaluator
from sybil.parsers.myst import CodeBlockParser, SkipParser

from pteron.cli import main

_SHELL = re.compile(r"[|<>;&$*]|^(?!pteron )")
"""What only a shell understands."""
_SAID = re.compile(r"^\s*print\(.*\)  +# (.*)$", re.MULTILINE)


def run_page(path: Path) -> int:
    """Run every block of a page in the working directory; how many were run."""
    return sum(_was_run(example) for example in _SYBIL.parse(path).examples())


def _was_run(example: Example) -> bool:
    try:
        example.evaluate()
    except SkipTest:
        return False
    return True


def _python(example: Example) -> str | None:
    printed = io.StringIO()
    example.namespace.setdefault("__name__", "__main__")
    with redirect_stdout(printed):
        PythonEvaluator()(example)
    example.namespace["_printed"] = printed.getvalue()
    said = "\n".join(_SAID.findall(example.parsed))
    return _compare(said, printed.getvalue()) if said else None


def _text(example: Example) -> str | None:
    return _compare(example.parsed, example.namespace["_printed"])


def _console(example: Example) -> str | None:
    for command, expected in _commands(example.parsed):
        code, output = run_command(command)
        if code:
            return f"{command!r} ended with {code}:\n{output}"
        if expected and (difference := _compare(expected, output)):
            return f"{command!r}: {difference}"
    return None


def _yaml(example: Example) -> str | None:
    for step in _steps(yaml.safe_load(example.parsed)):
        for command in step.splitlines():
            if "pip install" not in command:
                code, output = run_command(command)
                if code:
                    return f"{command!r} ended with {code}:\n{output}"
    return None


def _steps(node: object) -> Iterator[str]:
    if isinstance(node, dict):
        if "run" in node:
            yield node["run"]
        node = list(node.values())
    if isinstance(node, list):
        for item in node:
            yield from _steps(item)


def _commands(text: str) -> Iterator[tuple[str, str]]:
    """(command, expected output) of each ``$`` line; a backslash continues a command."""
    for part in re.split(r"^\$ ", text.replace("\\\n", " "), flags=re.MULTILINE)[1:]:
        command, _, expected = part.partition("\n")
        yield command, expected.strip("\n")


def run_command(command: str) -> tuple[int, str]:
    """Exit code, and stdout with stderr behind it. A plain ``pteron`` runs in this process."""
    return _shell(command) if _SHELL.search(command) else _pteron(shlex.split(command)[1:])


def _shell(command: str) -> tuple[int, str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    result = subprocess.run(
        ["bash", "-c", command],
        env={**os.environ, "PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return result.returncode, result.stdout


def _pteron(arguments: list[str]) -> tuple[int, str]:
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
    before, sys.argv = sys.argv, ["pteron", *arguments]
    try:
        with redirect_stdout(out), redirect_stderr(err):
            main()
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else 1
    finally:
        sys.argv = before
    out.seek(0)
    return code, out.read() + err.getvalue()


def _compare(expected: str, got: str) -> str | None:
    flags = ELLIPSIS | NORMALIZE_WHITESPACE
    if OutputChecker().check_output(f"{expected.strip()}\n", f"{got.strip()}\n", flags):
        return None
    return f"expected\n{expected}\ngot\n{got}"


EVALUATORS = {"python": _python, "text": _text, "console": _console, "yaml": _yaml}
_SYBIL = Sybil(
    parsers=[
        SkipParser(),
        *(CodeBlockParser(language, function) for language, function in EVALUATORS.items()),
    ]
)
