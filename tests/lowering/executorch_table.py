"""What ExecuTorch 1.5.1 makes of the zoo, and what pteron does: the tables of docs/executorch.md.

    python -m tests.lowering.executorch_table                       # the whole zoo: minutes
    python -m tests.lowering.executorch_table executorch            # one way of lowering it
    python -m tests.lowering.executorch_table executorch AddInPlace # of some cases
    python -m tests.lowering.executorch_table --write               # only the page

Results are stored case by case, in executorch_results/ beside this file.
"""

from __future__ import annotations

import copy
import json
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import torch
from executorch.runtime import Runtime
from torch.utils import _pytree

import pteron
from pteron.files.operators import operator_names
from pteron.lowering import CoreML, lower

from . import zoo
from .reference import ExecuTorchProgram

RESULTS = Path(__file__).with_name("executorch_results")
PAGE = Path(__file__).parents[2] / "docs" / "executorch.md"
BEGIN, END = "<!-- table {} -->", "<!-- end of table {} -->"
RIGHT = "right"
TOLERANCE = {"rtol": 4e-3, "atol": 4e-3}
"""State is fp16: half a unit in the last place at each step, on values of a few units."""


def outcome(make: Callable[[], Callable[..., Any]], name: str, verb: str) -> str:
    """``right``, ``wrong at step n``, or why it cannot be made or run.

    ``make`` gives what runs one step; each step is compared with PyTorch eager.
    """
    model = zoo.build(name)
    try:
        run = make()
    except Exception as error:  # whatever another project raises is a result
        return f"cannot {verb}: {_reason(error)}"
    for step, inputs in enumerate(zoo.inputs_of(name)):
        with torch.no_grad():
            wanted = _pytree.tree_leaves(model(*inputs))
        try:
            got = _pytree.tree_leaves(run(*inputs))
        except Exception as error:
            return f"cannot run: {_reason(error)}"
        if not _same(got, wanted):
            return f"wrong at step {step + 1}"
    return RIGHT


def _same(got: Iterable[Any], wanted: Iterable[Any]) -> bool:
    got, wanted = list(got), list(wanted)
    pairs = zip(map(torch.as_tensor, got), map(torch.as_tensor, wanted), strict=False)
    return len(got) == len(wanted) and all(
        a.shape == b.shape and torch.allclose(a.double(), b.double(), **TOLERANCE) for a, b in pairs
    )


def _reason(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    said = lines[0] if lines else ""
    return f"{type(error).__name__}: {said}"[:160]


def undelegated(name: str) -> str:
    """pteron's program without a delegate, in ExecuTorch's own runtime."""

    def make() -> Callable[..., Any]:
        file = lower(zoo.build(name), zoo.inputs_of(name)[0], backend=None)
        if missing := without_kernel(file):
            raise LookupError(f"no kernel for {', '.join(missing)}")
        return ExecuTorchProgram(file).run

    return outcome(make, name, "run")


def without_kernel(file: pteron.files.PTEFile) -> list[str]:
    """Operators that the wheel of ExecuTorch cannot run."""
    known = set(Runtime.get().operator_registry.operator_names)
    (plan,) = file.program.execution_plan
    return sorted(set(operator_names(plan)) - known)


def by_pteron(name: str) -> str:
    """pteron's program for Core ML, run by pteron."""

    def make() -> Callable[..., Any]:
        backend = CoreML(compute_precision="float32")
        return _runner(lower(zoo.build(name), zoo.inputs_of(name)[0], backend=backend))

    return outcome(make, name, "lower")


def by_executorch(name: str) -> str:
    """ExecuTorch's program for Core ML, run by pteron."""

    def make() -> Callable[..., Any]:
        return _runner(pteron.open(executorch_program(zoo.build(name), zoo.inputs_of(name)[0])))

    return outcome(make, name, "lower")


def _runner(file: pteron.files.PTEFile) -> Callable[..., Any]:
    module = pteron.load(file, cache=None)
    return lambda *inputs: module.forward(*(x.numpy() for x in inputs))


def executorch_program(model: torch.nn.Module, inputs: tuple[Any, ...]) -> bytes:
    """A model lowered by ExecuTorch's own Core ML partitioner, with state, in fp32."""
    import coremltools as ct
    from executorch.backends.apple.coreml.compiler import CoreMLBackend
    from executorch.backends.apple.coreml.partition import CoreMLPartitioner
    from executorch.exir import EdgeCompileConfig, to_edge_transform_and_lower

    specs = CoreMLBackend.generate_compile_specs(
        minimum_deployment_target=ct.target.iOS18, compute_precision=ct.precision.FLOAT32
    )
    partitioner = CoreMLPartitioner(compile_specs=specs, take_over_mutable_buffer=True)
    with torch.no_grad():
        program = to_edge_transform_and_lower(
            torch.export.export(copy.deepcopy(model), inputs),
            partitioner=[partitioner],
            compile_config=EdgeCompileConfig(_check_ir_validity=False),
        )
    return bytes(program.to_executorch().buffer)


KINDS: dict[str, Callable[[str], str]] = {
    "undelegated": undelegated,
    "pteron": by_pteron,
    "executorch": by_executorch,
}


def stored(kind: str) -> dict[str, str]:
    """The outcome of each case, as it was measured last."""
    path = RESULTS / f"{kind}.json"
    return dict(json.loads(path.read_text())) if path.exists() else {}


def store(kind: str, name: str, result: str) -> None:
    """Keep one outcome."""
    RESULTS.mkdir(exist_ok=True)
    results = dict(sorted((stored(kind) | {name: result}).items()))
    (RESULTS / f"{kind}.json").write_text(json.dumps(results, indent=1) + "\n")


def tables() -> dict[str, str]:
    """The tables of the page by their names."""
    return {"undelegated": _undelegated_table(), "coreml": _coreml_table()}


def _undelegated_table() -> str:
    results = stored("undelegated")
    others = {name: result for name, result in results.items() if result != RIGHT}
    rows = [["model", "in `executorch.runtime`"]]
    rows += [[f"{len(results) - len(others)} models", RIGHT], *map(list, others.items())]
    return _markdown(rows)


def _coreml_table() -> str:
    theirs, ours = stored("executorch"), stored("pteron")
    both = [name for name in ours if theirs[name] == ours[name] == RIGHT]
    rows = [["model", "lowered by ExecuTorch", "lowered by pteron"]]
    rows += [[f"{len(both)} models (below)", RIGHT, RIGHT]]
    rows += [[name, theirs[name], ours[name]] for name in ours if name not in both]
    return f"{_markdown(rows)}\n\nRight with both: {', '.join(both)}."


def _markdown(rows: list[list[str]]) -> str:
    cells = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    lines = [f"| {' | '.join(row)} |" for row in cells]
    return "\n".join([lines[0], f"|{'---|' * len(rows[0])}", *lines[1:]])


def written(page: str) -> str:
    """The page with its tables replaced."""
    for name, table in tables().items():
        begin, end = BEGIN.format(name), END.format(name)
        before, _, rest = page.partition(begin)
        _, _, after = rest.partition(end)
        page = f"{before}{begin}\n{table}\n{end}{after}"
    return page


def main(arguments: list[str]) -> None:
    """See the module's own description."""
    if arguments != ["--write"]:
        kinds = [a for a in arguments if a in KINDS] or list(KINDS)
        for name in [a for a in arguments if a not in KINDS] or sorted(zoo.ZOO):
            for kind in kinds:
                result = KINDS[kind](name)
                store(kind, name, result)
                print(kind, name, result, flush=True)
    PAGE.write_text(written(PAGE.read_text()))


if __name__ == "__main__":
    main(sys.argv[1:])
