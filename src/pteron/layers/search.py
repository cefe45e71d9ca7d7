"""The first value of a program that is not what PyTorch computes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from pteron.engines.base import EngineOptions
from pteron.errors import UsageError
from pteron.files import PTDFile, PTEFile
from pteron.files.operators import operator_names
from pteron.layers.compare import Divergence, distance
from pteron.layers.eager import Eager
from pteron.layers.names import matched
from pteron.layers.recorder import Recorder, Seen
from pteron.lowering import lower
from pteron.lowering.source import op_name, source_line
from pteron.progress import steps
from pteron.runtime import load
from pteron.runtime.delegates import PayloadLoader
from pteron.runtime.loading import external
from pteron.runtime.verify import TOLERANCES, Tolerance
from pteron.schema.program import ExecutionPlan, KernelCall

if TYPE_CHECKING:
    from torch.fx import Node

    from pteron.lowering.outer import Outer

Cases = Mapping[str, Sequence[Sequence[Any]]]
"""By method, the inputs of each case in the method's order."""


def first_divergence(
    file: PTEFile,
    model: Any,
    example_inputs: Sequence[Any] = (),
    *,
    cases: Cases | None = None,
    options: Mapping[str, Any] | None = None,
    tolerances: Mapping[str, Tolerance] = TOLERANCES,
    data: str | Path | PTDFile | Sequence[str | Path | PTDFile] = (),
    engine: str | None = None,
    precision: str = "model",
    calls: int = 2,
) -> Divergence | None:
    """The first value of ``file``, in the order of its instructions, that PyTorch computes
    otherwise; None if all are near enough.

    The model is exported and lowered once more, with the options that the file was lowered with.
    Its graph is run by PyTorch's own kernels, one operator at a time, and the file by pteron's
    runtime. Compared is what each instruction leaves, and before that, inside of a Core ML
    delegate, every value whose name in the payload tells which node of the graph it is.

    Args:
        file: the program, which may have been edited since, but for its instructions.
        model, example_inputs: as for :func:`pteron.lower`.
        cases: by method, inputs to try; by default the example inputs. Each case begins with
            the first values of all state.
        options: keyword arguments that ``file`` was lowered with.
        tolerances: by dtype; judged by a value's largest element. After a delegate that computes
            in fp16, float32 values get the tolerance of float16.
        data, engine, precision: as for :func:`pteron.load`.
        calls: how often each case's inputs are given, with state kept.

    Raises:
        UsageError: the file is not what the model lowers to.
        LoweringError: the model cannot be lowered.
    """
    reference = lower(model, example_inputs, **dict(options or {}))
    outers = reference.lowering_report.outers
    for name, method in file.methods.items():
        if name not in outers:
            raise UsageError(f"the model lowers to no method {name!r}, which the file has")
        _require_alike(method.plan, reference.methods[name].plan)
    if cases is None:
        cases = _examples(model, example_inputs, options or {})
    kept = {name: _nodes(outer) for name, outer in outers.items()}
    loader = PayloadLoader(engine, None, EngineOptions(precision))
    recorder = Recorder(file, kept, loader, external(data))
    module = load(
        file, data=data, engine=engine, precision=precision, cache=None, timeline=recorder
    )
    for name, suite in cases.items():
        comparison = _Comparison(outers[name], kept[name], tolerances)
        for number, inputs in enumerate(steps(f"compare {name}", suite)):
            module.state.reset()
            recorder.reset()
            comparison.eager.reset()
            for step in range(calls):
                recorder.seen.clear()
                module.method(name)(*inputs)
                found = comparison(inputs, recorder.seen, number, step)
                if found is not None:
                    return found
    return None


class _Comparison:
    """One method's instructions against its graph."""

    def __init__(
        self, outer: Outer, nodes: Mapping[int, str], tolerances: Mapping[str, Tolerance]
    ) -> None:
        assert outer.program is not None
        self.eager = Eager(outer.program)
        self._method = outer.name
        self._by_name: dict[str, Node] = {node.name: node for node in outer.program.graph.nodes}
        self._nodes = nodes
        # a plan numbers its delegates as the graph calls them
        calls = [node for node in outer.graph.nodes if node in outer.regions]
        self._inside = [{node.name for node in outer.regions[call]} for call in calls]
        self._tolerances = tolerances

    def __call__(
        self, inputs: Sequence[Any], seen: Sequence[Seen], case: int, step: int
    ) -> Divergence | None:
        expected = {
            name: _array(value) for name, value in self.eager([_torch(x) for x in inputs]).items()
        }
        tolerances = dict(self._tolerances)
        for one in seen:
            if any(value.dtype == np.float16 for value in one.inside.values()):
                tolerances["float32"] = tolerances["float16"]
            for name, place, value in self._values(one, expected):
                near, largest, relative, allowed = distance(value, expected[name], tolerances)
                if near:
                    continue
                node = self._by_name[name]
                return Divergence(
                    method=self._method,
                    case=case,
                    step=step,
                    value=name,
                    op=str(node.target) if "." in str(node.target) else op_name(node),
                    line=source_line(node),
                    place=place,
                    dtype=value.dtype.name,
                    largest=largest,
                    relative=relative,
                    tolerance=allowed,
                )
        return None

    def _values(
        self, seen: Seen, expected: Mapping[str, Any]
    ) -> Iterator[tuple[str, str, np.ndarray[Any, Any]]]:
        """Node, place and value of what an instruction computed, what is inside it first."""
        written = {self._nodes[i]: value for i, value in seen.written.items()}
        if seen.place.delegate is not None:
            region = self._inside[seen.place.delegate]
            nodes = {name: value.shape for name, value in expected.items() if name in region}
            values = {name: value.shape for name, value in seen.inside.items()}
            for name, node in matched(values, nodes).items():
                yield node, f"delegate {seen.place.delegate}: {name}", seen.inside[name]
        place = f"instruction {seen.place.instruction} ({seen.place.name})"
        for node, value in written.items():
            if node in expected:
                yield node, place, value


def _nodes(outer: Outer) -> dict[int, str]:
    """Index of a value in the plan -> name of the node that computes it."""
    found: dict[int, str] = {}
    for copy, node in outer.sources.items():
        index = outer.values.get(copy)
        if isinstance(index, int) and node.op == "call_function":
            found.setdefault(index, node.name)
    return found


def _examples(model: Any, inputs: Sequence[Any], options: Mapping[str, Any]) -> Cases:
    """The example inputs of each method as its one case."""
    from torch.utils import _pytree

    from pteron.lowering.capture import source

    if not isinstance(model, Mapping):
        model = {"forward": (model, tuple(inputs), options.get("example_kwargs"))}
    cases: dict[str, list[list[Any]]] = {}
    for name, given in model.items():
        _, arguments, keywords, _ = source(name, given)
        flat, _ = _pytree.tree_flatten((arguments, dict(keywords)))
        cases[name] = [flat]
    return cases


def _require_alike(plan: ExecutionPlan, reference: ExecutionPlan) -> None:
    """Raise UsageError unless two plans have the same instructions."""
    ours, theirs = _instructions(plan), _instructions(reference)
    for index, (one, other) in enumerate(zip(ours, theirs, strict=False)):
        if one != other:
            raise UsageError(
                f"method {plan.name!r}: instruction {index} is {_said(one)} in the file and "
                f"{_said(other)} where the model is lowered now: give the model and the options "
                "that the file was lowered with"
            )
    if len(ours) != len(theirs):
        raise UsageError(
            f"method {plan.name!r} has {len(ours)} instructions in the file, the model lowers to "
            f"{len(theirs)}: give the model and the options it was lowered with"
        )


def _said(instruction: tuple[str, list[int]]) -> str:
    name, arguments = instruction
    return f"{name}({', '.join(map(str, arguments))})"


def _instructions(plan: ExecutionPlan) -> list[tuple[str, list[int]]]:
    names = operator_names(plan)
    found: list[tuple[str, list[int]]] = []
    for chain in plan.chains:
        for instruction in chain.instructions:
            step: Any = instruction.instr_args
            called = isinstance(step, KernelCall)
            name = names[step.op_index] if called else type(step).__name__
            found.append((name, list(getattr(step, "args", []))))
    return found


def _torch(value: Any) -> Any:
    """An input for PyTorch: an array as a tensor, a plain value as it is."""
    if not isinstance(value, np.ndarray):
        return value
    if value.dtype.name == "bfloat16":  # which NumPy itself does not have
        return torch.from_numpy(value.astype(np.float32)).bfloat16()
    return torch.from_numpy(np.array(value))


def _array(value: Any) -> np.ndarray[Any, Any]:
    """A tensor's elements; bfloat16 as float32."""
    return np.asarray((value.float() if value.dtype == torch.bfloat16 else value).numpy())
