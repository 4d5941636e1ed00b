"""A complete verification beside the process that writes.

A start recomputes the newest records only, so that it does not take longer as history grows. What is older is
looked through by another process, at low priority, while work goes on: the writer is told of what it finds.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
import sys
from pathlib import Path

import msgspec

from adf_ea_ros.ledger.errors import LedgerError
from adf_ea_ros.ledger.opening import open_ledger
from adf_ea_ros.ledger.store import Verification


class Inspector:
    """One verification under way. ``fault`` says why it gave no result, if it did not."""

    def __init__(self, where: str, mark: Path | None = None, authority: str = "") -> None:
        """Start it. The arguments are those of ``open_ledger``."""
        words = [sys.executable, "-m", __name__, where]
        words += [f"--mark={mark}"] if mark is not None else []
        words += [f"--authority={authority}"]
        self.fault = ""
        self._process: subprocess.Popen[bytes] | None = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for the authority, which ends this
        )

    @property
    def running(self) -> bool:
        """There is a result to wait for."""
        return self._process is not None

    def poll(self) -> Verification | None:
        """The result, once; nothing while there is none yet."""
        if self._process is None or self._process.poll() is None:
            return None
        said, complaint = self._process.communicate()
        self._process = None
        try:
            return msgspec.json.decode(said, type=Verification)
        except msgspec.DecodeError:
            lines = complaint.decode(errors="replace").strip().splitlines()
            self.fault = lines[-1] if lines else "it ended without a word"
            return None

    def close(self) -> None:
        """Give it up."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


def main() -> int:
    """Verify, and print what was found as JSON; 0 also where something was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("where")
    parser.add_argument("--mark", type=Path)
    parser.add_argument("--authority", default="")
    asked = parser.parse_args()
    with contextlib.suppress(OSError):
        os.nice(10)
    try:
        with open_ledger(asked.where, mark=asked.mark, read_only=True, authority=asked.authority) as ledger:
            said = msgspec.json.encode(ledger.verify())
    except LedgerError as error:
        print(error, file=sys.stderr)
        return 1
    sys.stdout.buffer.write(said)
    return 0


if __name__ == "__main__":
    sys.exit(main())
