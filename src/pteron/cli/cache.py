"""``pteron cache``: what is in the cache of compiled models, and housekeeping."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pteron.cli.group import Group
from pteron.cli.options import PATH, json_option
from pteron.cli.output import print_json

if TYPE_CHECKING:
    from pteron.cache import DirectoryCache
    from pteron.cache.catalogue import Listed

_NEGATIVE = 1

directory_option = click.option(
    "--directory", type=PATH, metavar="DIR", help="Another cache directory."
)


@click.group(cls=Group)
def cache() -> None:
    """Look into the cache of compiled models.

    PTERON_CACHE_DIR and PTERON_CACHE_SIZE choose directory and quota; PTERON_CACHE=off turns
    caching off, PTERON_CACHE=read-only keeps it from changing.

    PTERON_CACHE_REMOTE is the URL (s3://bucket/prefix, gs://, az://, https://, file://) of an
    object store to share compiled models through. Its entries are signed, with the key in
    PTERON_CACHE_KEY or in the file PTERON_CACHE_KEY_FILE: an Ed25519 key in PEM (a public one
    reads only), or hmac-sha256: and hex digits of a shared secret. The commands here are about
    the directory only.
    """


def _open(directory: Path | None) -> DirectoryCache:
    from pteron.cache import DirectoryCache
    from pteron.cache.default import default_directory

    return DirectoryCache(directory) if directory else default_directory()


def _open_existing(directory: Path | None) -> DirectoryCache | None:
    """The cache, or None after saying so where there is none: looking must not make one."""
    opened = _open(directory)
    try:
        if any(opened.path.iterdir()):
            return opened
    except FileNotFoundError:
        pass
    except OSError:
        return opened  # which says what is wrong with it
    click.echo(f"there is no cache in {opened.path}", err=True)
    return None


@cache.command()
@directory_option
@json_option
def path(directory: Path | None, json: bool) -> None:
    """Print the cache's directory."""
    opened = _open(directory)
    if json:
        print_json({"path": str(opened.path), "exists": opened.path.is_dir()})
    else:
        click.echo(opened.path)


@cache.command("list")
@directory_option
@json_option
def list_entries(directory: Path | None, json: bool) -> None:
    """List the entries, and in what those of one payload differ."""
    from pteron.cache.differences import distinguishing

    opened = _open_existing(directory)
    found = opened.entries() if opened else []
    differing = distinguishing(found)
    if json:
        print_json([_as_json(entry) | {"differs": differing[entry.identifier]} for entry in found])
    else:
        _print_entries(found, differing)


@cache.command()
@directory_option
@json_option
def stats(directory: Path | None, json: bool) -> None:
    """Count hits, misses, evictions, and seconds saved.

    Stores and broken entries are counted, too.
    """
    from pteron.cache import Statistics

    opened = _open_existing(directory)
    found = opened.entries() if opened else []
    counts = opened.statistics() if opened else Statistics()
    answer = {
        "entries": len(found),
        "bytes": sum(entry.manifest.size for entry in found if entry.manifest),
        "max_bytes": (opened or _open(directory)).limits.max_bytes,
        **counts._asdict(),
    }
    if json:
        print_json(answer)
    else:
        for name, value in answer.items():
            click.echo(f"{name.replace('_', ' '):<24}{_number(value)}")


@cache.command()
@click.argument("identifiers", nargs=-1)
@directory_option
@json_option
def verify(identifiers: tuple[str, ...], directory: Path | None, json: bool) -> None:
    """Compare every byte with the digests, and remove broken entries.

    Exit 1 if one was broken, or one that was named is not there.
    """
    from pteron.cache.identifier import check_identifier

    opened = _open_existing(directory)
    outcome = opened.verify(identifiers or None) if opened else {}
    absent = [name for name in map(check_identifier, identifiers) if name not in outcome]
    broken = {identifier: problem for identifier, problem in outcome.items() if problem}
    if json:
        print_json({"verified": len(outcome), "broken": broken, "absent": absent})
    else:
        for identifier in absent:
            click.echo(f"{identifier}: not there")
        for identifier, problem in broken.items():
            click.echo(f"{identifier}: {problem}")
        click.echo(f"{len(outcome)} verified, {len(broken)} broken")
    if broken or absent:
        raise SystemExit(_NEGATIVE)


@cache.command()
@click.argument("identifiers", nargs=-1, required=True)
@directory_option
@json_option
def remove(identifiers: tuple[str, ...], directory: Path | None, json: bool) -> None:
    """Remove entries: exit 1 if one was not there."""
    from pteron.cache.identifier import check_identifier

    names = [check_identifier(identifier) for identifier in identifiers]
    opened = _open_existing(directory)
    removed = {name: opened is not None and opened.remove(name) for name in names}
    if json:
        print_json(removed)
    else:
        for identifier, was_there in removed.items():
            click.echo(f"{identifier}: {'removed' if was_there else 'not there'}")
    if not all(removed.values()):
        raise SystemExit(_NEGATIVE)


@cache.command()
@click.option("--max-size", metavar="SIZE", help="Keep no more than this: 500M, 10G.")
@click.option("--max-age", metavar="AGE", help="Keep what was used within: 12h, 30d.")
@directory_option
@json_option
def evict(max_size: str | None, max_age: str | None, directory: Path | None, json: bool) -> None:
    """Evict the least recently used entries.

    Without limits the cache's own are used. Entries in use stay; what dead processes left is
    swept.
    """
    from pteron.cache.evict import Limits
    from pteron.cache.units import parse_age, parse_size

    own = _open(directory).limits
    limits = Limits(
        max_bytes=parse_size(max_size) if max_size else own.max_bytes,
        max_age=parse_age(max_age) if max_age else own.max_age,
    )
    opened = _open_existing(directory)
    evicted = opened.evict(limits) if opened else 0
    if json:
        print_json({"evicted": evicted})
    else:
        click.echo(f"{evicted} evicted")


@cache.command()
@directory_option
@json_option
def purge(directory: Path | None, json: bool) -> None:
    """Remove every entry."""
    opened = _open_existing(directory)
    count = len(opened.entries()) if opened else 0
    if opened:
        opened.purge()
    if json:
        print_json({"removed": count})
    else:
        click.echo(f"{count} removed")


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
        click.echo(printable(entry.identifier))
        if entry.manifest is None:
            click.echo("    broken")
            continue
        key = entry.manifest.key
        engine = printable(f"{key.get('engine', '')} {key.get('engine_version', '')}")
        used = _time(entry.last_used / 1e9)
        click.echo(f"    {engine}, {size(entry.manifest.size)}, last used {used}")
        for name, value in differing[entry.identifier].items():
            click.echo(printable(f"    {name}: {value or '(none)'}"))
