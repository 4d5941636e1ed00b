"""Full and read-only disks, locked databases, lost servers: a refusal with its reason, and recovery."""

from __future__ import annotations

import os
import resource
import select
import signal
import socket
import sqlite3
import subprocess
import threading
import time
from contextlib import closing

import pytest
from processes import in_doomed_process

from adf_ea_ros.ledger.errors import ConcurrentAppend, LedgerError, LedgerUnavailable, NotTheWriter
from adf_ea_ros.ledger.sqlite import SqliteLedger

BIG = [("Big", b'"' + b"x" * 20_000 + b'"')]
SMALL = [("Small", b"{}")]


def append(ledger, version, items=SMALL, episode="e"):
    return ledger.append(episode, version, items, time=version, generation=ledger.generation)


def append_until_refused(ledger):
    """How many were acknowledged, and the refusal."""
    for version in range(10_000):
        try:
            append(ledger, version, BIG)
        except LedgerUnavailable as refusal:
            return version, refusal
    raise AssertionError("it was never refused")


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 2 MiB."""
    directory = tmp_path / "disk"
    directory.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", directory],
        check=False,
        capture_output=True,
        text=True,
    )
    if made.returncode:
        pytest.skip(f"a small file system needs the right to mount: {made.stderr.strip()}")
    yield directory
    subprocess.run(["umount", "--lazy", directory], check=True)


def remount(directory, option):
    subprocess.run(["mount", "-o", f"remount,{option}", directory], check=True)


# ---- the disk


def test_a_full_disk_refuses_and_goes_on_when_there_is_room(small_disk):
    ballast = small_disk / "ballast"
    ballast.write_bytes(b"\0" * 1_200_000)
    with SqliteLedger(small_disk / "ledger.sqlite") as ledger:
        ledger.open_writer("a test")
        written, refusal = append_until_refused(ledger)
        assert written > 5
        assert "full" in refusal.reason
        assert not refusal.in_doubt
        assert ledger.head("e").version == written
        for _ in range(3):
            with pytest.raises(LedgerUnavailable, match="full"):
                append(ledger, written, BIG)
        ballast.unlink()
        append(ledger, written, BIG)
        assert ledger.verify().ok
    with SqliteLedger(small_disk / "ledger.sqlite") as ledger:
        ledger.open_writer("another test")
        assert ledger.head("e").version == written + 1


def test_a_disk_too_full_to_begin_a_ledger_on(small_disk):
    (small_disk / "ballast").write_bytes(b"\0" * (2 << 20))
    with pytest.raises(LedgerUnavailable):
        SqliteLedger(small_disk / "ledger.sqlite")
    (small_disk / "ballast").unlink()
    with SqliteLedger(small_disk / "ledger.sqlite") as ledger:
        append(ledger, ledger.open_writer("a test") - 1)


def test_a_file_that_may_not_grow(tmp_path):
    """The same without the right to mount: the process may write files of 200 kB only."""
    path = tmp_path / "ledger.sqlite"

    def work():
        with SqliteLedger(path) as ledger:
            ledger.open_writer("a test")
            resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, resource.RLIM_INFINITY))
            written, refusals = 0, []
            while len(refusals) < 3:
                try:
                    append(ledger, written, BIG)
                except LedgerUnavailable as refusal:
                    refusals.append(refusal)
                else:
                    written += 1
            assert written > 2
            assert all(refusal.reason and refusal.remedy for refusal in refusals)
            resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            append(ledger, written, BIG)
            (tmp_path / "written").write_text(str(written + 1))

    in_doomed_process(work)
    with SqliteLedger(path) as ledger:
        assert ledger.open_writer("another test") == 2
        assert ledger.verify().ok
        assert ledger.head("e").version == int((tmp_path / "written").read_text())


def test_a_disk_that_becomes_read_only(small_disk):
    with SqliteLedger(small_disk / "ledger.sqlite") as ledger:
        ledger.open_writer("a test")
        append(ledger, 0)
    remount(small_disk, "ro")
    with SqliteLedger(small_disk / "ledger.sqlite", read_only=True) as reader:
        assert len(list(reader.read("e"))) == 1
        assert reader.verify().ok
    with pytest.raises(LedgerUnavailable):
        SqliteLedger(small_disk / "ledger.sqlite").open_writer("another test")
    remount(small_disk, "rw")
    with SqliteLedger(small_disk / "ledger.sqlite") as ledger:
        ledger.open_writer("another test")
        append(ledger, 1)
        assert ledger.verify().ok


def test_a_directory_that_cannot_be_written(tmp_path):
    if os.getuid() == 0:
        pytest.skip("root may write everywhere")
    tmp_path.chmod(0o500)
    with pytest.raises(LedgerUnavailable):
        SqliteLedger(tmp_path / "ledger.sqlite")


def test_a_mark_that_cannot_be_written_does_not_fail_what_is_durable(small_disk, tmp_path):
    """The append is committed by then. That the mark lags is known, and shows as a fault of the mark."""
    (small_disk / "file").write_bytes(b"")
    impossible = small_disk / "file" / "mark"
    with SqliteLedger(tmp_path / "ledger.sqlite", mark=impossible) as ledger, pytest.raises(LedgerError):
        ledger.open_writer("a test")
    with SqliteLedger(tmp_path / "ledger.sqlite", mark=small_disk / "mark") as ledger:
        ledger.open_writer("a test")
        append(ledger, 0)
        ledger.mark.close()
        (small_disk / "mark").rename(small_disk / "away")
        (small_disk / "mark").mkdir()
        append(ledger, 1)
        assert "directory" in ledger.mark.fault
        assert ledger.head("e").version == 2


# ---- locks


def test_a_locked_sqlite_database_refuses_within_its_patience(sqlite_backend):
    ledger = sqlite_backend.open(patience=0.1)
    ledger.open_writer("a test")
    append(ledger, 0)
    with closing(sqlite3.connect(sqlite_backend.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        start = time.monotonic()
        with pytest.raises(LedgerUnavailable, match="locked") as refusal:
            append(ledger, 1)
        assert time.monotonic() - start < 2
        assert not refusal.value.in_doubt
        assert len(list(ledger.read("e"))) == 1  # reading goes on
        other.execute("ROLLBACK")
    append(ledger, 1)
    assert ledger.verify().ok


@pytest.mark.postgres
def test_a_locked_postgres_table_refuses_within_its_patience(postgres_backend):
    import psycopg

    ledger = postgres_backend.open(patience=0.2)
    ledger.open_writer("a test")
    append(ledger, 0)
    with psycopg.connect(postgres_backend.server.conninfo) as other:
        other.execute(f"LOCK TABLE {postgres_backend.schema}.event IN EXCLUSIVE MODE")
        with pytest.raises(LedgerUnavailable, match="locked"):
            append(ledger, 1)
        assert len(list(ledger.read("e"))) == 1
    append(ledger, 1)
    assert ledger.verify().ok


# ---- commits of unknown outcome


class Doubtful(SqliteLedger):
    """Its next commit fails with an error of the disk, having taken place or not."""

    takes_place: bool | None = None

    def _commit(self):
        if self.takes_place is None:
            return super()._commit()
        if self.takes_place:
            super()._commit()
        self.takes_place = None
        raise sqlite3.OperationalError("disk I/O error")


@pytest.mark.parametrize("took_place", [True, False])
@pytest.mark.parametrize("then", ["the same again", "something else", "another episode"])
def test_a_commit_of_unknown_outcome_is_settled_by_the_next_append(tmp_path, took_place, then):
    with Doubtful(tmp_path / "ledger.sqlite") as ledger:
        ledger.open_writer("a test")
        append(ledger, 0)
        ledger.takes_place = took_place
        with pytest.raises(LedgerUnavailable) as refusal:
            append(ledger, 1)
        assert refusal.value.in_doubt
        if then == "the same again":
            (record,) = append(ledger, 1)
            assert record.version == 2
            assert list(ledger.read("e"))[1:] == [record]
        elif then == "another episode":
            append(ledger, 0, episode="f")
        elif took_place:
            with pytest.raises(ConcurrentAppend):
                append(ledger, 1, [("Other", b"{}")])
        else:
            append(ledger, 1, [("Other", b"{}")])
        ledger_length = len(list(ledger.read("e")))
        assert ledger_length == (1 if then == "another episode" and not took_place else 2)
        assert ledger.verify().ok


@pytest.mark.parametrize("took_place", [True, False])
def test_a_start_of_unknown_outcome_can_be_repeated(tmp_path, took_place):
    with Doubtful(tmp_path / "ledger.sqlite") as ledger:
        ledger.takes_place = took_place
        with pytest.raises(LedgerUnavailable):
            ledger.open_writer("a test")
        assert ledger.open_writer("a test") == (2 if took_place else 1)
        append(ledger, 0)
        assert ledger.verify().ok


@pytest.mark.parametrize("took_place", [True, False])
def test_a_checkpoint_of_unknown_outcome_can_be_repeated(tmp_path, took_place):
    with Doubtful(tmp_path / "ledger.sqlite") as ledger:
        ledger.open_writer("a test")
        append(ledger, 0)
        ledger.takes_place = took_place
        with pytest.raises(LedgerUnavailable):
            ledger.save_checkpoint("e", 1, b"state")
        ledger.save_checkpoint("e", 1, b"state")
        append(ledger, 1)
        assert ledger.load_checkpoint("e").state == b"state"
        assert ledger.verify().ok


class Wire:
    """Stands between a client and the server, and cuts the line at the next COMMIT: before or behind it."""

    def __init__(self, directory, server):
        self.path = directory / f".s.PGSQL.{5432}"
        self.server = str(server.directory / ".s.PGSQL.5432")
        self.cut = ""
        self.kept = []
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(self.path))
        self.listener.listen()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.relay, args=(client,), daemon=True).start()

    def relay(self, client):
        server = socket.socket(socket.AF_UNIX)
        server.connect(self.server)
        with client, server:
            while True:
                for source in select.select([client, server], [], [])[0]:
                    block = source.recv(1 << 16)
                    if not block:
                        return
                    if source is client and b"COMMIT" in block and self.cut:
                        cut, self.cut = self.cut, ""
                        if cut == "behind":
                            server.sendall(block)
                            server.recv(1 << 16)  # it took place; the answer is lost
                        if cut == "hanging":
                            # The server does not learn that the client has gone; its transaction stays open.
                            self.kept.append(os.dup(server.fileno()))
                        return
                    (server if source is client else client).sendall(block)

    def close(self):
        self.listener.close()
        for descriptor in self.kept:
            os.close(descriptor)


@pytest.fixture
def wire(tmp_path, postgres_server):
    wire = Wire(tmp_path, postgres_server)
    yield wire
    wire.close()


@pytest.mark.postgres
@pytest.mark.parametrize("cut", ["before", "behind", "hanging"])
def test_a_connection_lost_at_the_commit_is_settled_by_the_same_append(postgres_backend, wire, cut):
    ledger = postgres_backend.open(patience=2)
    ledger._conninfo = f"host={wire.path.parent} port=5432 user=adf dbname=postgres"
    ledger._reconnect()
    ledger.open_writer("a test")
    append(ledger, 0)
    wire.cut = cut
    with pytest.raises(LedgerUnavailable) as refusal:
        append(ledger, 1)
    assert refusal.value.in_doubt
    with postgres_backend.open(read_only=True) as reader:
        assert len(list(reader.read("e"))) == (2 if cut == "behind" else 1)
    (record,) = append(ledger, 1)
    assert [r.version for r in ledger.read("e")] == [1, 2]
    assert ledger.head("e") == record
    assert ledger.verify().ok


@pytest.mark.postgres
def test_postgres_restarted_in_the_middle_of_appends(postgres_backend):
    """Crashes of the server at arbitrary moments; the appender repeats what was refused until it is taken."""
    server = postgres_backend.server
    ledger = postgres_backend.open()
    ledger.open_writer("a test")
    acknowledged, refusals, stop = [], [], threading.Event()
    failed = []

    def work():
        while not stop.is_set():
            try:
                acknowledged.extend(
                    append(ledger, len(acknowledged), [("K", b'{"n":%d}' % len(acknowledged))])
                )
            except LedgerUnavailable as refusal:
                refusals.append(refusal)
            except Exception as exc:  # noqa: BLE001 - for the main thread
                failed.append(exc)
                return

    thread = threading.Thread(target=work)
    thread.start()
    try:
        for _ in range(3):
            wait_for_more(acknowledged, 30, failed)
            server.restart(signal.SIGQUIT)
        wait_for_more(acknowledged, 30, failed)
    finally:
        stop.set()
        thread.join()
    assert failed == []
    assert len(refusals) >= 3
    assert list(ledger.read("e")) == acknowledged
    assert [r.version for r in acknowledged] == list(range(1, len(acknowledged) + 1))
    assert ledger.verify().ok


def wait_for_more(things, number, failed):
    goal = len(things) + number
    deadline = time.monotonic() + 60
    while len(things) < goal and not failed:
        assert time.monotonic() < deadline
        time.sleep(0.002)


@pytest.mark.postgres
def test_a_server_that_is_down_is_a_refusal_and_reading_recovers(postgres_backend):
    server = postgres_backend.server
    ledger = postgres_backend.open()
    ledger.open_writer("a test")
    append(ledger, 0)
    server.stop(signal.SIGQUIT)
    try:
        for attempt in (lambda: append(ledger, 1), lambda: list(ledger.read("e")), postgres_backend.open):
            with pytest.raises(LedgerUnavailable, match="cannot be reached"):
                attempt()
    finally:
        server.start()
    assert len(list(ledger.read("e"))) == 1
    append(ledger, 1)
    assert ledger.verify().ok


@pytest.mark.postgres
def test_a_writer_that_lost_its_connection_and_was_taken_over_is_refused(postgres_backend):
    import psycopg

    ledger = postgres_backend.open()
    ledger.open_writer("first")
    append(ledger, 0)
    with psycopg.connect(postgres_backend.server.conninfo, autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s)", (ledger._connection.info.backend_pid,))
    successor = postgres_backend.open(patience=5)
    assert successor.open_writer("second") == 2
    append(successor, 1)
    with pytest.raises(LedgerUnavailable):
        append(ledger, 2)  # finds its connection gone
    with pytest.raises(NotTheWriter, match="second"):
        append(ledger, 2)
    with pytest.raises(NotTheWriter):
        append(ledger, 2)
    successor.close()
    with pytest.raises(NotTheWriter):
        append(ledger, 2)
    assert successor.generation == 0


@pytest.mark.postgres
def test_a_writer_whose_successor_has_already_gone_is_refused_too(postgres_backend):
    import psycopg

    ledger = postgres_backend.open()
    ledger.open_writer("first")
    append(ledger, 0)
    with psycopg.connect(postgres_backend.server.conninfo, autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s)", (ledger._connection.info.backend_pid,))
    with postgres_backend.open(patience=5) as successor:
        successor.open_writer("second")
        append(successor, 1)
    with pytest.raises(LedgerUnavailable):
        append(ledger, 2)
    with pytest.raises(NotTheWriter, match="second"):
        append(ledger, 2)
    with postgres_backend.open(read_only=True) as reader:
        assert len(list(reader.read("e"))) == 2


# ---- processes


def test_a_killed_writers_lease_is_taken_over_at_once(backend):
    def work():
        ledger = backend.open()
        ledger.open_writer("the victim")
        append(ledger, 0)

    in_doomed_process(work)
    ledger = backend.open(patience=10)
    assert ledger.open_writer("the successor") == 2
    assert ledger.head("e").version == 1
    append(ledger, 1)


def test_a_child_of_a_dead_writer_does_not_keep_the_lease(sqlite_backend):
    """A forked helper that outlives the writer must not lock everybody out."""
    outlet, inlet = os.pipe()

    def work():
        ledger = sqlite_backend.open()
        ledger.open_writer("the victim")
        child = os.fork()
        if child == 0:
            signal.pause()
        os.write(inlet, str(child).encode())

    in_doomed_process(work)
    child = int(os.read(outlet, 20))
    try:
        assert sqlite_backend.open().open_writer("the successor") == 2
    finally:
        os.kill(child, signal.SIGKILL)


def test_a_forked_child_cannot_write_as_its_parent(sqlite_backend):
    ledger = sqlite_backend.open()
    ledger.open_writer("the parent")

    def work():
        with pytest.raises(NotTheWriter):
            append(ledger, 0)

    in_doomed_process(work)
    append(ledger, 0)
    assert ledger.verify().ok
