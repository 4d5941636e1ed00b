"""Leases between the ledgers of one database: on a real server, with rivals in threads and in processes."""

from __future__ import annotations

import itertools
import os
import random
import signal
import threading
from collections import Counter
from pathlib import Path

import pytest
from processes import in_doomed_process
from typer.testing import CliRunner

from adf_ea_ros.cli.main import app
from adf_ea_ros.ledger.errors import LeaseHeld, LedgerUnavailable, NotTheWriter
from adf_ea_ros.ledger.fleet import Fleet
from adf_ea_ros.ledger.opening import open_ledger
from adf_ea_ros.ledger.record import canonical
from adf_ea_ros.ledger.shared import SCHEMA, ledger_schema
from adf_ea_ros.ledger.store import Exchange

pytestmark = pytest.mark.postgres
_number = itertools.count()


class Robots:
    """The ledgers of several robots in one database. ``door`` is a subject that no other test uses."""

    def __init__(self, server, folder):
        self.server, self.folder = server, folder
        self.number = next(_number)
        self.door = f"door_{self.number}"
        self.opened = []

    def name(self, robot):
        return f"/fleet{self.number}/{robot}/authority"

    def open(self, robot, *, write=True, schema=""):
        url = f"{self.server.url}#{schema}" if schema else self.server.url
        ledger = open_ledger(url, mark=self.folder / f"{robot}{schema}.mark", authority=self.name(robot))
        self.opened.append(ledger)
        if write:
            ledger.open_writer(self.name(robot))
        return ledger

    def held(self):
        with Fleet(self.server.url) as fleet:
            return {one.subject: one for one in fleet.leases()}.get(self.door)


@pytest.fixture
def robots(postgres_server, tmp_path):
    made = Robots(postgres_server, tmp_path)
    yield made
    for ledger in made.opened:
        ledger.close()


def append(ledger, *, take=(), free=(), attempt="e.1"):
    head = ledger.head("e")
    return ledger.append(
        "e",
        head.version if head else 0,
        [("Dispatched", canonical({"n": 1}))],
        time=1,
        generation=ledger.generation,
        exchange=Exchange(attempt, take, free),
    )


# ---- one database, many ledgers


def test_each_authority_has_a_ledger_of_its_own_and_its_name_for_itself(robots):
    one, two = robots.open("one"), robots.open("two")
    assert one.id != two.id
    append(one)
    assert list(two.episodes()) == []
    assert one.verify().ok
    with pytest.raises(NotTheWriter, match=f"is being written by {robots.name('one')}") as refusal:
        robots.open("one")
    assert refusal.value.holder.pid == os.getpid()
    # Not even with another ledger: a lease names its holder, and there must be one of that name.
    with pytest.raises(NotTheWriter, match=f"{robots.name('one')} with the ledger {ledger_schema('')}/fleet"):
        robots.open("one", schema=f"other_{robots.number}")
    one.close()
    assert robots.open("one", schema=f"other_{robots.number}").generation == 1


def test_the_name_of_a_dead_authority_is_free_at_once(robots):
    in_doomed_process(lambda: robots.open("one"))
    assert robots.open("one").generation == 2
    assert robots.open("two", schema=f"two_{robots.number}").generation == 1


def test_a_fleet_may_start_at_one_moment_on_an_empty_database(robots):
    import psycopg

    faults = []

    def start(url, robot, gate):
        try:
            gate.wait()
            mark = robots.folder / f"{robot}.mark"
            with open_ledger(url, mark=mark, authority=f"/{robot}/authority") as ledger:
                assert ledger.open_writer(f"/{robot}/authority") == 1
        except Exception as error:  # noqa: BLE001 - told by the test, not by a thread that nobody reads
            faults.append(error)

    for number in range(2):
        name = f"fleet_{robots.number}_{number}"
        with psycopg.connect(robots.server.conninfo, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        url, gate = robots.server.url.replace("/postgres?", f"/{name}?"), threading.Barrier(4)
        threads = [threading.Thread(target=start, args=(url, f"r{number}_{n}", gate)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    assert faults == []


def test_schemas_follow_from_names(robots):
    assert ledger_schema("/authority") == ledger_schema("") == "adf_ea_ros"
    assert ledger_schema("/robot1/authority") == "adf_ea_ros/robot1/authority"
    with pytest.raises(LedgerUnavailable, match="longer than the 63 bytes"):
        open_ledger(robots.server.url, authority=f"/{'very_' * 12}long/authority")
    robots.open("one").close()
    with pytest.raises(LedgerUnavailable, match=f"these: .*#adf_ea_ros{robots.name('one')}"):
        open_ledger(f"{robots.server.url}#nowhere", read_only=True)


# ---- leases


def test_a_lease_goes_with_the_records_or_not_at_all(robots):
    one, two = robots.open("one"), robots.open("two")
    append(one, take=(robots.door,))
    assert [(x.subject, x.attempt) for x in one.own_leases()] == [(robots.door, "e.1")]
    assert one.leases([robots.door]) == []  # one's own is in nobody's way
    [seen] = two.leases([robots.door, "something"])
    assert (seen.holder, seen.attempt, seen.ledger) == (robots.name("one"), "e.1", one.id)
    with pytest.raises(LeaseHeld, match=robots.door):
        append(two, take=("before", robots.door, "zebra"))
    assert two.head("e") is None
    assert two.own_leases() == []  # also not what came before it in the same append
    append(two)
    append(one, take=(robots.door,), attempt="e.2")  # again is no conflict with oneself
    again = robots.held()
    assert (again.attempt, again.since) == ("e.2", seen.since)
    append(two, free=(robots.door,))  # nobody gives back what another one holds
    assert robots.held() == again
    append(one, free=(robots.door,))
    append(two, take=(robots.door,))
    assert robots.held().holder == robots.name("two")
    append(two, free=(robots.door,))


def test_a_ledger_of_one_authority_takes_the_same_calls(sqlite_backend):
    ledger = sqlite_backend.open()
    ledger.open_writer("/authority")
    assert append(ledger, take=("door",))[0].version == 1
    assert (ledger.leases(["door"]), ledger.own_leases(), ledger.lost_lease("door", "e.1")) == ([], [], "")


def test_rivals_in_threads_never_hold_it_together(robots):
    """Each takes it, leaves a trace in the room behind the door, and gives it back."""
    room, visits, faults = [], [], []

    def visit(robot, rounds):
        try:
            ledger = robots.open(robot)
            while rounds:
                try:
                    append(ledger, take=(robots.door,))
                except LeaseHeld:
                    continue
                room.append(robot)
                append(ledger)
                if room != [robot]:
                    faults.append(list(room))
                room.remove(robot)
                visits.append(robot)
                rounds -= 1
                append(ledger, free=(robots.door,))
        except Exception as error:  # noqa: BLE001 - told by the test, not by a thread that nobody reads
            faults.append(error)

    threads = [threading.Thread(target=visit, args=(name, 40)) for name in ("one", "two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert faults == []
    assert sorted(visits) == ["one"] * 40 + ["two"] * 40
    assert robots.held() is None


def test_a_killed_holder_holds_on_until_its_restart_gives_it_back(robots):
    two = robots.open("two")
    in_doomed_process(lambda: append(robots.open("one"), take=(robots.door,)))
    with pytest.raises(LeaseHeld):
        append(two, take=(robots.door,))
    one = robots.open("one")
    assert one.generation == 2
    assert [x.subject for x in one.own_leases()] == [robots.door]
    append(one, free=(robots.door,))
    append(two, take=(robots.door,))
    append(two, free=(robots.door,))


def test_a_process_killed_before_its_commit_took_nothing(robots):
    def die_in_the_transaction():
        ledger = robots.open("one")
        ledger._commit = lambda: os.kill(os.getpid(), signal.SIGKILL)
        append(ledger, take=(robots.door,))

    in_doomed_process(die_in_the_transaction)
    two = robots.open("two")
    append(two, take=(robots.door,))  # waits for the server to end the dead one's transaction, if it must
    assert robots.open("one").head("e") is None
    append(two, free=(robots.door,))


def test_a_commit_in_doubt_is_settled_with_its_lease(robots, monkeypatch):
    one = robots.open("one")
    commit = one._commit

    def lost():
        commit()
        one._connection.close()
        commit()

    monkeypatch.setattr(one, "_commit", lost)
    with pytest.raises(LedgerUnavailable) as doubt:
        append(one, take=(robots.door,))
    assert doubt.value.in_doubt
    monkeypatch.setattr(one, "_commit", commit)
    one.append(
        "e",
        0,
        [("Dispatched", canonical({"n": 1}))],
        time=1,
        generation=one.generation,
        exchange=Exchange("e.1", (robots.door,)),
    )
    assert one.head("e").version == 1
    assert robots.held().attempt == "e.1"
    append(one, free=(robots.door,))


# ---- the operator


def run(*arguments, code=0):
    result = CliRunner().invoke(app, [str(a) for a in arguments])
    assert result.exit_code == code, f"{result.output}\n{result.exception!r}"
    return result.output


def test_an_operator_lists_and_releases(robots):
    one, two = robots.open("one"), robots.open("two")
    append(one, take=(robots.door,))
    url = robots.server.url
    shown = run("ledger", "leases", url)
    assert f"{robots.door}: held by {robots.name('one')} for e.1 since 20" in shown
    assert f"ledger #adf_ea_ros{robots.name('two')}" in shown
    run("ledger", "release", url, robots.door, code=2)  # not without a name and a reason
    run("ledger", "release", url, robots.door, "--by", "ann", "--reason", "", code=1)
    told = run("ledger", "release", url, robots.door, "--by", "ann", "--reason", "it is bolted shut")
    assert f"{robots.name('one')} held {robots.door} for e.1" in told
    assert "nobody holds" in run(
        "ledger", "release", url, robots.door, "--by", "ann", "--reason", "again", code=1
    )
    assert one.lost_lease(robots.door, "e.1").startswith("ann released it at 20")
    assert one.lost_lease(robots.door, "e.1").endswith("it is bolted shut")
    assert two.lost_lease(robots.door, "e.1") == ""
    append(two, take=(robots.door,))
    append(one, free=(robots.door,))  # the first holder's end is not the second one's
    assert robots.held().holder == robots.name("two")
    append(two, free=(robots.door,))


def test_releases_are_only_added_to(robots):
    import psycopg

    append(robots.open("one"), take=(robots.door,))
    with Fleet(robots.server.url) as fleet:
        fleet.release(robots.door, "ann", "to see")
    with psycopg.connect(robots.server.conninfo, autocommit=True) as connection:
        for statement in ("DELETE FROM {}.release", "UPDATE {}.release SET by = 'bob'"):
            with pytest.raises(psycopg.Error, match="only added to"):
                connection.execute(statement.format(SCHEMA).encode())


def test_there_is_nothing_to_release_where_nothing_is_shared(tmp_path, postgres_server):
    assert "nobody to share with" in run("ledger", "leases", tmp_path / "ledger.db", code=1)
    import psycopg

    with psycopg.connect(postgres_server.conninfo, autocommit=True) as connection:
        connection.execute("CREATE DATABASE empty")
    assert "no authority ever wrote" in run(
        "ledger", "leases", postgres_server.url.replace("/postgres?", "/empty?"), code=1
    )
    assert "cannot be reached" in run(
        "ledger", "leases", f"postgresql://adf@/postgres?host={Path('/nowhere')}", code=1
    )


# ---- killed at any moment


def test_wherever_the_holder_is_killed_store_and_history_agree(robots):
    """What the last record says is held is held, and nothing else: before, in and behind the commits."""
    draw, found = random.Random(20261130), Counter()
    for _ in range(12):
        reader, writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            take_and_give_back(robots, writer)
        os.close(writer)
        with os.fdopen(reader, "rb") as told:
            for _ in range(draw.randrange(1, 12)):
                told.read(1)  # so many commits are acknowledged
        for _ in range(draw.randrange(3000)):
            os.getpid()  # and then some time, of another length each time
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        one = robots.open("one")
        head = one.head("e")
        assert bool(one.own_leases()) == (head.kind == "Taken"), head
        assert (robots.held() is not None) == (head.kind == "Taken")
        found[head.kind] += 1
        assert one.verify().ok
        one.close()
    assert set(found) == {"Taken", "GivenBack"}


def take_and_give_back(robots, told):
    """In a process that will be killed: one byte for each commit."""
    try:
        one = robots.open("one")
        head = one.head("e")
        version, held = (head.version, head.kind == "Taken") if head else (0, False)
        while True:
            change = Exchange("e.1", free=(robots.door,)) if held else Exchange("e.1", (robots.door,))
            items = [("GivenBack" if held else "Taken", canonical({}))]
            one.append("e", version, items, time=1, generation=one.generation, exchange=change)
            version, held = version + 1, not held
            os.write(told, b".")
    finally:
        os._exit(1)
