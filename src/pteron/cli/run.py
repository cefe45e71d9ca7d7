"""``pteron run``: one call of a method from the shell."""

from __future__ import annotations

from math import isfinite, isnan
from pathlib import Path
from typing import Any

import click

from pteron.cli.options import (
    PATH,
    any_file,
    data_option,
    engine_option,
    json_option,
    method_option,
    precision_option,
    threads_option,
)
from pteron.cli.output import print_json
from pteron.cli.text import printable


@click.command()
@any_file
@click.option(
    "--inputs",
    type=PATH,
    metavar="FILE",
    help="Inputs by name (.npz, .safetensors), or .npy; arr_0, arr_1, ... go by position.",
)
@click.option("--outputs", type=PATH, metavar="FILE", help="Write the outputs here (.npz).")
@method_option
@click.option(
    "--repeat",
    default=1,
    type=click.IntRange(min=1),
    help="Call so many times; show the last outputs.",
)
@click.option("--stream", is_flag=True, help="Call once per entry of the inputs' first axis.")
@click.option("--load-state", type=PATH, metavar="FILE", help="Begin with this state.")
@click.option("--save-state", type=PATH, metavar="FILE", help="Write the state that is left.")
@data_option
@engine_option
@precision_option
@threads_option
@click.option("--no-cache", is_flag=True, help="Compile anew.")
@json_option
def run(
    file: Path,
    inputs: Path | None,
    outputs: Path | None,
    method: str | None,
    repeat: int,
    stream: bool,
    load_state: Path | None,
    save_state: Path | None,
    data: tuple[Path, ...],
    engine: str | None,
    precision: str,
    threads: int | None,
    no_cache: bool,
    json: bool,
) -> None:
    """Call a method and show or save its outputs.

    State is kept from call to call. Compiled models are kept in the cache, so that the next run
    starts at once.
    """
    import pteron
    from pteron.files.array_files import read_arrays, write_arrays
    from pteron.runtime.named_inputs import named_inputs
    from pteron.runtime.stepping import repeat as call
    from pteron.runtime.stepping import stream as step
    from pteron.runtime.storable import storable

    arrays = None if inputs is None else read_arrays(inputs)
    choices: dict[str, Any] = {"cache": None} if no_cache else {}
    with pteron.load(
        file, data=data or (), engine=engine, precision=precision, threads=threads, **choices
    ) as module:
        called = module.method(method)
        given: dict[str, Any] = {}
        if arrays is not None:
            given = named_inputs(arrays, called.inputs, str(inputs))
        if load_state is not None:
            module.state.load(load_state)
        values = step(called, given) if stream else call(called, given, repeat)
        if save_state is not None:
            module.state.save(save_state)
    named = dict(zip((p.name for p in called.outputs), values, strict=True))
    if outputs is not None:
        write_arrays(outputs, storable(named))
    if json:
        print_json({name: _plain(value) for name, value in named.items()})
    else:
        _show(named)


def _plain(value: Any) -> Any:
    """An output as JSON can hold it; what is not finite becomes a string (``"NaN"``)."""
    plain = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(plain, dict):
        return {key: _plain(item) for key, item in plain.items()}
    if isinstance(plain, list):
        return [_plain(item) for item in plain]
    if isinstance(plain, float) and not isfinite(plain):
        return "NaN" if isnan(plain) else "Infinity" if plain > 0 else "-Infinity"
    return plain


def _show(outputs: dict[str, Any]) -> None:
    """One line per output: its name, dtype and shape, and its first values."""
    import numpy as np

    for name, value in outputs.items():
        array = np.asarray(value)
        shown = np.array2string(array, threshold=16, precision=6, separator=", ")
        sizes = ", ".join(map(str, array.shape))
        click.echo(f"{printable(name)}: {array.dtype.name}[{sizes}] = {shown}")
