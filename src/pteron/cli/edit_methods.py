"""``pteron edit``: rename, drop, merge and add methods."""

from __future__ import annotations

import json as json_format
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from pteron.cli.edited import DropUnknownOption, FileArgument, OutputOption, open_program, write
from pteron.cli.output import JsonOption
from pteron.errors import UsageError


def rename(
    file: FileArgument,
    names: Annotated[
        list[str], typer.Argument(metavar="OLD=NEW...", help="Methods.", show_default=False)
    ],
    output: OutputOption,
    drop_unknown: DropUnknownOption = False,
    json: JsonOption = False,
) -> None:
    """Give methods other names."""
    from pteron import edit

    pairs = dict(_pair(text) for text in names)
    with open_program(file) as program:
        edited = edit.rename(program, pairs)
        write(edited, output, [file], drop_unknown=drop_unknown, json=json)


def drop(
    file: FileArgument,
    methods: Annotated[list[str], typer.Argument(metavar="METHOD...", show_default=False)],
    output: OutputOption,
    drop_unknown: DropUnknownOption = False,
    json: JsonOption = False,
) -> None:
    """Leave methods out, and the data that only they used."""
    from pteron import edit

    with open_program(file) as program:
        edited = edit.drop(program, methods)
        write(edited, output, [file], drop_unknown=drop_unknown, json=json)


def merge(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", help="Programs (.pte).", show_default=False),
    ],
    output: OutputOption,
    share_memory: Annotated[
        bool,
        typer.Option(
            "--share-memory",
            help="Memory ids from 2 on, where state lives, are the same memory in all programs.",
        ),
    ] = False,
    share_external: Annotated[
        bool,
        typer.Option(
            "--share-external", help="Equal names in data files (.ptd) stand for the same data."
        ),
    ] = False,
    drop_unknown: DropUnknownOption = False,
    json: JsonOption = False,
) -> None:
    """Join programs into one with the methods of all; equal blobs are stored once."""
    from pteron import edit

    with ExitStack() as stack:
        programs = [stack.enter_context(open_program(path)) for path in files]
        edited = edit.merge(*programs, share_memory=share_memory, share_external=share_external)
        write(edited, output, files, drop_unknown=drop_unknown, json=json)


def add_constant_method(
    file: FileArgument,
    values: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME=VALUE...",
            help="VALUE is JSON (128, true, 0.5, [1, 2]), an array (@ids.npy), or else text.",
            show_default=False,
        ),
    ],
    output: OutputOption,
    drop_unknown: DropUnknownOption = False,
    json: JsonOption = False,
) -> None:
    """Add methods that only return a constant, such as get_max_seq_len=128."""
    from pteron import edit

    constants = {name: _value(text) for name, text in map(_pair, values)}
    with open_program(file) as program:
        edited = edit.add_constant_methods(program, constants)
        write(edited, output, [file], drop_unknown=drop_unknown, json=json)


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise UsageError(f"{text!r} is not of the form NAME=VALUE")
    return name, value


def _value(text: str) -> object:
    if text.startswith("@"):
        from pteron.edit.arrays import read_array

        return read_array(text[1:])
    try:
        return json_format.loads(text)
    except (ValueError, RecursionError):
        return text
