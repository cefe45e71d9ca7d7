"""``pteron bench``: how fast a program is here, and where the time goes."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from pteron.cli.options import (
    PATH,
    any_file,
    data_option,
    engine_option,
    json_option,
    method_option,
    precision_option,
    streams_option,
    threads_option,
)
from pteron.cli.output import print_json


@click.command()
@any_file
@click.option(
    "--inputs",
    type=PATH,
    metavar="FILE",
    help="Inputs by name (.npz, .safetensors) or .npy; made up by default.",
)
@method_option
@click.option(
    "--warmup", default=5, show_default=True, type=click.IntRange(min=0), help="Calls before."
)
@click.option(
    "--repeat", default=50, show_default=True, type=click.IntRange(min=1), help="Calls measured."
)
@click.option("--trace", type=PATH, metavar="FILE", help="Write a Chrome trace (.json) here.")
@data_option
@engine_option
@precision_option
@threads_option
@streams_option
@json_option
def bench(
    file: Path,
    inputs: Path | None,
    method: str | None,
    warmup: int,
    repeat: int,
    trace: Path | None,
    data: tuple[Path, ...],
    engine: str | None,
    precision: str,
    threads: int | None,
    streams: int,
    json: bool,
) -> None:
    """Measure a program: latency, load, memory, and where the time goes.

    It is compiled anew, into a cache of its own. Made-up inputs are normally distributed floats
    and zeros for integers. Docs: docs/bench.md.
    """
    from pteron.bench import Options, benchmark, chrome_trace
    from pteron.cli.bench_page import print_result
    from pteron.files.saving import write_atomically

    options = Options(
        method, inputs, warmup, repeat, tuple(data or ()), engine, precision, threads, streams
    )
    result, spans = benchmark(file, options)
    if trace is not None:
        from json import dumps

        write_atomically(trace, [dumps(chrome_trace(spans)).encode()])
    if json:
        print_json(asdict(result) | {"calls_per_second": result.calls_per_second})
    else:
        print_result(result)
