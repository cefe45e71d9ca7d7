"""What is in payloads, where a reader knows the backend's format."""

from __future__ import annotations

from collections.abc import Iterator

from pteron.errors import FormatError
from pteron.files.check.finding import Finding, error
from pteron.files.payload_faults import payload_fault
from pteron.files.program_file import PTEFile


def check_payloads(file: PTEFile) -> Iterator[Finding]:
    """Payloads that their reader refuses."""
    try:
        delegates, named = file.delegates, file.named_data
    except FormatError:
        return  # a payload that is not there is another family's finding
    number_of = {plan.name: number for number, plan in enumerate(file.program.execution_plan)}
    for delegate in delegates:
        if fault := payload_fault(delegate.backend_id, delegate.payload, named):
            yield error(
                f"execution_plan[{number_of[delegate.method]}].delegates[{delegate.index}]",
                f"payload of {delegate.method!r}, {delegate.backend_id}: {fault}",
            )
