"""``pteron cache``: what is in the cache of compiled models, and housekeeping."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pteron.cli.output import JsonOption, print_json

if TYPE_CHECKING:
    from pteron.cache import DirectoryCache
    from pteron.cache.catalogue import Listed

_NEGATIVE = 1

app = typer.Typer(
    no_args_is_help=True,
    help="Look into the cache of compiled models, and keep it in order.\n\n"
    "PTERON_CACHE_DIR and PTERON_CACHE_SIZE choose directory and quota; PTERON_CACHE=off turns "
    "caching off, PTERON_CACHE=read-only keeps it from changing.",
)

DirectoryOption = Annotated[
    Path | None,
    typer.Option("--directory", help="Another cache directory.", metavar="DIR"),
]
Identifiers = Annotated[list[str], typer.Argument(help="Entries, as `list` names them.")]


def _open(directory: Path | None) -> DirectoryCache:
    from pteron.cache import DirectoryCache
    from pteron.cache.default import default_directory

    return DirectoryCache(directory) if directory else default_directory()


@app.command("path")
def path(directory: DirectoryOption = None, json: JsonOption = False) -> None:
    """Print the cache's directory."""
    opened = _open(directory)
    if json:
        print_json({"path": str(opened.path), "exists": opened.path.is_dir()})
    else:
        typer.echo(opened.path)


@app.command("list")
def list_entries(directory: DirectoryOption = None, json: JsonOption = False) -> None:
    """List the entries, and in what those of one payload differ."""
    from pteron.cache.differences import distinguishing

    found = _open(directory).entries()
    differing = distinguishing(found)
    if json:
        print_json([_as_json(entry) | {"differs": differing[entry.identifier]} for entry in found])
    else:
        _print_entries(found, differing)


@app.command("stats")
def stats(directory: DirectoryOption = None, json: JsonOption = False) -> None:
    """Count hits, misses, stores, evictions, broken entries, and seconds saved."""
    opened = _open(directory)
    found = opened.entries()
    answer = {
        "entries": len(found),
        "bytes": sum(entry.manifest.size for entry in found if entry.manifest),
        "max_bytes": opened.limits.max_bytes,
        **asdict(opened.statistics()),
    }
    if json:
        print_json(answer)
    else:
        for name, value in answer.items():
            typer.echo(f"{name.replace('_', ' '):<24}{_number(value)}")


@app.command("verify")
def verify(
    identifiers: Annotated[
        list[str] | None, typer.Argument(help="Entries; all of them by default.")
    ] = None,
    directory: DirectoryOption = None,
    json: JsonOption = False,
) -> None:
    """Compare every byte with the digests, and remove broken entries: exit 1 if there was one."""
    outcome = _open(directory).verify(identifiers or None)
    broken = {identifier: problem for identifier, problem in outcome.items() if problem}
    if json:
        print_json({"verified": len(outcome), "broken": broken})
    else:
        for identifier, problem in broken.items():
            typer.echo(f"{identifier}: {problem}")
        typer.echo(f"{len(outcome)} verified, {len(broken)} broken and removed")
    if broken:
        raise typer.Exit(_NEGATIVE)


@app.command("remove")
def remove(
    identifiers: Identifiers, directory: DirectoryOption = None, json: JsonOption = False
) -> None:
    """Remove entries: exit 1 if one was not there."""
    opened = _open(directory)
    removed = {identifier: opened.remove(identifier) for identifier in identifiers}
    if json:
        print_json(removed)
    else:
        for identifier, was_there in removed.items():
            typer.echo(f"{identifier}: {'removed' if was_there else 'not there'}")
    if not all(removed.values()):
        raise typer.Exit(_NEGATIVE)


@app.command("evict")
def evict(
    max_size: Annotated[
        str | None, typer.Option(help="Keep no more than this: 500M, 10G.", metavar="SIZE")
    ] = None,
    max_age: Annotated[
        str | None, typer.Option(help="Keep what was used within: 12h, 30d.", metavar="AGE")
    ] = None,
    directory: DirectoryOption = None,
    json: JsonOption = False,
) -> None:
    """Evict the least recently used entries, and sweep what dead processes left.

    Without limits the cache's own are used. Entries in use stay.
    """
    from pteron.cache.evict import Limits
    from pteron.cache.units import parse_age, parse_size

    opened = _open(directory)
    limits = Limits(
        max_bytes=parse_size(max_size) if max_size else opened.limits.max_bytes,
        max_age=parse_age(max_age) if max_age else opened.limits.max_age,
    )
    evicted = opened.evict(limits)
    if json:
        print_json({"evicted": evicted})
    else:
        typer.echo(f"{evicted} evicted")


@app.command("purge")
def purge(directory: DirectoryOption = None, json: JsonOption = False) -> None:
    """Remove every entry."""
    opened = _open(directory)
    count = len(opened.entries())
    opened.purge()
    if json:
        print_json({"removed": count})
    else:
        typer.echo(f"{count} removed")


def _as_json(entry: Listed) -> dict[str, Any]:
    answer: dict[str, Any] = {"identifier": entry.identifier, "broken": entry.manifest is None}
    if entry.manifest:
        answer |= {
            "bytes": entry.manifest.size,
            "files": len(entry.manifest.files),
            "created": _time(entry.manifest.created),
            "last_used": _time(entry.last_used / 1e9),
            "compile_seconds": entry.manifest.compile_seconds,
            "key": dict(entry.manifest.key),
        }
    return answer


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, timezone.utc).isoformat(timespec="seconds")


def _number(value: float | None) -> str:
    if value is None:
        return "no limit"
    return f"{value:.1f}" if isinstance(value, float) else f"{value:,}"


def _print_entries(entries: list[Listed], differing: dict[str, dict[str, str]]) -> None:
    from pteron.cli.page import size
    from pteron.cli.text import printable

    for entry in entries:
        typer.echo(printable(entry.identifier))
        if entry.manifest is None:
            typer.echo("    broken")
            continue
        key = entry.manifest.key
        engine = printable(f"{key.get('engine', '')} {key.get('engine_version', '')}")
        used = _time(entry.last_used / 1e9)
        typer.echo(f"    {engine}, {size(entry.manifest.size)}, last used {used}")
        for name, value in differing[entry.identifier].items():
            typer.echo(printable(f"    {name}: {value or '(none)'}"))
