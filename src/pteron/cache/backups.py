"""Keeps a cache out of backups: what can be rebuilt need not be saved."""

from __future__ import annotations

import ctypes
import os
import plistlib
import sys
from contextlib import suppress

from pteron.cache import durable
from pteron.cache.layout import Layout

# The signature that https://bford.info/cachedir/ prescribes; programs look at its first 43 bytes.
_TAG = b"""Signature: 8a477f597d28d172789f06886806bc55
# This directory is a cache of models that pteron compiled. It can be deleted at any time.
# Backup programs leave it out; see https://bford.info/cachedir/
"""

# The extended attribute that Time Machine reads: what NSURLIsExcludedFromBackupKey writes, a binary
# property list of one string.
_XATTR = b"com.apple.metadata:com_apple_backup_excludeItem"
_XATTR_TEXT = "com.apple.backupd"


def is_tagged(layout: Layout) -> bool:
    """Whether the directory carries our tag."""
    with suppress(FileNotFoundError, IsADirectoryError, ValueError):
        return not layout.tag.is_symlink() and durable.read_file(layout.tag, len(_TAG)) == _TAG
    return False


def exclude_from_backups(layout: Layout) -> None:
    """Mark the directory as one that backups leave out."""
    durable.replace(layout.tag, _TAG, scratch=layout.new_tag)
    if sys.platform == "darwin":
        _set_attribute(os.fsencode(layout.root))


def _set_attribute(path: bytes) -> None:
    """setxattr(2) of macOS, which Python's os module lacks there."""
    library = ctypes.CDLL(None, use_errno=True)
    value = plistlib.dumps(_XATTR_TEXT, fmt=plistlib.FMT_BINARY)
    if library.setxattr(path, _XATTR, value, ctypes.c_size_t(len(value)), 0, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), os.fsdecode(path))
