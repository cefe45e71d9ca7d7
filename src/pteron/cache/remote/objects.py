"""The few things a cache does with an object store, with its errors as ours."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from pteron.errors import CacheError, CacheErrorCode, MissingExtraError, PteronError

try:
    import obstore
    from obstore.exceptions import (
        AlreadyExistsError,
        BaseError,
        NotSupportedError,
        PreconditionError,
    )
    from obstore.store import from_url
except ImportError as error:
    raise MissingExtraError("a cache in an object store", "remote") from error

if TYPE_CHECKING:
    from obstore import GetResult, UpdateVersion
    from obstore.store import ClientConfig, ObjectStore, RetryConfig

_ALLOW_HTTP = ("AWS_ALLOW_HTTP", "AZURE_ALLOW_HTTP", "GOOGLE_ALLOW_HTTP")
_TRUE = ("1", "true", "on", "yes")
_STREAM_CHUNK = 1 << 10  # small: what comes slowly must show, so that it can be given up
_SMALL = 16 << 20


class MissingObjectError(LookupError):
    """There is no such object."""


class Version(NamedTuple):
    """A version of an object, to replace that one and no other."""

    e_tag: str | None
    version: str | None

    def condition(self) -> UpdateVersion:
        """As ``obstore.put`` takes it: only what the store gave."""
        return {name: value for name, value in self._asdict().items() if value is not None}


class Deadline:
    """A time at which reading ends, whether or not everything came."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._end = time.monotonic() + seconds

    def check(self) -> None:
        """Raise TimeoutError once the time is over."""
        if time.monotonic() > self._end:
            raise TimeoutError(f"it takes longer than {self._seconds:g} seconds")


class Objects:
    """Named objects in one store. Every method raises CacheError (IO_ERROR) if the store fails."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store

    def read(self, path: str, deadline: Deadline) -> tuple[bytes, Version] | None:
        """A small object; None if there is none. One too large for an entry reads as empty."""
        with _errors(f"read {path}"):
            try:
                result = obstore.get(self._store, path)
            except FileNotFoundError:
                return None
            version = Version(result.meta["e_tag"], result.meta["version"])
            if result.meta["size"] > _SMALL:
                return b"", version
            return b"".join(_chunks(result, deadline)), version

    def stream(self, path: str, deadline: Deadline) -> Iterator[bytes]:
        """A large object. Raises MissingObjectError if there is none."""
        with _errors(f"read {path}"):
            try:
                result = obstore.get(self._store, path)
            except FileNotFoundError as error:
                raise MissingObjectError(f"{path} is missing") from error
            yield from _chunks(result, deadline)

    def write(self, path: str, content: Iterator[bytes]) -> None:
        """Write an object, or replace it; a large one in parts."""
        with _errors(f"write {path}"):
            first = next(content, b"")
            second = next(content, b"")
            if second:
                obstore.put(self._store, path, itertools.chain((first, second), content))
            else:
                obstore.put(self._store, path, first, use_multipart=False)

    def swap(self, path: str, content: bytes, old: Version | None, deadline: Deadline) -> bool:
        """Write a small object if it is absent, or still the old version; False if it is not."""
        with _errors(f"write {path}"):
            try:
                mode = "create" if old is None else old.condition()
                obstore.put(self._store, path, content, mode=mode, use_multipart=False)
            except (AlreadyExistsError, PreconditionError):
                return False
            except (NotSupportedError, NotImplementedError):
                return self._swap_without_conditions(path, content, old, deadline)
        return True

    def delete(self, path: str) -> bool:
        """Delete an object; False if there was none."""
        with _errors(f"delete {path}"):
            try:
                obstore.head(self._store, path)
                obstore.delete(self._store, path)
            except FileNotFoundError:
                return False
        return True

    def delete_all(self, prefix: str) -> None:
        """Delete every object whose path begins with this one."""
        with _errors(f"delete {prefix}"):
            for batch in obstore.list(self._store, prefix):
                obstore.delete(self._store, [entry["path"] for entry in batch])

    def _swap_without_conditions(
        self, path: str, content: bytes, old: Version | None, deadline: Deadline
    ) -> bool:
        """For stores that know no conditions: looks first, so the last of two at once wins."""
        found = self.read(path, deadline)
        if (found[1] if found else None) != old:
            return False
        obstore.put(self._store, path, content, use_multipart=False)
        return True


def open_store(url: str, client: ClientConfig, retry: RetryConfig) -> ObjectStore:
    """The store at a URL. Raises CacheError (INITIALIZATION_FAILED) if there can be none.

    Options of a client given here replace those of the environment, so the one that test servers
    need is handed on.
    """
    if any(os.environ.get(name, "").lower() in _TRUE for name in _ALLOW_HTTP):
        client = {**client, "allow_http": True}
    try:
        return from_url(url, client_options=client, retry_config=retry)
    except (BaseError, ValueError, TypeError) as error:
        message = f"cannot use {url}: {_first_line(error)}"
        raise CacheError(CacheErrorCode.INITIALIZATION_FAILED, message) from error


def _chunks(result: GetResult, deadline: Deadline) -> Iterator[bytes]:
    for chunk in result.stream(_STREAM_CHUNK):
        deadline.check()
        yield bytes(chunk)


@contextmanager
def _errors(action: str) -> Iterator[None]:
    try:
        yield
    except PteronError:
        raise
    except (BaseError, OSError, ValueError) as error:
        message = f"cannot {action} in the object store: {_first_line(error)}"
        raise CacheError(CacheErrorCode.IO_ERROR, message) from error


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [repr(error)])[0]
