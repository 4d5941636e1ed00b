"""Processes under test: started in a group of their own, read all the time, and ended whatever happens."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from types import TracebackType

from typing_extensions import Self

from adf_ea_ros.testing.waiting import TimedOut, wait_until


class NodeProcess:
    """One running command; a context manager that ends it, and whatever it started."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        """Start ``command``."""
        self.command = list(command)
        self._lines: list[str] = []
        self._process = subprocess.Popen(
            self.command,
            env={**environment, "PYTHONUNBUFFERED": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,  # Ctrl-C at the terminal is for the test runner, which then ends this
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @classmethod
    def of_module(cls, module: str, arguments: Sequence[str], environment: Mapping[str, str]) -> NodeProcess:
        """Run ``python -m module`` with this Python."""
        return cls([sys.executable, "-m", module, *arguments], environment)

    @property
    def pid(self) -> int:
        """Process id, which is also the id of its group."""
        return self._process.pid

    @property
    def output(self) -> str:
        """Everything it has printed so far, both streams."""
        return "".join(self._lines)

    @property
    def running(self) -> bool:
        """Whether it has not ended yet."""
        return self._process.poll() is None

    def wait_for_line(self, pattern: str, timeout: float = 20.0) -> re.Match[str]:
        """The first match of ``pattern`` in the output.

        Raises:
            TimedOut: nothing matched in time, or the process ended without it; with the output.
        """
        expression = re.compile(pattern)

        def found() -> re.Match[str] | bool | None:
            over = not self.running and not self._reader.is_alive()
            return expression.search(self.output) or over

        try:
            match = wait_until(found, timeout)
        except TimedOut:
            match = True
        if not isinstance(match, re.Match):
            raise TimedOut(f"{self.command} never printed {pattern!r}:\n{self.output}")
        return match

    def interrupt(self, timeout: float = 10.0) -> int:
        """SIGINT, as Ctrl-C does; gives the exit code."""
        return self._end(signal.SIGINT, timeout)

    def terminate(self, timeout: float = 10.0) -> int:
        """SIGTERM; gives the exit code."""
        return self._end(signal.SIGTERM, timeout)

    def kill(self, timeout: float = 10.0) -> int:
        """SIGKILL to the process and its children; gives the exit code."""
        return self._end(signal.SIGKILL, timeout)

    def wait(self, timeout: float = 20.0) -> int:
        """The exit code, once it has ended by itself.

        Raises:
            TimedOut: it has not; with the output.
        """
        try:
            code = self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise TimedOut(f"{self.command} still runs after {timeout} s:\n{self.output}") from None
        self._reader.join(timeout)
        return code

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    def end(self, patience: float = 5.0) -> None:
        """End it by SIGTERM, so that it can clean up, and what is left of its group by SIGKILL."""
        if self.running:
            self._process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(patience)
        with contextlib.suppress(ProcessLookupError):  # nothing is left
            os.killpg(self.pid, signal.SIGKILL)
        self.wait()

    def _end(self, number: signal.Signals, timeout: float) -> int:
        if self.running:
            if number is signal.SIGKILL:
                os.killpg(self.pid, number)
            else:
                self._process.send_signal(number)
        return self.wait(timeout)

    def _read(self) -> None:
        stream = self._process.stdout
        if stream is not None:
            for line in stream:
                self._lines.append(line)
            stream.close()
