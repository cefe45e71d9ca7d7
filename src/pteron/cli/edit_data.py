"""``pteron edit``: replace and move constants, named data and payloads."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pteron.cli.edited import (
    DropUnknownOption,
    FileArgument,
    OutputOption,
    open_data,
    open_program,
    write,
)
from pteron.cli.output import JsonOption
from pteron.errors import FileAccessError, UsageError

if TYPE_CHECKING:
    from pteron.edit.find_tensors import Target

ARRAYS = (".npy", ".npz", ".safetensors")
KeyOption = Annotated[
    str | None, typer.Option(help="Which array of the file; by default the one of that name.")
]


def replace_constant(
    file: FileArgument,
    tensor: Annotated[
        str,
        typer.Argument(
            help="Name, index of a constant, or METHOD:VALUE with the index of a value.",
            show_default=False,
        ),
    ],
    array: Annotated[
        Path, typer.Argument(help="A .npy, .npz or .safetensors file.", show_default=False)
    ],
    output: OutputOption,
    key: KeyOption = None,
    drop_unknown: DropUnknownOption = False,
    json: JsonOption = False,
) -> None:
    """Give a constant, or a mutable tensor's first value, other values."""
    from pteron import edit
    from pteron.edit.arrays import read_array

    values = read_array(array, key, default=tensor)
    with open_program(file) as program:
        edited = edit.replace_constant(program, _target(tensor), values)
        write(edited, output, [file], drop_unknown=drop_unknown, json=json)


def replace_named(
    file: Annotated[
        Path, typer.Argument(help="A program (.pte) or data file (.ptd).", show_default=False)
    ],
    name: Annotated[str, typer.Argument(help="Key of the named data.", show_default=False)],
    data: Annotated[
        Path,
        typer.Argument(
            help="An array (.npy, .npz, .safetensors), or a file whose bytes are taken.",
            show_default=False,
        ),
    ],
    output: OutputOption,
    key: KeyOption = None,
    drop_unknown: DropUnknownOption = False,
    json: JsonOption = False,
) -> None:
    """Give a named blob of a program or data file other data."""
    import pteron
    from pteron import edit
    from pteron.edit.arrays import read_array

    content: Any = read_array(data, key, default=name) if data.suffix in ARRAYS else _bytes(data)
    with pteron.open(file) as opened:
        if isinstance(opened, pteron.PTDFile):
            changed = edit.replace_external(opened, name, content)
            write(changed, output, [file], drop_unknown=drop_unknown, json=json)
            return
    with open_program(file) as program:
        edited = edit.replace_named(program, name, content)
        write(edited, output, [file], drop_unknown=drop_unknown, json=json)


def replace_payload(
    file: FileArgument,
    delegate: Annotated[
        str,
        typer.Argument(
            metavar="METHOD[:INDEX]",
            help="Which delegate; INDEX is 0 or later.",
            show_default=False,
        ),
    ],
    payload: Annotated[
        Path,
        typer.Argument(
            help="A Core ML .mlpackage, or a file whose bytes are taken.", show_default=False
        ),
    ],
    output: OutputOption,
    drop_unknown: DropUnknownOption = False,
    json: JsonOption = False,
) -> None:
    """Give a delegate another payload."""
    from pteron import edit

    method, _, index = delegate.partition(":")
    place = method, _number(index or "0")
    with open_program(file) as program:
        if payload.is_dir():
            edited = edit.replace_coreml(program, *place, payload)
        else:
            edited = edit.replace_payload(program, *place, _bytes(payload))
        write(edited, output, [file], drop_unknown=drop_unknown, json=json)


def externalise(
    file: FileArgument,
    output: OutputOption,
    data: Annotated[Path, typer.Option(help="The data file to write (.ptd).", metavar="FILE")],
    at_least: Annotated[int, typer.Option(help="Constants of fewer bytes stay.")] = 0,
    named_data: Annotated[
        bool, typer.Option("--named-data", help="Move named data too, such as XNNPACK weights.")
    ] = False,
    drop_unknown: DropUnknownOption = False,
    json: JsonOption = False,
) -> None:
    """Move constants out into a data file, from where they load by name."""
    from pteron import edit

    if data.resolve() == output.resolve():
        raise UsageError("the program and its data need a file each")
    with open_program(file) as program:
        edited, moved = edit.externalise(program, at_least=at_least, named_data=named_data)
        edited.pieces(drop_unknown=drop_unknown)  # whatever cannot be written, before any file is
        moved.save(data)
        write(edited, output, [file], drop_unknown=drop_unknown, json=json)


def inline(
    file: FileArgument,
    data: Annotated[
        list[Path],
        typer.Argument(metavar="DATA...", help="Its data files (.ptd).", show_default=False),
    ],
    output: OutputOption,
    drop_unknown: DropUnknownOption = False,
    json: JsonOption = False,
) -> None:
    """Move data from data files into the program."""
    from pteron import edit

    with ExitStack() as stack:
        program = stack.enter_context(open_program(file))
        files = [stack.enter_context(open_data(path)) for path in data]
        edited = edit.inline(program, *files)
        write(edited, output, [file, *data], drop_unknown=drop_unknown, json=json)


def _target(text: str) -> Target:
    """A constant's index, (method, value) or a name."""
    method, colon, value = text.rpartition(":")
    if colon and value.isdecimal():
        return method, int(value)
    return int(text) if text.isdecimal() else text


def _number(text: str) -> int:
    if not text.isdecimal():
        raise UsageError(f"{text!r} is no index: 0 or later is")
    return int(text)


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise FileAccessError(f"{path}: {error.strerror}") from None
