"""``pteron edit``: realign a program, and strip it of what running it does not need."""

from __future__ import annotations

from pathlib import Path

import click

from pteron.cli.edited import open_program, write
from pteron.cli.options import any_file, drop_unknown_option, json_option, output_option
from pteron.errors import UsageError


@click.command()
@any_file
@output_option
@click.option("--segments", type=int, metavar="BYTES", help="Alignment of every segment.")
@click.option("--tensors", type=int, metavar="BYTES", help="Alignment of every constant.")
@click.option("--named-data", type=int, metavar="BYTES", help="Alignment of every named blob.")
@drop_unknown_option
@json_option
def realign(
    file: Path,
    output: Path,
    segments: int | None,
    tensors: int | None,
    named_data: int | None,
    drop_unknown: bool,
    json: bool,
) -> None:
    """Align segments, constants, named data anew.

    Alignments are powers of two, from 16 to 1 MiB; those of named data may be smaller.
    """
    from pteron import edit

    with open_program(file) as program:
        edited = edit.realign(program, segments=segments, tensors=tensors, named_data=named_data)
        write(edited, output, [file], drop_unknown=drop_unknown, json=json)


@click.command()
@any_file
@output_option
@click.option("--stack-traces", is_flag=True, help="Stack traces of instructions.")
@click.option("--payload-debug", is_flag=True, help="Debug information in Core ML payloads.")
@click.option("--unused", is_flag=True, help="Constants, operators and values without use.")
@click.option("--all", "all_of_it", is_flag=True, help="All of these.")
@drop_unknown_option
@json_option
def strip(
    file: Path,
    output: Path,
    stack_traces: bool,
    payload_debug: bool,
    unused: bool,
    all_of_it: bool,
    drop_unknown: bool,
    json: bool,
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
