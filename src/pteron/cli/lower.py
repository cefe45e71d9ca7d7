"""``pteron lower``: a PyTorch model to a program file."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from pteron.cli.model import built
from pteron.cli.options import PATH, json_option
from pteron.errors import UsageError
from pteron.lowering.options import CoreML
from pteron.suggestions import meant


@click.command()
@click.argument("model", metavar="PATH.py:FUNCTION")
@click.option("-o", "--output", type=PATH, required=True, metavar="FILE", help="The .pte to write.")
@click.option(
    "--backend",
    type=click.Choice(["coreml", "none"]),
    default="coreml",
    show_default=True,
    help="Who takes the operations; none: portable ones.",
)
@click.option("--target", default="iOS18", show_default=True, help="Oldest system to run on.")
@click.option(
    "--precision",
    type=click.Choice(["float16", "float32"]),
    default="float16",
    show_default=True,
    help="Arithmetic of the delegate.",
)
@click.option(
    "--compute-units",
    type=click.Choice(["all", "cpu_only", "cpu_and_gpu", "cpu_and_ne"]),
    default="all",
    show_default=True,
    help="What Core ML may use.",
)
@click.option(
    "--weights",
    metavar="FORMAT",
    help="Store weights so: int8, int4, palette4, int4-block64, palette6-group16, ...",
)
@click.option(
    "--shapes",
    multiple=True,
    metavar="INPUT=SHAPE,...",
    help="The only shapes of an input, as in x=1x80,8x80; once for each input that varies.",
)
@click.option(
    "--state/--no-state", default=True, help="Let delegates own mutable buffers, where they can."
)
@click.option(
    "--debug-frames", is_flag=True, help="Store each step's lines of the model, and the report."
)
@click.option(
    "--share-state",
    is_flag=True,
    help="Let delegates share buffers of several methods; only pteron's runtime does.",
)
@click.option(
    "--multifunction/--no-multifunction",
    default=True,
    help="Put delegates of several methods into one package, with common weights once.",
)
@click.option(
    "--exclude",
    multiple=True,
    metavar="OPERATOR",
    help="Keep an operator with the program, by name or glob; may be repeated.",
)
@click.option("--whole-graph", is_flag=True, help="One delegate with everything, or an error.")
@json_option
def lower(
    model: str,
    output: Path,
    backend: str,
    target: str,
    precision: str,
    compute_units: str,
    weights: str | None,
    shapes: tuple[str, ...],
    state: bool,
    debug_frames: bool,
    share_state: bool,
    multifunction: bool,
    exclude: tuple[str, ...],
    whole_graph: bool,
    json: bool,
) -> None:
    """Lower a PyTorch model to a program.

    FUNCTION returns (model, inputs), or (model, inputs, options) with keyword arguments of
    pteron.lower. The report says who owns each of the model's buffers, and why.
    """
    given: dict[str, Any] = {"weights": weights, "enumerated_shapes": _shapes(shapes)}
    if backend == "none" and any(given.values()):
        raise UsageError("--weights and --shapes are for delegates; --backend none has none")
    given["multifunction"] = multifunction
    coreml = CoreML(target, precision, compute_units, **given) if backend == "coreml" else None
    options: dict[str, Any] = {
        "backend": coreml,
        "take_over_mutable_buffers": state,
        "share_state_between_delegates": share_state,
        "exclude": exclude,
        "whole_graph": whole_graph,
        "debug_frames": debug_frames,
    }
    source = built(model)
    from pteron.lowering import lower as lower_model

    _require_known(source.options, lower_model, model)
    file = lower_model(source.model, source.inputs, **{**options, **source.options})
    file.save(output)
    click.echo(file.lowering_report.to_json() if json else str(file.lowering_report))


def _shapes(given: Sequence[str]) -> dict[str, list[tuple[int, ...]]] | None:
    """``x=1x80,8x80`` -> its shapes, by input."""
    found: dict[str, list[tuple[int, ...]]] = {}
    for text in given:
        name, _, listed = text.partition("=")
        if not re.fullmatch(r"\d+(x\d+)*(,\d+(x\d+)*)*", listed):
            raise UsageError(f"--shapes {text}: write INPUT=SHAPE,SHAPE as in x=1x80,8x80")
        found[name] = [tuple(map(int, shape.split("x"))) for shape in listed.split(",")]
    return found or None


def _require_known(
    options: dict[str, Any], lower_model: Callable[..., Any], reference: str
) -> None:
    known = [
        name
        for name, parameter in inspect.signature(lower_model).parameters.items()
        if parameter.kind is parameter.KEYWORD_ONLY
    ]
    for name in options:
        if name not in known:
            hint = meant(name, known)
            raise UsageError(f"{reference}: no option {name!r}{hint}; known: {', '.join(known)}")
