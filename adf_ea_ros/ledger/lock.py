"""The right to write a ledger that is a file: a lock that the kernel takes back when its holder dies.

The lock is on a file beside the ledger, which also says in words who holds it. What decides is the lock
alone; the words are for the message. A process that was killed leaves words behind but no lock, so that the
next one takes over without waiting. The lock file is never deleted: that would let two processes lock two
files of one name.
"""

from __future__ import annotations

import fcntl
import os
import time
import weakref
from pathlib import Path

import msgspec

from adf_ea_ros.ledger.store import Holder

_WORDS_APPEAR_WITHIN = 1.0  # seconds between taking the lock and saying who did, on a machine under load


class FileLock:
    """The lock file at ``path``."""

    def __init__(self, path: Path) -> None:
        """Touches nothing yet."""
        self.path = path
        self._file = -1

    def acquire(self, holder: Holder) -> Holder | None:
        """Take the lock, and say that ``holder`` has it; or the one who has it already.

        Raises:
            OSError: the file cannot be made or written.
        """
        self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            other = self._other()
            self.release()
            return other
        except OSError:
            self.release()
            raise
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, msgspec.json.encode(holder) + b"\n", 0)
        _held.add(self)
        return None

    def release(self) -> None:
        """Let the lock go, if it is held here."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _other(self) -> Holder:
        """Who holds the lock. Taken just now, it may still bear the words of the one before."""
        deadline = time.monotonic() + _WORDS_APPEAR_WITHIN
        while True:
            try:
                holder = msgspec.json.decode(self.path.read_bytes(), type=Holder)
                if alive(holder) or time.monotonic() > deadline:
                    return holder
            except (msgspec.DecodeError, OSError):
                if time.monotonic() > deadline:
                    return Holder(
                        "a process that did not say its name", 0, os.uname().nodename, "an unknown time"
                    )
            time.sleep(0.005)


def alive(holder: Holder) -> bool:
    """The holder's process exists; true where that cannot be known, for it is on another machine."""
    if holder.host != os.uname().nodename:
        return True
    try:
        os.kill(holder.pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


_held: weakref.WeakSet[FileLock] = weakref.WeakSet()


def _forget_in_child() -> None:
    # A forked child shares the lock with its parent: if it kept the file open, it would hold the lock after
    # the parent's death, and nobody could take over. Closing the child's copy leaves the parent's lock alone.
    for lock in list(_held):
        lock.release()


os.register_at_fork(after_in_child=_forget_in_child)
