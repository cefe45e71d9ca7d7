"""Forks children for tests that need many processes, or kill them."""

from __future__ import annotations

import os
import shutil
import traceback
from collections.abc import Callable

_ROOM = 1 << 30


def in_child(action: Callable[[], object]) -> int:
    """Run in a forked process; returns its pid. The child ends with 1 if the action raises."""
    pid = os.fork()
    if pid == 0:
        try:
            action()
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    return pid


def exit_code(pid: int) -> int:
    """Wait for a child: 0, 1 if its action raised, or minus the signal that killed it."""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def fast_directory() -> str | None:
    """Where flushing to the disk costs nothing, so that kills hit every other step as well.

    A place in memory, if it has room for what tests store; None if there is none.
    """
    if not os.access("/dev/shm", os.W_OK) or shutil.disk_usage("/dev/shm").free < _ROOM:
        return None
    return "/dev/shm"
