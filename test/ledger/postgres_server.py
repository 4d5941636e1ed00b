"""A PostgreSQL server of our own for tests: in a temporary directory, on a socket, gone afterwards."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

DEADLINE = 60.0
PORT = 5432  # part of the socket's name only: the server does not listen on the network
USER = "adf"


def find_programs() -> Path | None:
    """The newest directory with initdb and postgres: on the PATH, or where Debian puts them."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: float(path.parent.name))
    for path in [*reversed(found), Path(shutil.which("initdb") or "/nowhere").resolve().parent]:
        if all((path / program).exists() for program in ("initdb", "postgres")):
            return path
    return None


WHY_NOT = "PostgreSQL's server programs are missing: apt-get install postgresql"


class PostgresServer:
    """Starts at construction; ``conninfo`` is what a client needs."""

    def __init__(self) -> None:
        programs = find_programs()
        if programs is None:
            raise RuntimeError(WHY_NOT)
        self.programs = programs
        # A short path: a socket's name has at most 107 bytes.
        self.directory = Path(tempfile.mkdtemp(prefix="adfpg", dir="/tmp"))
        self.account: dict[str, object] = {}
        if os.getuid() == 0:  # the server refuses to run as root
            entry = next(
                pwd.getpwnam(name)
                for name in ("postgres", "nobody")
                if name in {p.pw_name for p in pwd.getpwall()}
            )
            self.account = {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
            os.chown(self.directory, entry.pw_uid, entry.pw_gid)
        self.process: subprocess.Popen[bytes] | None = None
        subprocess.run(
            [
                programs / "initdb",
                "-D",
                self.data,
                "-U",
                USER,
                "-A",
                "trust",
                "-E",
                "UTF8",
                "--locale=C",
                "--no-sync",
            ],
            check=True,
            stdout=subprocess.DEVNULL,
            cwd="/",
            **self.account,
        )
        self.start()

    @property
    def data(self) -> Path:
        return self.directory / "data"

    @property
    def conninfo(self) -> str:
        return f"host={self.directory} port={PORT} user={USER} dbname=postgres"

    @property
    def url(self) -> str:
        return f"postgresql://{USER}@/postgres?host={self.directory}&port={PORT}"

    def start(self) -> None:
        """Start the server and wait until it answers."""
        options = ["-c", "listen_addresses=", "-c", "fsync=on", "-c", "max_connections=30"]
        with (self.directory / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [
                    self.programs / "postgres",
                    "-D",
                    self.data,
                    "-k",
                    self.directory,
                    "-p",
                    str(PORT),
                    *options,
                ],
                stdout=log,
                stderr=log,
                cwd="/",
                **self.account,
            )
        self._wait()

    def _wait(self) -> None:
        import psycopg

        deadline = time.monotonic() + DEADLINE
        while True:
            try:
                return psycopg.connect(self.conninfo, connect_timeout=2).close()
            except psycopg.OperationalError:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError((self.directory / "log").read_text()[-2000:]) from None
            time.sleep(0.01)  # between two looks at a condition with a deadline

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """SIGINT ends it in order, SIGQUIT at once and without a clean state, as a crash would."""
        if self.process is not None:
            self.process.send_signal(how)
            self.process.wait(DEADLINE)
            self.process = None

    def restart(self, how: signal.Signals = signal.SIGQUIT) -> None:
        """Stop it so, and start it again."""
        self.stop(how)
        self.start()

    def close(self) -> None:
        """Stop it and delete its directory."""
        self.stop(signal.SIGQUIT)  # nothing is worth writing down
        shutil.rmtree(self.directory, ignore_errors=True)
