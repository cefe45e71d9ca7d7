"""The report of a file, of two, or of a run."""

from __future__ import annotations

import logging
import os
from functools import cached_property
from html import escape
from typing import Any

from pteron import __version__
from pteron.errors import UsageError
from pteron.files import BundledFile, PTDFile, PTEFile
from pteron.files.saving import write_atomically
from pteron.report.collect import AnyFile, collect
from pteron.report.compare import compare, matches
from pteron.report.guard import guarded
from pteron.report.page import asset, page, printable
from pteron.report.profile import add_up, read_profile

logger = logging.getLogger("pteron.report")


class Report:
    """A page that shows a file: where its bytes and its memory go, what runs, who owns the state.

    Attributes:
        data: what the page shows, as plain data.
    """

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data

    @cached_property
    def html(self) -> str:
        """The page: one self-contained HTML document."""
        return page(f"{' and '.join(file['name'] for file in self.data['files'])}", self.data)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file, all or nothing. Raises FileAccessError."""
        write_atomically(path, [self.html.encode()])

    def _repr_html_(self) -> str:
        """The page in a frame of its own, which cannot reach the notebook around it."""
        return (
            f'<iframe srcdoc="{escape(printable(self.html))}" sandbox="allow-scripts" '
            'title="pteron report" width="100%" height="720" style="border:0"></iframe>'
        )


def report(
    file: AnyFile,
    other: AnyFile | None = None,
    *,
    profile: str | os.PathLike[str] | None = None,
) -> Report:
    """Describe a file, or what became of it in another one.

    Args:
        file: a program, a bundled program or a data file.
        other: a later one to compare it with.
        profile: a trace of a run of ``file`` that ``pteron bench --trace`` wrote. One that names
            nothing in it is a warning.

    Raises:
        FileAccessError, FormatError: the trace cannot be read.
        UsageError: something else than files, or a trace together with two files.
    """
    for one in (file, other):
        if one is not None and not isinstance(one, (PTEFile, PTDFile, BundledFile)):
            raise UsageError(f"a report shows files that pteron.open gives, not {type(one)}")
    if other is not None and profile is not None:
        raise UsageError("a trace belongs to one file: leave out the other, or the trace")
    data: dict[str, Any] = {
        "pteron": __version__,
        "files": [collect(file)],
        "licences": asset("licences.txt"),
    }
    if other is not None:
        data["files"].append(collect(other))
        data["changes"] = guarded(compare, file, other)
        data["matches"] = matches(*(collected["methods"] for collected in data["files"]))
    if profile is not None:
        methods = data["files"][0]["methods"]
        collected = methods if isinstance(methods, list) else []
        data["times"] = add_up(read_profile(profile), collected)
        if not any(data["times"]["methods"].values()):
            told = "%s has no event of this program: is it the trace of another file?"
            logger.warning(told, os.fspath(profile))
    return Report(data)
