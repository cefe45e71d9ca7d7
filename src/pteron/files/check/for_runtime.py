"""Whether a released runtime can load and run a program."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from pteron.errors import PteronError
from pteron.files.bundled_file import BundledFile
from pteron.files.check.finding import Finding, error, note, warning
from pteron.files.check.within import inside_bundle
from pteron.files.data_file import PTDFile
from pteron.files.methods import Delegate
from pteron.files.parts import named_views
from pteron.files.program_file import PTEFile
from pteron.files.runtimes import Runtime
from pteron.files.state_names import declared_state_names
from pteron.files.summary import payload_summary
from pteron.payloads import open_payload
from pteron.payloads.coreml.package import BACKEND_ID, CoreMLPackage
from pteron.schema.program import ExecutionPlan, KernelCall


def check_for(file: PTEFile | PTDFile | BundledFile, runtime: Runtime) -> list[Finding]:
    """What of a sound file the runtime rejects (errors) or may reject (warnings), and why.

    The runtime's kernels are known by name, as its registry has them; which dtypes each of them
    takes is not looked at. A data file (.ptd) has nothing that depends on the runtime.
    """
    if isinstance(file, PTDFile):
        return []
    if isinstance(file, BundledFile):
        return inside_bundle(file, partial(check_for, runtime=runtime))
    plans = enumerate(file.program.execution_plan)
    found = [one for number, plan in plans for one in _operators(number, plan, runtime)]
    return found + list(_delegates(file, runtime))


def _operators(number: int, plan: ExecutionPlan, runtime: Runtime) -> Iterator[Finding]:
    """Kernels that are called and that the runtime does not have."""
    steps = (step.instr_args for chain in plan.chains for step in chain.instructions)
    called = {step.op_index for step in steps if isinstance(step, KernelCall)}
    for index in sorted(called):
        operator = plan.operators[index]
        name = f"{operator.name}.{operator.overload}" if operator.overload else operator.name
        where = f"execution_plan[{number}].operators[{index}]"
        if name in runtime.quantized_operators:
            yield note(where, f"{name} is there once the quantized kernels are loaded")
        elif name not in runtime.operators and runtime.links_operators:
            yield warning(where, f"{name} is none of ExecuTorch's kernels: the app must link it")
        elif name not in runtime.operators:
            yield error(where, f"{runtime.name} has no kernel {name}")


def _delegates(file: PTEFile, runtime: Runtime) -> Iterator[Finding]:
    number_of = {plan.name: number for number, plan in enumerate(file.program.execution_plan)}
    owners: dict[str, str] = {}
    for delegate in file.delegates:
        where = f"execution_plan[{number_of[delegate.method]}].delegates[{delegate.index}]"
        if delegate.backend_id not in runtime.backends:
            known = ", ".join(sorted(runtime.backends))
            message = f"{runtime.name} has no backend {delegate.backend_id!r:.60}, only {known}"
            yield error(f"{where}.id", message)
        elif needed := runtime.backend_needs.get(delegate.backend_id):
            yield warning(f"{where}.id", f"{delegate.backend_id} needs {needed}")
        elif delegate.backend_id == BACKEND_ID:
            yield from _coreml(file, delegate, f"{where}.processed", runtime, owners)


def _coreml(
    file: PTEFile, delegate: Delegate, where: str, runtime: Runtime, owners: dict[str, str]
) -> Iterator[Finding]:
    try:
        version = _specification(file, delegate)
        states = _states(file, delegate)
    except PteronError as failure:
        yield warning(where, f"cannot be read, so that nothing can be said of it: {failure}")
        return
    newest = runtime.coreml_specification
    if version > newest:
        message = f"Core ML specification {version}; {runtime.title} loads up to {newest}"
        yield error(where, message)
    if not states:
        return
    listed = ", ".join(states)
    if not runtime.coreml_state:
        reason = runtime.coreml_state_note
        yield error(where, f"has states ({listed}), which {runtime.name} does not bind: {reason}")
        return
    yield note(where, f"its states ({listed}) are bound {runtime.coreml_state_note}")
    for name in states:
        first = owners.setdefault(name, where)
        if first != where and not runtime.shares_coreml_state:
            yield warning(where, f"state {name} is in {first} too, and {runtime.name} makes two")


def _specification(file: PTEFile, delegate: Delegate) -> int:
    """The Core ML specification of a payload; 0 where only the compiled form is there."""
    blobs = named_views(file.named_data)
    source = open_payload(delegate.backend_id, delegate.payload, blobs, delegate.method)
    package = CoreMLPackage(source)
    return 0 if package.is_compiled else int(package.model.specificationVersion)


def _states(file: PTEFile, delegate: Delegate) -> list[str]:
    """The names of a delegate's states, as the model has them where the file says."""
    names = declared_state_names(delegate)
    functions = payload_summary(file, delegate).functions
    inside = dict.fromkeys(state.name for function in functions for state in function.states)
    return [names.get(name, name) for name in inside]
