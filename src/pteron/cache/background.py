"""Does work in a thread of its own, and waits for it at exit no longer than it is worth."""

from __future__ import annotations

import atexit
import contextvars
import logging
import queue
import threading
import weakref
from collections.abc import Callable

logger = logging.getLogger("pteron.cache")

_all: weakref.WeakSet[Background] = weakref.WeakSet()


class Background:
    """Runs jobs one after the other; at exit, unfinished ones get ``patience`` seconds."""

    def __init__(self, patience: float) -> None:
        self._patience: float | None = patience
        self._jobs: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._changed = threading.Condition()
        self._unfinished = 0
        self._thread: threading.Thread | None = None
        _all.add(self)
        atexit.register(_finish, weakref.ref(self))

    def submit(self, job: Callable[[], None]) -> None:
        """Run a job, which must not raise, soon; its stages go to the watchers of now."""
        context = contextvars.copy_context()
        with self._changed:
            self._unfinished += 1
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="pteron-upload", daemon=True)
                self._thread.start()
        self._jobs.put(lambda: context.run(job))

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until every job is done, or the time is over; whether they are."""
        with self._changed:
            return self._changed.wait_for(lambda: self._unfinished == 0, timeout)

    def finish(self) -> None:
        """Wait as long as is allowed at exit; once is enough."""
        patience, self._patience = self._patience, None
        if patience is not None and not self.flush(patience):
            logger.warning("%d shared compiled models were not uploaded in time", self._unfinished)

    def _run(self) -> None:
        while True:
            job = self._jobs.get()
            try:
                job()
            finally:
                del job
                with self._changed:
                    self._unfinished -= 1
                    self._changed.notify_all()


def finish_all() -> None:
    """Wait for all unfinished jobs of this process now, as long as is allowed at exit."""
    for background in list(_all):
        if not background.flush(0):
            background.finish()


def _finish(reference: weakref.ref[Background]) -> None:
    background = reference()
    if background is not None:
        background.finish()
