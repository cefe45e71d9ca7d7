"""``pteron lower``: a PyTorch model to a program file."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Annotated, Any

import typer

from pteron.cli.output import JsonOption
from pteron.errors import UsageError
from pteron.lowering.options import CoreML


def lower(
    model: Annotated[
        str,
        typer.Argument(
            metavar="PATH.py:FUNCTION",
            help="A function that returns (model, inputs), or (model, inputs, options) with "
            "keyword arguments of pteron.lower.",
            show_default=False,
        ),
    ],
    output: Annotated[Path, typer.Option("-o", "--output", help="The program to write (.pte).")],
    backend: Annotated[str, typer.Option(help="'coreml', or 'none' for portable ops.")] = "coreml",
    target: Annotated[str, typer.Option(help="Oldest system to run on.")] = "iOS18",
    precision: Annotated[str, typer.Option(help="Arithmetic: float16 or float32.")] = "float16",
    compute_units: Annotated[
        str, typer.Option(help="all, cpu_only, cpu_and_gpu or cpu_and_ne.")
    ] = "all",
    state: Annotated[
        bool, typer.Option(help="Let delegates own mutable buffers, where they can.")
    ] = True,
    json: JsonOption = False,
) -> None:
    """Lower a PyTorch model and say who owns each of its buffers."""
    options: dict[str, Any] = {
        "backend": _backend(backend, target, precision, compute_units),
        "take_over_mutable_buffers": state,
    }
    build = _function(model)
    from pteron.lowering import lower as lower_model

    module, inputs, given = _built(build, model)
    with _Stages() as progress:
        file = lower_model(module, inputs, **{**options, **given}, progress=progress)
        progress.stage("save")
        file.save(output)
    typer.echo(file.lowering_report.to_json() if json else str(file.lowering_report))


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
    return model, inputs, dict(rest[0]) if rest else {}


class _Stages:
    """Shows each stage of a lowering as a bar on stderr, where that is a terminal."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

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
        self._close()
        if self._bars.disable:
            self._console.print(name, highlight=False)
        self._task = self._bars.add_task(name, total=None)

    def advance(self, done: int, total: int) -> None:
        self._bars.update(self._task, completed=done, total=total)

    def _close(self) -> None:
        if self._task is not None:
            self._bars.update(self._task, total=1, completed=1)
