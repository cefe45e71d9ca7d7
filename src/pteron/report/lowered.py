"""What lowering decided, where the file tells: who owns each buffer, and why."""

from __future__ import annotations

import json
from typing import Any

from pteron.files.program_file import PTEFile


def lowered(file: PTEFile) -> dict[str, Any] | None:
    """The lowering report of a file that was just lowered, or ``None``."""
    report = file.lowering_report
    plain: dict[str, Any] | None = json.loads(report.to_json()) if report is not None else None
    return plain
