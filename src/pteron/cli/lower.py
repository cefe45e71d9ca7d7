"""``pteron lower``: a PyTorch model to a program file."""

from __future__ import annotations

import importlib.util
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

import click

from pteron.cli.interrupts import Interrupts
from pteron.cli.options import PATH, json_option
from pteron.errors import UsageError
from pteron.lowering.options import CoreML


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
    "--state/--no-state", default=True, help="Let delegates own mutable buffers, where they can."
)
@json_option
def lower(
    model: str,
    output: Path,
    backend: str,
    target: str,
    precision: str,
    compute_units: str,
    state: bool,
    json: bool,
) -> None:
    """Lower a PyTorch model to a program.

    FUNCTION returns (model, inputs), or (model, inputs, options) with keyword arguments of
    pteron.lower. The report says who owns each of the model's buffers, and why.
    """
    options: dict[str, Any] = {
        "backend": _backend(backend, target, precision, compute_units),
        "take_over_mutable_buffers": state,
    }
    with Interrupts() as interrupts:
        build = _function(model)
        from pteron.lowering import lower as lower_model

        module, inputs, given = _built(build, model)
        _require_known(given, lower_model, model)
        with _Stages(interrupts) as progress:
            file = lower_model(module, inputs, **{**options, **given}, progress=progress)
            progress.stage("save")
            file.save(output)
    click.echo(file.lowering_report.to_json() if json else str(file.lowering_report))


def _backend(name: str, target: str, precision: str, compute_units: str) -> CoreML | None:
    if name == "none":
        return None
    if name != "coreml":
        raise UsageError(f"--backend {name}: must be 'coreml' or 'none'")
    return CoreML(target, precision, compute_units)


def _function(reference: str) -> Callable[[], Any]:
    """The function that ``PATH.py:FUNCTION`` names; runs the file."""
    path, colon, name = reference.rpartition(":")
    if not colon or not path.endswith(".py"):
        raise UsageError(f"{reference}: name a function as PATH.py:FUNCTION")
    if not Path(path).is_file():
        raise UsageError(f"{path}: no such file")
    spec = importlib.util.spec_from_file_location(Path(path).stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    sys.path.insert(0, str(Path(path).resolve().parent))
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise UsageError(f"{path} cannot be run: {type(error).__name__}: {error}") from error
    function = getattr(module, name, None)
    if not callable(function):
        raise UsageError(f"{path} has no function {name}")
    build: Callable[[], Any] = function
    return build


def _built(build: Callable[[], Any], reference: str) -> tuple[Any, Any, dict[str, Any]]:
    try:
        answer = build()
    except Exception as error:
        raise UsageError(f"{reference} failed: {type(error).__name__}: {error}") from error
    if not isinstance(answer, tuple) or len(answer) not in (2, 3):
        raise UsageError(f"{reference} must return (model, inputs) or (model, inputs, options)")
    model, inputs, *rest = answer
    if rest and not isinstance(rest[0], dict):
        raise UsageError(f"{reference}: options must be a dict, not {type(rest[0]).__name__}")
    return model, inputs, rest[0] if rest else {}


def _require_known(
    options: dict[str, Any], lower_model: Callable[..., Any], reference: str
) -> None:
    known = [
        name
        for name, parameter in inspect.signature(lower_model).parameters.items()
        if parameter.kind is parameter.KEYWORD_ONLY and name != "progress"
    ]
    for name in options:
        if name not in known:
            raise UsageError(f"{reference}: no option {name!r}; known: {', '.join(known)}")


class _Stages:
    """Shows each stage of a lowering as a bar on stderr, where that is a terminal."""

    def __init__(self, interrupts: Interrupts) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        self._interrupts = interrupts
        self._console = Console(file=sys.stderr)
        self._bars = Progress(
            TextColumn("{task.description:<22}"),
            BarColumn(),
            TimeElapsedColumn(),
            console=self._console,
            disable=not self._console.is_terminal,
        )
        self._task: Any = None

    def __enter__(self) -> _Stages:
        self._bars.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if kind is None:
            self._close()
        self._bars.stop()

    def stage(self, name: str) -> None:
        self._interrupts.check()
        self._close()
        if self._bars.disable:
            self._console.print(name, highlight=False)
        self._task = self._bars.add_task(name, total=None)

    def advance(self, done: int, total: int) -> None:
        self._interrupts.check()
        self._bars.update(self._task, completed=done, total=total)

    def _close(self) -> None:
        if self._task is not None:
            self._bars.update(self._task, total=1, completed=1)
