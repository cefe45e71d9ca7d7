"""What lowering decided, where the file tells: who owns each buffer, and why."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pteron.files.lowering_record import lowering_record
from pteron.files.program_file import PTEFile


def lowered(file: PTEFile) -> dict[str, Any] | None:
    """Buffers of the lowering report that a file carries, or that came with lowering it just now.

    Whatever a file says instead of names, lists and reasons is shown as text.
    """
    record = lowering_record(file)
    if record is None and file.lowering_report is not None:
        record = json.loads(file.lowering_report.to_json())
    if record is None:
        return None
    return {"buffers": [_buffer(one) for one in _list(record, "buffers")]}


def _buffer(record: Any) -> dict[str, Any]:
    text = {name: _text(record, name) for name in ("name", "dtype", "owner", "reason")}
    accesses = {
        way: [{name: _text(one, name) for name in ("op", "line")} for one in _list(record, way)]
        for way in ("reads", "writes")
    }
    return {**text, **accesses, "shape": [str(size) for size in _list(record, "shape")]}


def _text(record: Any, name: str) -> str:
    value = record.get(name) if isinstance(record, Mapping) else None
    return "" if value is None else str(value)


def _list(record: Any, name: str) -> list[Any]:
    value = record.get(name) if isinstance(record, Mapping) else None
    return value if isinstance(value, list) else []
