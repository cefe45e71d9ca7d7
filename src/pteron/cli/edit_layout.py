"""``pteron edit``: realign a program, and strip it of what running it does not need."""

from __future__ import annotations

from typing import Annotated

import typer

from pteron.cli.edited import DropUnknownOption, FileArgument, OutputOption, open_program, write
from pteron.cli.output import JsonOption
from pteron.errors import UsageError


def realign(
    file: FileArgument,
    output: OutputOption,
    segments: Annotated[int | None, typer.Option(help="Of every segment, in bytes.")] = None,
    tensors: Annotated[int | None, typer.Option(help="Of every constant, in bytes.")] = None,
    named_data: Annotated[int | None, typer.Option(help="Of every named blob, in bytes.")] = None,
    drop_unknown: DropUnknownOption = False,
    json: JsonOption = False,
) -> None:
    """Give segments, constants and named data other alignments (powers of two)."""
    from pteron import edit

    with open_program(file) as program:
        edited = edit.realign(program, segments=segments, tensors=tensors, named_data=named_data)
        write(edited, output, [file], drop_unknown=drop_unknown, json=json)


def strip(
    file: FileArgument,
    output: OutputOption,
    stack_traces: Annotated[
        bool, typer.Option("--stack-traces", help="Stack traces of instructions.")
    ] = False,
    payload_debug: Annotated[
        bool, typer.Option("--payload-debug", help="Debug information in Core ML payloads.")
    ] = False,
    unused: Annotated[
        bool, typer.Option("--unused", help="Constants, operators and values without use.")
    ] = False,
    all_of_it: Annotated[bool, typer.Option("--all", help="All of these.")] = False,
    drop_unknown: DropUnknownOption = False,
    json: JsonOption = False,
) -> None:
    """Leave out what running the program does not need."""
    from pteron import edit

    if not (stack_traces or payload_debug or unused or all_of_it):
        raise UsageError("say what to strip, or --all")
    with open_program(file) as edited:
        if stack_traces or all_of_it:
            edited = edit.strip_stack_traces(edited)
        if payload_debug or all_of_it:
            edited = edit.strip_payload_debug_info(edited)
        if unused or all_of_it:
            edited = edit.strip_unused(edited)
        write(edited, output, [file], drop_unknown=drop_unknown, json=json)
