"""The signed description of a remote entry: nothing in it is believed before its signature is.

One line with the algorithm and the signature in base64, then the JSON that was signed.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import PurePosixPath

from pteron.cache.key import FORMAT_VERSION
from pteron.cache.manifest import check_seconds
from pteron.cache.remote.keys import SigningKey

_LONGEST_NAME = 255
_SHA256 = re.compile(r"[0-9a-f]{64}", re.ASCII)
_DOMAIN = b"pteron compiled model\n"


class UntrustedError(ValueError):
    """An entry that is not signed rightly, or whose content is not what was signed."""


@dataclass(frozen=True)
class Description:
    """What was signed.

    Attributes:
        identifier: the entry it describes; it is signed so that none can stand for another.
        sha256: hex digest of the blob: the content of all files, one after the other.
        files: path (relative, ``/``-separated) and size of each, in order.
        key: the parts of the :class:`~pteron.cache.CacheKey`.
        created: when it was stored, in seconds since the epoch.
        compile_seconds: how long the compile took.
    """

    identifier: str
    sha256: str
    files: list[tuple[str, int]]
    key: Mapping[str, object]
    created: float
    compile_seconds: float
    format_version: int = FORMAT_VERSION


def seal(description: Description, key: SigningKey) -> bytes:
    """Sign a description."""
    text = json.dumps(asdict(description)).encode()
    signature = base64.b64encode(key.sign(_DOMAIN + text)).decode()
    return f"{key.algorithm} {signature}\n".encode() + text


def unseal(sealed: bytes, key: SigningKey, identifier: str) -> Description:
    """Check the signature, then read. Raises UntrustedError unless all is right."""
    line, _, text = sealed.partition(b"\n")
    if not _is_signed(line, text, key):
        raise UntrustedError("it is not signed with the key of this cache")
    try:
        fields = json.loads(text)
        fields["files"] = [(_safe(path), _size(size)) for path, size in fields["files"]]
        description = Description(**fields)
        _check(description)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise UntrustedError(f"its description cannot be read: {error!r}") from error
    if description.identifier != identifier:
        raise UntrustedError(f"it is signed as entry {description.identifier}")
    return description


def _is_signed(line: bytes, text: bytes, key: SigningKey) -> bool:
    try:
        algorithm, encoded = line.decode("ascii").split(" ")
        signature = base64.b64decode(encoded, validate=True)
    except (ValueError, binascii.Error):
        return False
    return algorithm == key.algorithm and key.verify(signature, _DOMAIN + text)


def _safe(path: str) -> str:
    pure = PurePosixPath(path)
    if pure.is_absolute() or str(pure) != path or "\0" in path:
        raise ValueError(f"{path!r} is no path within an entry")
    longest = max((len(part.encode()) for part in pure.parts), default=0)  # no lone surrogates
    if not 0 < longest <= _LONGEST_NAME or ".." in pure.parts:
        raise ValueError(f"{path!r} is no path within an entry")
    return path


def _size(size: int) -> int:
    if type(size) is not int or size < 0:
        raise ValueError(f"{size!r} is no size of a file")
    return size


def _check(description: Description) -> None:
    """Raise ValueError or TypeError unless its files can be made, and its manifest kept."""
    paths = [PurePosixPath(path) for path, _ in description.files]
    directories = {parent for path in paths for parent in path.parents}
    if len(set(paths)) != len(paths) or not directories.isdisjoint(paths):
        raise ValueError("a path is that of two files, or of a file and a directory")
    if not isinstance(description.key, Mapping) or not _SHA256.fullmatch(description.sha256):
        raise ValueError("no key, or no digest")
    check_seconds(description.created)
    check_seconds(description.compile_seconds)
