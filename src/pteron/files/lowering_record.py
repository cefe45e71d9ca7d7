"""What lowering decided, as a program file carries it on request.

It is the named data ``pteron.lowering_report``: a UTF-8 JSON object as
:meth:`pteron.lowering.report.LoweringReport.to_json` gives it. ExecuTorch's runtimes load named
data only when a backend asks for it by name, so they ignore this.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pteron.errors import FormatError

if TYPE_CHECKING:
    from pteron.files.program_file import PTEFile

LOWERING_KEY = "pteron.lowering_report"


def lowering_record(file: PTEFile) -> dict[str, Any] | None:
    """The report that a file carries, or ``None``. Raises FormatError for one that is no object."""
    blob = file.named_data.get(LOWERING_KEY)
    if blob is None:
        return None
    try:
        record = json.loads(bytes(blob.data).decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise FormatError(f"is not JSON: {error}", where=f"named data {LOWERING_KEY}") from None
    if not isinstance(record, dict):
        raise FormatError("is no JSON object", where=f"named data {LOWERING_KEY}")
    return record
