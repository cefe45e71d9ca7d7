"""What is known of a compiled model: its key in readable form, and its files with digests."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, TypeVar

from pteron.cache.tree import file_sizes

T = TypeVar("T")

MANIFEST_LIMIT = 16 << 20
"""No manifest is larger than this, in bytes."""

_CHUNK = 1 << 20
_FAR_FUTURE = 1e11


class FileRecord(NamedTuple):
    """Size in bytes and XXH3-128 digest (hex) of one file."""

    size: int
    digest: str


class Manifest(NamedTuple):
    """Describes one entry.

    Attributes:
        identifier: the entry's identifier.
        files: every file, by ``/``-separated path relative to the compiled model's directory.
        key: the parts of the :class:`~pteron.cache.CacheKey`; empty if it was stored without one.
        created: when it was stored, in seconds since the epoch.
        compile_seconds: how long the compile took, 0 if that is not known.
    """

    identifier: str
    files: Mapping[str, FileRecord]
    key: Mapping[str, object] = MappingProxyType({})
    created: float = 0.0
    compile_seconds: float = 0.0

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(record.size for record in self.files.values())

    def to_json(self) -> bytes:
        """The manifest as it is stored."""
        return json.dumps(
            {
                "identifier": self.identifier,
                "created": self.created,
                "compile_seconds": self.compile_seconds,
                "key": dict(self.key),
                "files": {path: [file.size, file.digest] for path, file in self.files.items()},
            },
            indent=1,
        ).encode()

    @classmethod
    def from_json(cls, data: bytes) -> Manifest:
        """Read a stored manifest. Raises ValueError if it is not one."""
        try:
            fields = json.loads(data)
            return cls(
                identifier=_typed(fields["identifier"], str),
                files={path: _record(*file) for path, file in fields["files"].items()},
                key=_typed(fields["key"], dict),
                created=check_seconds(fields["created"]),
                compile_seconds=check_seconds(fields["compile_seconds"]),
            )
        except (KeyError, TypeError, AttributeError, ArithmeticError, RecursionError) as error:
            raise ValueError(f"not a manifest: {error!r}") from error


def _record(size: int, digest: str) -> FileRecord:
    if type(size) is not int or size < 0 or not isinstance(digest, str):
        raise TypeError(f"not a file's size and digest: {size!r}, {digest!r}")
    return FileRecord(size, digest)


def _typed(value: T, kind: type[T]) -> T:
    if not isinstance(value, kind):
        raise TypeError(f"not a {kind.__name__}: {value!r:.200}")
    return value


def check_seconds(value: float) -> float:
    """A duration, or a time since the epoch, of this or a near century; raises ValueError."""
    if not 0 <= float(value) < _FAR_FUTURE:
        raise ValueError(f"not a time: {value!r}")
    return float(value)


def describe(root: Path) -> dict[str, FileRecord]:
    """Size and digest of every file of a compiled model.

    Raises:
        OSError: a file cannot be read, or something is no regular file.
    """
    sizes = file_sizes(root)
    return {path: FileRecord(sizes[path], digest(root / path)) for path in sorted(sizes)}


def digest(path: Path) -> str:
    """XXH3-128 of a file: it tells damage, not forgery."""
    import xxhash

    state = xxhash.xxh3_128()
    buffer = memoryview(bytearray(_CHUNK))
    with path.open("rb", buffering=0) as file:
        while count := file.readinto(buffer):
            state.update(buffer[:count])
    return state.hexdigest()


def damage(manifest: Manifest, root: Path) -> str | None:
    """Compare every byte of a compiled model with its manifest; None if they agree."""
    try:
        found = describe(root)
    except OSError as error:
        return str(error)
    for path in sorted(found.keys() | manifest.files.keys()):
        if found.get(path) != manifest.files.get(path):
            return f"{path!r} is not what was stored"
    return None
