"""Names that must be unique."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pteron.files.check.finding import Finding, error, warning
from pteron.files.program_file import PTEFile


def check_names(file: PTEFile) -> Iterator[Finding]:
    """Methods, named data and compile specs that cannot be told apart."""
    program = file.program
    if not program.execution_plan:
        yield warning("execution_plan", "the program has no methods")
    yield from duplicates("execution_plan", "name", (p.name for p in program.execution_plan))
    yield from duplicates("named_data", "key", (n.key for n in program.named_data or []))
    for number, plan in enumerate(program.execution_plan):
        for index, delegate in enumerate(plan.delegates):
            where = f"execution_plan[{number}].delegates[{index}].compile_specs"
            for found in duplicates(where, "key", (s.key for s in delegate.compile_specs)):
                yield warning(found.where, found.message)


def duplicates(where: str, field: str, names: Iterable[str]) -> Iterator[Finding]:
    """An error for every name that occurred before, or is empty."""
    seen: dict[str, int] = {}
    for index, name in enumerate(names):
        first = seen.setdefault(name, index)
        if first != index:
            yield error(f"{where}[{index}].{field}", f"{name!r:.80} is also {where}[{first}]")
        elif not name:
            yield error(f"{where}[{index}].{field}", "is empty")
