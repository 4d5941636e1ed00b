"""The processes of the demo: started in a domain of their own, watched, and ended whatever happens."""

from __future__ import annotations

import contextlib
import ctypes
import os
import queue
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from typing_extensions import Self

from adf_ea_ros.nodes.isolation import DomainLease
from adf_ea_ros.nodes.support import EXIT_USAGE

_GRACE = 5.0  # seconds for a process to end by itself when asked
_PR_SET_PDEATHSIG = 1


class Ended(Exception):
    """A process ended that should have gone on; its last lines are in the text."""

    def __init__(self, child: Child) -> None:
        super().__init__(f"the {child.name} process ended with exit code {child.code}:\n{child.tail()}")
        self.child = child


class Child:
    """One process. Its output goes to a log file; ``lines`` also gives what it prints, where asked for."""

    def __init__(
        self, name: str, command: Sequence[str], environment: dict[str, str], log: Path, *, heard: bool
    ) -> None:
        """Start ``command``; ``heard``: its standard output is read line by line, and it has an input."""
        self.name = name
        self.log = log
        self.lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        with log.open("ab") as output:
            output.write(f"$ {shlex.join(command)}\n".encode())
            output.flush()
            self._process = subprocess.Popen(
                command,
                env=environment,
                stdin=subprocess.PIPE if heard else subprocess.DEVNULL,
                stdout=subprocess.PIPE if heard else output,
                stderr=output,
                start_new_session=True,  # Ctrl-C is for the demo, which then ends its processes in order
                preexec_fn=_die_with_parent,  # noqa: PLW1509 - one system call, before any thread exists there
            )
        self._reader: threading.Thread | None = None
        if heard:
            self._reader = threading.Thread(target=self._read, daemon=True)
            self._reader.start()

    @property
    def code(self) -> int | None:
        """The exit code; None while it runs."""
        return self._process.poll()

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    def write(self, line: str) -> None:
        """Give it one line of input."""
        stream = self._process.stdin
        if stream is not None:
            with contextlib.suppress(BrokenPipeError):
                stream.write(line.encode() + b"\n")
                stream.flush()

    def tail(self, count: int = 30) -> str:
        """The last lines of its log."""
        lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()
        return "\n".join(f"  {line}" for line in lines[-count:] if not line.startswith("$ "))

    def signal(self, number: signal.Signals) -> None:
        """Send a signal, where it still runs."""
        if self.code is None:
            self._process.send_signal(number)

    def kill(self) -> None:
        """SIGKILL to it and whatever it started; returns when it is gone."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self.join(_GRACE)

    def join(self, seconds: float) -> bool:
        """Wait for its end; whether it came."""
        try:
            self._process.wait(max(seconds, 0.0))
        except subprocess.TimeoutExpired:
            return False
        if self._reader is not None:
            self._reader.join(1.0)
        return True

    def close(self) -> None:
        """Give its pipes back; it must have ended."""
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    def _read(self) -> None:
        stream = self._process.stdout
        assert stream is not None
        with self.log.open("ab") as log:
            for line in stream:
                log.write(line)
                log.flush()
                self.lines.put(line.decode(errors="replace").rstrip("\n"))


class Stage:
    """All processes of one telling of a story; a context manager."""

    def __init__(self, domain: DomainLease, logs: Path) -> None:
        """``logs`` is a folder for what the processes print, and for ROS's own logs."""
        self._logs = logs
        self._environment = domain.environment()
        self._environment |= {
            "PYTHONUNBUFFERED": "1",
            "ROS_LOG_DIR": str(logs / "ros"),
            "RCUTILS_COLORIZED_OUTPUT": "0",
        }
        self.children: dict[str, Child] = {}

    def start(self, name: str, module: str, arguments: Sequence[str] = (), *, heard: bool = False) -> Child:
        """Run ``python -m module``; a name that ran before goes on in the same log."""
        command = [sys.executable, "-m", module, *arguments]
        log = self._logs / f"{name}.log"
        child = Child(name, command, self._environment, log, heard=heard)
        self.children[name] = child
        return child

    def check(self, *may_end: str) -> None:
        """Raises Ended where a process has ended that must not have."""
        ended = [c for c in self.children.values() if c.code is not None and c.name not in may_end]
        if not ended:
            return
        # What stops several, such as a malformed contract, is best told by the one that was started first.
        first = next(iter(self.children.values()))
        first.join(_GRACE if ended[0].code == EXIT_USAGE else 0.0)
        raise Ended(first if first.code is not None else ended[0])

    def close(self) -> None:
        """End everything: asked first, in reverse order of starting, then killed."""
        running = [child for child in reversed(self.children.values()) if child.code is None]
        for child in running:
            child.signal(signal.SIGTERM)
        end = time.monotonic() + _GRACE
        for child in running:
            if not child.join(end - time.monotonic()):
                child.kill()
        for child in self.children.values():
            child.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


_LIBC = ctypes.CDLL(None)


def _die_with_parent() -> None:
    """In the child: be killed when the demo is, even by a SIGKILL that nobody can handle."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
