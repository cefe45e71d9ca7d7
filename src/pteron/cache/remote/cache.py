"""A cache of compiled models in an object store, shared by machines that trust a key."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager, suppress
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from pteron.cache.entry import Entry
from pteron.cache.failures import io_errors
from pteron.cache.flight import SingleFlight
from pteron.cache.identifier import check_identifier
from pteron.cache.key import FORMAT_VERSION, CacheKey
from pteron.cache.manifest import Manifest, describe
from pteron.cache.privately import PrivateDirectory, compile_privately, private_directory
from pteron.cache.protocol import Compile
from pteron.cache.remote import blob
from pteron.cache.remote.keys import SigningKey
from pteron.cache.remote.objects import (
    Deadline,
    MissingObjectError,
    Objects,
    Version,
    open_store,
)
from pteron.cache.remote.sealed import Description, UntrustedError, seal, unseal
from pteron.cache.source import check_details, check_source
from pteron.cache.tree import copy_files
from pteron.errors import CacheError, CacheErrorCode
from pteron.progress import transferred

if TYPE_CHECKING:
    from obstore.store import ObjectStore

logger = logging.getLogger("pteron.cache")


class ObjectStoreCache:
    """Compiled models in an object store: S3, GCS, Azure, HTTP with WebDAV, a directory, memory.

    It implements :class:`~pteron.cache.protocol.CompiledModelCache`. Each entry found is
    downloaded to a temporary directory, so put a :class:`~pteron.cache.TieredCache` before it.

    An entry is one small signed object, ``v1/entries/IDENTIFIER``, that names the digest of one
    blob, ``v1/blobs/IDENTIFIER/DIGEST``. The blob is written first; of two machines that publish
    at once the first one wins. An entry without a right signature, or whose blob is not what was
    signed, is reported and never used.

    Args:
        store: an ``obstore`` store; bound its silence by its client and retry options, or use
            :meth:`from_url`.
        key: what entries are signed with. With a public key the cache is read-only.
        patience: seconds that reading an entry may take in all, however it trickles in.
    """

    def __init__(self, store: ObjectStore, key: SigningKey, *, patience: float = 30.0) -> None:
        self.read_only = not key.can_sign
        self._objects = Objects(store)
        self._key = key
        self._patience = patience
        self._flight = SingleFlight()

    @classmethod
    def from_url(cls, url: str, key: SigningKey, *, patience: float = 30.0) -> ObjectStoreCache:
        """Open the store at ``s3://bucket/prefix``, ``gs://``, ``az://``, ``https://``, ``file://``.

        Credentials come from the environment, as the store's own tools have them. A connection
        that says nothing for a third of ``patience`` (in seconds) is given up, a request is
        repeated for no longer than that, and no entry is read for longer than all of it.
        """
        silence = timedelta(seconds=patience / 3)
        client = {"connect_timeout": silence / 2, "read_timeout": silence, "timeout": "10m"}
        retry = {"max_retries": 2, "retry_timeout": silence}
        return cls(open_store(url, client, retry), key, patience=patience)

    def find(self, identifier: str) -> Entry | None:
        """See :meth:`CompiledModelCache.find`."""
        deadline = Deadline(self._patience)
        sealed = self._objects.read(_entry_path(check_identifier(identifier)), deadline)
        if sealed is None:
            return None
        try:
            return self._download(unseal(sealed[0], self._key, identifier), deadline)
        except (UntrustedError, MissingObjectError) as error:
            logger.warning("the shared compiled model %s is not used: %s", identifier, error)
            return None

    def store(
        self,
        identifier: str,
        source: Path,
        *,
        key: Mapping[str, object] | None = None,
        compile_seconds: float = 0.0,
    ) -> Entry:
        """See :meth:`CompiledModelCache.store`.

        If another machine publishes the entry meanwhile, its entry stays.
        """
        check_identifier(identifier)
        check_details(key, compile_seconds)
        check_source(source)
        self._check_writable()
        directory = PrivateDirectory()
        with io_errors(f"copy {source} to {directory.path}"):
            copy_files(source, directory.path)
            files = describe(directory.path)
        manifest = Manifest(identifier, files, key or {}, time.time(), compile_seconds)
        self._publish(_describe(manifest, directory.path), directory.path)
        return self._entry(directory, manifest, hit=False)

    def remove(self, identifier: str) -> bool:
        """See :meth:`CompiledModelCache.remove`."""
        check_identifier(identifier)
        self._check_writable()
        removed = self._objects.delete(_entry_path(identifier))
        self._objects.delete_all(_blobs_path(identifier))
        return removed

    def purge(self) -> None:
        """See :meth:`CompiledModelCache.purge`. It is everyone's cache that is emptied."""
        self._check_writable()
        self._objects.delete_all(_entry_path(""))
        self._objects.delete_all(_blobs_path(""))

    def temporary_directory(self) -> AbstractContextManager[Path]:
        """See :meth:`CompiledModelCache.temporary_directory`."""
        return private_directory()

    def get_or_compile(self, key: CacheKey, compile: Compile) -> Entry:
        """See :meth:`CompiledModelCache.get_or_compile`. Machines do not wait for each other."""
        if self.read_only:
            return self.find(key.identifier) or compile_privately(key, compile)
        return self._flight.find_or_compile(self, key, compile)

    def _check_writable(self) -> None:
        if self.read_only:
            message = "the shared cache is read-only: its key only verifies"
            raise CacheError(CacheErrorCode.IO_ERROR, message)

    def _download(self, description: Description, deadline: Deadline) -> Entry:
        directory = PrivateDirectory()
        try:
            with io_errors(f"write {description.identifier} to {directory.path}"):
                stream = self._objects.stream(_blob_path(description), deadline)
                received = transferred("download", stream, _size(description))
                blob.unpack(received, description, directory.path)
                files = describe(directory.path)
        except BaseException:
            directory.release()
            raise
        manifest = Manifest(
            description.identifier,
            files,
            description.key,
            description.created,
            description.compile_seconds,
        )
        return self._entry(directory, manifest, hit=True)

    def _publish(self, description: Description, root: Path) -> None:
        """Write the blob, then the entry, unless another machine writes it meanwhile."""
        path = _entry_path(description.identifier)
        old = self._read(path)
        paths = [path for path, _ in description.files]
        content = transferred("upload", blob.chunks(root, paths), _size(description))
        self._objects.write(_blob_path(description), content)
        sealed, version = seal(description, self._key), old[1] if old else None
        if self._objects.swap(path, sealed, version, Deadline(self._patience)):
            superseded = self._unseal(old, description.identifier)
            current: Description | None = description
        else:
            superseded = description
            current = self._unseal(self._read(path), description.identifier)
        if superseded and current and superseded.sha256 != current.sha256:
            self._objects.delete(_blob_path(superseded))

    def _read(self, path: str) -> tuple[bytes, Version] | None:
        return self._objects.read(path, Deadline(self._patience))

    def _unseal(self, found: tuple[bytes, Version] | None, identifier: str) -> Description | None:
        """What is signed there, None if nothing is, or not rightly."""
        if found is not None:
            with suppress(UntrustedError):
                return unseal(found[0], self._key, identifier)
        return None

    def _entry(self, directory: PrivateDirectory, manifest: Manifest, *, hit: bool) -> Entry:
        def condemn(reason: str) -> bool:
            logger.warning("the shared compiled model %s: %s", manifest.identifier, reason)
            if self.read_only:
                return False
            path = _entry_path(manifest.identifier)
            current = self._unseal(self._read(path), manifest.identifier)
            if current is None or current.created == manifest.created:
                self.remove(manifest.identifier)
            return True

        return Entry(directory.path, manifest, hit=hit, release=directory.release, condemn=condemn)


def _describe(manifest: Manifest, root: Path) -> Description:
    return Description(
        identifier=manifest.identifier,
        sha256=blob.digest(blob.chunks(root, manifest.files)),
        files=[(path, file.size) for path, file in manifest.files.items()],
        key=manifest.key,
        created=manifest.created,
        compile_seconds=manifest.compile_seconds,
    )


def _size(description: Description) -> int:
    return sum(size for _, size in description.files)


def _entry_path(identifier: str) -> str:
    return f"v{FORMAT_VERSION}/entries/{identifier}"


def _blobs_path(identifier: str) -> str:
    return f"v{FORMAT_VERSION}/blobs/{identifier}"


def _blob_path(description: Description) -> str:
    return f"{_blobs_path(description.identifier)}/{description.sha256}"
