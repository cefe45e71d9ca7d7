"""``pteron edit``: replace and move constants, named data and payloads."""

from __future__ import annotations

import re
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pteron.cli.edited import made_together, open_data, open_program, write
from pteron.cli.options import PATH, any_file, drop_unknown_option, json_option, output_option
from pteron.errors import FileAccessError, UsageError

if TYPE_CHECKING:
    from pteron.edit.find_tensors import Target

_INDEX = re.compile("[0-9]{1,9}")
ARRAYS = (".npy", ".npz", ".safetensors")
key_option = click.option("--key", help="Which array of the file; by default the one of that name.")


@click.command()
@any_file
@click.argument("tensor")
@click.argument("array", type=PATH)
@output_option
@key_option
@drop_unknown_option
@json_option
def replace_constant(
    file: Path,
    tensor: str,
    array: Path,
    output: Path,
    key: str | None,
    drop_unknown: bool,
    json: bool,
) -> None:
    """Give a constant other values.

    TENSOR is a name, the index of a constant, or METHOD:VALUE with the index of a value. It may
    also be a mutable tensor, whose first value is then changed. ARRAY is a .npy, .npz or
    .safetensors file.
    """
    from pteron import edit
    from pteron.files.array_files import read_array

    values = read_array(array, key, default=tensor)
    with open_program(file) as program:
        edited = edit.replace_constant(program, _target(tensor), values)
        write(edited, output, [file], drop_unknown=drop_unknown, json=json)


@click.command()
@any_file
@click.argument("name")
@click.argument("data", type=PATH)
@output_option
@key_option
@drop_unknown_option
@json_option
def replace_named(
    file: Path,
    name: str,
    data: Path,
    output: Path,
    key: str | None,
    drop_unknown: bool,
    json: bool,
) -> None:
    """Give named data other content.

    FILE is a program or a data file (.ptd), NAME the key of the blob, DATA an array (.npy, .npz,
    .safetensors) or a file whose bytes are taken.
    """
    import pteron
    from pteron import edit
    from pteron.files.array_files import read_array

    content: Any = read_array(data, key, default=name) if data.suffix in ARRAYS else _bytes(data)
    with pteron.open(file) as opened:
        if isinstance(opened, pteron.PTDFile):
            changed = edit.replace_external(opened, name, content)
            write(changed, output, [file], drop_unknown=drop_unknown, json=json)
            return
    with open_program(file) as program:
        edited = edit.replace_named(program, name, content)
        write(edited, output, [file], drop_unknown=drop_unknown, json=json)


@click.command()
@any_file
@click.argument("delegate", metavar="METHOD[:INDEX]")
@click.argument("payload", type=PATH)
@output_option
@drop_unknown_option
@json_option
def replace_payload(
    file: Path, delegate: str, payload: Path, output: Path, drop_unknown: bool, json: bool
) -> None:
    """Give a delegate another payload.

    PAYLOAD is a Core ML .mlpackage, or a file whose bytes are taken. INDEX counts the method's
    delegates from 0.
    """
    from pteron import edit

    method, _, index = delegate.partition(":")
    place = method, _number(index or "0")
    with open_program(file) as program:
        if payload.is_dir():
            edited = edit.replace_coreml(program, *place, payload)
        else:
            edited = edit.replace_payload(program, *place, _bytes(payload))
        write(edited, output, [file], drop_unknown=drop_unknown, json=json)


@click.command()
@any_file
@output_option
@click.option("--data", type=PATH, required=True, metavar="FILE", help="The .ptd to write.")
@click.option("--at-least", default=0, metavar="BYTES", help="Smaller constants stay.")
@click.option("--named-data", is_flag=True, help="Move named data too, such as XNNPACK weights.")
@drop_unknown_option
@json_option
def externalise(
    file: Path,
    output: Path,
    data: Path,
    at_least: int,
    named_data: bool,
    drop_unknown: bool,
    json: bool,
) -> None:
    """Move constants out into a data file.

    From there they load by name. Constants without a name get one (constant_3), which they keep
    when 'pteron edit inline' takes the data in again.
    """
    from pteron import edit

    if _same(data, output):
        raise UsageError("the program and its data need a file each")
    if _same(data, file):
        raise UsageError(f"--data {data} is the program itself; its data need a file of their own")
    with open_program(file) as program:
        edited, moved = edit.externalise(program, at_least=at_least, named_data=named_data)
        edited.pieces(drop_unknown=drop_unknown)  # whatever cannot be written, before any file is
        with made_together(data):
            moved.save(data)
            write(edited, output, [file], drop_unknown=drop_unknown, json=json)


@click.command()
@any_file
@click.argument("data", type=PATH, nargs=-1, required=True)
@output_option
@drop_unknown_option
@json_option
def inline(
    file: Path, data: tuple[Path, ...], output: Path, drop_unknown: bool, json: bool
) -> None:
    """Move data from data files into the program.

    Tensors keep their names, also those that 'pteron edit externalise' gave them.
    """
    from pteron import edit

    with ExitStack() as stack:
        program = stack.enter_context(open_program(file))
        files = [stack.enter_context(open_data(path)) for path in data]
        edited = edit.inline(program, *files)
        write(edited, output, [file, *data], drop_unknown=drop_unknown, json=json)


def _target(text: str) -> Target:
    """A constant's index, (method, value) or a name."""
    method, colon, value = text.rpartition(":")
    if colon and _INDEX.fullmatch(value):
        return method, int(value)
    return int(text) if _INDEX.fullmatch(text) else text


def _same(one: Path, other: Path) -> bool:
    """Whether two paths are one file, or would be."""
    return one.resolve() == other.resolve() or (
        one.exists() and other.exists() and one.samefile(other)
    )


def _number(text: str) -> int:
    if not _INDEX.fullmatch(text):
        raise UsageError(f"{text!r} is no index: 0 or later is")
    return int(text)


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise FileAccessError(f"{path}: {error.strerror}") from None
