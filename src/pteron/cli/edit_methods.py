"""``pteron edit``: rename, drop, merge and add methods."""

from __future__ import annotations

import json as json_format
from contextlib import ExitStack
from pathlib import Path

import click

from pteron.cli.edited import open_program, write
from pteron.cli.options import PATH, any_file, drop_unknown_option, json_option, output_option
from pteron.errors import UsageError


@click.command()
@any_file
@click.argument("names", nargs=-1, required=True, metavar="OLD=NEW...")
@output_option
@drop_unknown_option
@json_option
def rename(
    file: Path, names: tuple[str, ...], output: Path, drop_unknown: bool, json: bool
) -> None:
    """Give methods other names."""
    from pteron import edit

    pairs = _pairs(names)
    with open_program(file) as program:
        edited = edit.rename(program, pairs)
        write(edited, output, [file], drop_unknown=drop_unknown, json=json)


@click.command()
@any_file
@click.argument("methods", nargs=-1, required=True, metavar="METHOD...")
@output_option
@drop_unknown_option
@json_option
def drop(
    file: Path, methods: tuple[str, ...], output: Path, drop_unknown: bool, json: bool
) -> None:
    """Leave methods out, and the data that only they used."""
    from pteron import edit

    with open_program(file) as program:
        edited = edit.drop(program, methods)
        write(edited, output, [file], drop_unknown=drop_unknown, json=json)


@click.command()
@click.argument("files", type=PATH, nargs=-1, required=True, metavar="FILE...")
@output_option
@click.option(
    "--share-memory",
    is_flag=True,
    help="Memory ids from 2 on, where state lives, are the same memory in all programs.",
)
@click.option(
    "--share-external",
    is_flag=True,
    help="Equal names in data files (.ptd) stand for the same data.",
)
@drop_unknown_option
@json_option
def merge(
    files: tuple[Path, ...],
    output: Path,
    share_memory: bool,
    share_external: bool,
    drop_unknown: bool,
    json: bool,
) -> None:
    """Join programs into one.

    It has the methods of all. Equal blobs are stored once.
    """
    from pteron import edit

    with ExitStack() as stack:
        programs = [stack.enter_context(open_program(path)) for path in files]
        edited = edit.merge(*programs, share_memory=share_memory, share_external=share_external)
        write(edited, output, files, drop_unknown=drop_unknown, json=json)


@click.command("add-constant-method")
@any_file
@click.argument("values", nargs=-1, required=True, metavar="NAME=VALUE...")
@output_option
@drop_unknown_option
@json_option
def add_constant_method(
    file: Path, values: tuple[str, ...], output: Path, drop_unknown: bool, json: bool
) -> None:
    """Add methods that return constants.

    VALUE is JSON (128, true, 0.5, [1, 2]), an array (@ids.npy), or else text; for example
    get_max_seq_len=128.
    """
    from pteron import edit

    constants = {name: _value(text) for name, text in _pairs(values).items()}
    with open_program(file) as program:
        edited = edit.add_constant_methods(program, constants)
        write(edited, output, [file], drop_unknown=drop_unknown, json=json)


def _pairs(texts: tuple[str, ...]) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for name, value in map(_pair, texts):
        if name in pairs:
            raise UsageError(f"{name!r} is given twice: {pairs[name]!r} and {value!r}")
        pairs[name] = value
    return pairs


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise UsageError(f"{text!r} is not of the form NAME=VALUE")
    return name, value


def _value(text: str) -> object:
    if text.startswith("@"):
        from pteron.files.array_files import read_array

        return read_array(text[1:])
    try:
        return json_format.loads(text)
    except (ValueError, RecursionError):
        return text
