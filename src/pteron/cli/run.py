"""``pteron run``: one call of a method from the shell."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pteron.cli.output import JsonOption, print_json

if TYPE_CHECKING:
    from pteron.runtime import Method


def run(
    file: Annotated[Path, typer.Argument(help="A .pte, .bpte or .mlpackage.", show_default=False)],
    inputs: Annotated[
        Path | None,
        typer.Option(help="Input arrays (.npz, keys are input names; or .npy).", metavar="FILE"),
    ] = None,
    outputs: Annotated[
        Path | None, typer.Option(help="Write the outputs here (.npz).", metavar="FILE")
    ] = None,
    method: Annotated[
        str | None, typer.Option(help="Method to call; 'forward' or the default one.")
    ] = None,
    data: Annotated[
        list[Path] | None, typer.Option(help="A .ptd file the program needs; repeatable.")
    ] = None,
    engine: Annotated[str | None, typer.Option(help="openvino, coreml or executorch.")] = None,
    precision: Annotated[str, typer.Option(help="model, f32 or fast.")] = "model",
    threads: Annotated[int | None, typer.Option(help="Threads an execution may use.")] = None,
    repeat: Annotated[int, typer.Option(help="Call so many times; the last outputs.")] = 1,
    stream: Annotated[
        bool,
        typer.Option("--stream", help="Call once per entry of the inputs' first axis."),
    ] = False,
    load_state: Annotated[
        Path | None, typer.Option(help="Start from this state (.safetensors).", metavar="FILE")
    ] = None,
    save_state: Annotated[
        Path | None, typer.Option(help="Write the state that is left.", metavar="FILE")
    ] = None,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Compile anew.")] = False,
    json: JsonOption = False,
) -> None:
    """Call a method and show or save its outputs; state is kept from call to call.

    Compiled models are kept in the cache, so that the next run starts at once.
    """
    import pteron
    from pteron.runtime.npz import read_inputs, write_outputs
    from pteron.runtime.stepping import repeat as call
    from pteron.runtime.stepping import stream as step

    choices: dict[str, Any] = {"cache": None} if no_cache else {}
    with pteron.load(
        file, data=data or (), engine=engine, precision=precision, threads=threads, **choices
    ) as module:
        called = module.method(method)
        given = {} if inputs is None else read_inputs(inputs, called.inputs)
        if load_state is not None:
            module.state.load(load_state)
        values = step(called, given) if stream else call(called, given, repeat)
        if save_state is not None:
            module.state.save(save_state)
    named = dict(zip((p.name for p in called.outputs), values, strict=True))
    if outputs is not None:
        write_outputs(outputs, named)
    if json:
        print_json({name: _plain(value) for name, value in named.items()})
    else:
        _show(called, named)


def _plain(value: Any) -> Any:
    """An output as JSON can hold it."""
    return value.tolist() if hasattr(value, "tolist") else value


def _show(method: Method, outputs: dict[str, Any]) -> None:
    """One line per output: its name, dtype and shape, and its first values."""
    import numpy as np

    for parameter, value in zip(method.outputs, outputs.values(), strict=True):
        shown = np.array2string(np.asarray(value), threshold=16, precision=6, separator=", ")
        typer.echo(f"{parameter} = {shown}")
