"""What a ledger says in words, and the commands that say it: on a ledger that the authority itself wrote."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
import typing
from pathlib import Path

import pytest
from typer.testing import CliRunner

from adf_ea_ros.authority import events as ev
from adf_ea_ros.authority.decide import decide
from adf_ea_ros.authority.model import Obligation, ObligationKind
from adf_ea_ros.authority.requests import Begin
from adf_ea_ros.authority.state import State
from adf_ea_ros.cli.main import app
from adf_ea_ros.contracts.conditions import Clause, Condition, Operator
from adf_ea_ros.contracts.model import Role
from adf_ea_ros.evidence.types import Requirement
from adf_ea_ros.ledger import timeline
from adf_ea_ros.ledger.explain import explain_attempt
from adf_ea_ros.ledger.folding import fold_records, settled_episodes
from adf_ea_ros.ledger.record import SYSTEM, Record, canonical
from adf_ea_ros.ledger.sqlite import SqliteLedger
from adf_ea_ros.ledger.system import SystemEvent
from adf_ea_ros.runtime.book import Book
from adf_ea_ros.runtime.service import AuthorityService
from studies.approvals.bench import Bench

TEST = Path(__file__).parents[1]


def load_rig():
    """The rig of the runtime's tests: heaters that may fail, and an authority that judges them."""
    spec = importlib.util.spec_from_file_location("ledger_rig", TEST / "runtime" / "rig.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["ledger_rig"] = module
    spec.loader.exec_module(module)
    return module.Rig


@pytest.fixture(scope="module")
def story(tmp_path_factory):
    """heater_a answers and does nothing, heater_b heats; measured and recorded."""
    path = tmp_path_factory.mktemp("story") / "ledger.db"
    rig = load_rig()(path)
    episode = rig.begin()
    rig.heat(rig.run(episode, "heat", "heater_a"), works=False)
    rig.refused(episode, "heat", "heater_b")
    rig.pass_time(5)
    rig.heat(rig.run(episode, "heat", "heater_b"))
    rig.pass_time(5)
    rig.measure(rig.run(episode, "measure", "probe"))
    rig.pass_time(3)
    state = rig.service.book.state(episode)
    rig.ledger.save_checkpoint(episode, state.version, encode(state))
    rig.ledger.close()
    return path, episode


def encode(state):
    from adf_ea_ros.authority.state import encode_state

    return encode_state(state)


@pytest.fixture
def copy(story, tmp_path):
    """A ledger of one's own to change."""
    path, episode = story
    for suffix in ("", ".mark"):
        (tmp_path / f"ledger.db{suffix}").write_bytes(path.with_name(path.name + suffix).read_bytes())
    return tmp_path / "ledger.db", episode


def run(*arguments, code=0):
    result = CliRunner().invoke(app, [str(a) for a in arguments])
    assert result.exit_code == code, f"{result.output}\n{result.exception!r}"
    return result.output


def tamper(path, statement):
    from backends import SqliteBackend

    SqliteBackend(path.parent, path.name).tamper(statement)


# ---- words


def test_every_kind_of_event_has_its_line():
    assert set(timeline._LINES) == set(typing.get_args(ev.AnyEvent)) | set(typing.get_args(SystemEvent))


def test_every_record_of_the_story_is_read(story):
    with SqliteLedger(story[0], read_only=True) as ledger:
        for record in ledger.read_all():
            assert timeline.event_of(record) is not None
            assert timeline.describe(record).text


@pytest.mark.parametrize(
    ("payload", "words"),
    [
        (b'{"type":"Unheard","a":1,"b":[true,null]}', "a=1, b=[true,null]"),
        (b'{"type":"Dispatched","attempt":7}', "attempt=7"),
        (b"[1,2]", "[1,2]"),
        (b"\xff\xfe", "2 bytes that are no JSON"),
        (canonical({"long": "x" * 500}), "long=" + "x" * 117 + "..."),
    ],
)
def test_what_nobody_knows_is_shown_by_its_fields(payload, words):
    record = Record("e", 1, 1, 0, "Unheard", payload, b"", b"", 1, b"")
    assert timeline.describe(record).text == words


def test_folding_records_gives_the_state_at_the_checkpoint(story):
    from adf_ea_ros.authority.state import decode_state

    path, episode = story
    with SqliteLedger(path, read_only=True) as ledger:
        checkpoint = ledger.load_checkpoint(episode)
        records = [r for r in ledger.read(episode) if r.version <= checkpoint.version]
        assert fold_records(episode, records) == decode_state(checkpoint.state)
        assert list(settled_episodes(ledger)) == []  # it is still active


# ---- show


def test_show_lists_the_episodes(story):
    path, episode = story
    output = run("ledger", "show", path)
    assert re.search(rf"{episode} +\d+ records, generation 1", output)
    assert SYSTEM not in output


def test_show_tells_an_episode_in_order(story):
    path, episode = story
    output = run("ledger", "show", path, episode)
    told = ["EpisodeStarted", "to heater_a (first", "heater_a answered SUCCEEDED", "Dispatch heat refused",
            "R6.no_qualified_negative", "to heater_b (retry", "Certified", "to probe (first"]  # fmt: skip
    places = [output.index(words) for words in told]
    assert places == sorted(places)


def test_show_the_newest_only(story):
    path, episode = story
    assert len(run("ledger", "show", path, episode, "--last", 5).splitlines()) == 5


def test_show_the_ledgers_own(story):
    output = run("ledger", "show", story[0], SYSTEM)
    assert "generation 1 is test (process" in output
    assert "checkpoint of" in output


def test_show_what_is_not_there(story, tmp_path):
    assert "there is no episode 'x'" in run("ledger", "show", story[0], "x", code=1)
    assert "there is no ledger" in run("ledger", "show", tmp_path / "none", code=1)
    assert not (tmp_path / "none").exists()


def test_show_stops_at_damage(copy):
    path, episode = copy
    tamper(path, "UPDATE event SET kind = 'x' WHERE version = 7 AND episode <> '@ledger'")
    output = run("ledger", "show", path, episode, code=1)
    assert f"{episode} version 7" in output
    assert "ledger verify" in output


# ---- verify, export, archive, accept


def test_verify_a_whole_ledger(story):
    output = run("ledger", "verify", "--replay", story[0])
    assert "everything is as it was written" in output


def test_verify_finds_a_checkpoint_that_is_not_the_fold(copy):
    path, episode = copy
    with SqliteLedger(path) as ledger:
        ledger.open_writer("a liar")
        state = fold_records(episode, ledger.read(episode))
        ledger.save_checkpoint(episode, state.version - 1, encode(state))
    assert "everything is as it was written" in run("ledger", "verify", path)
    assert "not what the records before it fold to" in run("ledger", "verify", path, "--replay", code=1)


def test_verify_names_what_is_wrong_and_what_to_do(copy):
    path, episode = copy
    tamper(path, "UPDATE event SET kind = 'x' WHERE version = 7 AND episode <> '@ledger'")
    output = run("ledger", "verify", path, code=1)
    assert f"{episode} version 7: the record is not what was written" in output
    assert "Do not dispatch from this ledger" in output


def test_verify_against_a_head_that_was_noted(copy):
    path, _ = copy
    head = re.search(r"head +(\S+)", run("ledger", "verify", path)).group(1)
    run("ledger", "verify", path, "--expect", head)
    tamper(path, "DELETE FROM event WHERE position = (SELECT MAX(position) FROM event)")
    path.with_name("ledger.db.mark").unlink()
    assert "that was noted is not in this ledger" in run("ledger", "verify", path, "--expect", head, code=1)
    run("ledger", "verify", path, "--expect", "nonsense", code=2)


def test_export_to_a_file_and_verify_it(story, tmp_path):
    path, episode = story
    output = tmp_path / "export.jsonl"
    run("ledger", "export", path, episode, "-o", output)
    first, *records, last = map(json.loads, output.read_text().splitlines())
    assert (first["type"], last["type"], last["records"]) == ("Header", "Trailer", len(records))
    assert records[0]["payload"]["type"] == "Decided"
    assert "does not know that" not in run("ledger", "verify", output)
    output.write_text(output.read_text().replace("heater_a", "heater_b"))
    assert "[edited]" in run("ledger", "verify", output, code=1)
    assert "exists" in run("ledger", "export", path, "-o", output, code=1)


def test_export_of_a_damaged_ledger(copy, tmp_path):
    path, episode = copy
    tamper(path, "UPDATE event SET kind = 'x' WHERE version = 7 AND episode <> '@ledger'")
    assert "--sound" in run("ledger", "export", path, "-o", tmp_path / "no", code=1)
    assert "1 were not sound" in run("ledger", "export", path, "--sound", "-o", tmp_path / "yes", code=1)
    lines = [json.loads(text) for text in (tmp_path / "yes").read_text().splitlines()]
    behind = {
        line["version"]: line.get("after_fault", False) for line in lines if line.get("episode") == episode
    }
    assert 7 not in behind
    assert not any(behind[v] for v in range(1, 7))
    assert all(behind[v] for v in behind if v > 7)


def test_archive_by_name_and_read_it_back(copy, tmp_path):
    path, episode = copy
    assert "nothing was archived" in run("ledger", "archive", path, tmp_path / "old", "--settled")
    run("ledger", "archive", path, tmp_path / "old", code=2)
    run("ledger", "archive", path, tmp_path / "old", episode)
    assert "everything is as it was written" in run("ledger", "verify", path)
    assert "everything is as it was written" in run("ledger", "verify", tmp_path / "old", "--against", path)
    assert "archived in old" in run("ledger", "show", path)
    assert "was archived to old" in run("ledger", "show", path, episode, code=1)
    assert "no episode" in run("ledger", "archive", path, tmp_path / "more", "x", code=1)


def test_what_writes_is_refused_beside_a_running_authority(copy, tmp_path):
    path, episode = copy
    with SqliteLedger(path) as authority:
        authority.open_writer("/authority")
        for command in (
            ("archive", path, tmp_path / "old", episode),
            ("accept", path, "--by", "Ada", "--reason", "why not"),
        ):
            assert "is being written by /authority (process" in run("ledger", *command, code=1)
        run("ledger", "show", path)
        run("ledger", "verify", path)


def test_accept_a_ledger_without_its_mark(copy):
    path, _ = copy
    path.with_name("ledger.db.mark").unlink()
    assert "adf-ea ledger accept" in run("ledger", "verify", path, code=1)
    output = run("ledger", "accept", path, "--by", "Ada", "--reason", "the mark's disk died")
    assert "everything is as it was written" in output
    assert "Ada accepted the ledger as it was (the mark's disk died)" in run("ledger", "show", path, SYSTEM)


def test_accepting_needs_a_name_and_a_reason(copy):
    run("ledger", "accept", copy[0], code=2)


# ---- explain


def explain(story, what, code=0):
    path, _ = story
    return run("explain", what, "--ledger", path, code=code)


def test_explain_an_episode(story):
    output = explain(story, story[1])
    assert "Episode of task task/heat_measure_record@1.0.0 started" in output
    assert "(heat by heater_a) was superseded by a retry" in output
    assert "(heat by heater_b) has its effects proven" in output
    assert "It is active." in output


def test_explain_an_attempt_that_did_nothing(story):
    output = explain(story, f"{story[1]}.1")
    for words in (
        "for step heat to heater_a (first",
        "allowed it under R2",
        "is SUCCEEDED; no evidence of an effect",
        "E.early",  # evidence that was refused, and why
        "qualified negative, on 3 samples (o",  # evidence that was used
        "superseded by a retry",
    ):
        assert words in output
    assert len(output.splitlines()) < 12
    assert f"{story[1]}.2" not in output


def test_explain_tells_who_approved_an_attempt(tmp_path):
    plant = Bench(AuthorityService, lambda: SqliteLedger(tmp_path / "ledger.db"))
    plant.approve("bob")
    plant.look()
    plant.approve("ann")
    plant.look()
    sent = plant.send()
    lines = explain_attempt(plant.authority.book.events(plant.episode), sent)
    plant.close()
    given = f"{plant.episode}/a2"
    assert lines[0] == (
        f"At +1.000 s: ann approved attempt 1 of step vent on valve_a or valve_b, for 600.000 s ({given})."
    )
    assert f"under approval {given})" in lines[1]
    assert not any("bob" in line for line in lines)


def test_explain_a_refused_decision(story):
    path, episode = story
    timeline_text = run("ledger", "show", path, episode)
    assert "Dispatch heat refused" in timeline_text
    with SqliteLedger(path, read_only=True) as ledger:
        decisions = [e for e in map(timeline.event_of, ledger.read(episode)) if isinstance(e, ev.Decided)]
    refused = next(d for d in decisions if d.request == "Dispatch" and not d.authorized)
    output = explain(story, refused.id)
    assert f"decision {refused.id} on Dispatch about heat refused it under R6" in output
    assert "nothing qualified shows its effect absent" in output  # what the code means
    assert "Evidence that came with it" in output
    assert "Nothing followed from it." in output


def test_explain_a_granted_decision(story):
    path, episode = story
    with SqliteLedger(path, read_only=True) as ledger:
        decisions = [e for e in map(timeline.event_of, ledger.read(episode)) if isinstance(e, ev.Decided)]
    retry = next(d for d in decisions if d.request == "Dispatch" and d.rules == ("R6",) and d.authorized)
    output = explain(story, retry.id)
    assert "What followed: attempt" in output
    assert "to heater_b (retry" in output


@pytest.mark.parametrize("what", ["nothing", "nothing.1", "nothing:1", "{}.99", "{}:9999", ""])
def test_explain_what_is_not_there(story, what):
    assert "there is no" in explain(story, what.format(story[1]), code=1)


def test_explain_finds_the_one_ledger_of_the_node(story, tmp_path, monkeypatch):
    path, episode = story
    monkeypatch.setenv("ROS_HOME", str(tmp_path))
    assert "there are 0 ledgers" in run("explain", episode, code=1)
    (tmp_path / "adf_ea").mkdir()
    (tmp_path / "adf_ea" / "authority.db").write_bytes(path.read_bytes())
    assert "It is active." in run("explain", episode)


# ---- resolve


def test_resolve_lists_nothing_where_no_contract_takes_an_operators_word(story):
    path, episode = story
    assert "no contract of this episode takes an operator's word" in run("ledger", "resolve", path, episode)


def test_resolve_refuses_what_no_contract_takes(copy):
    path, episode = copy
    answer = ("--holds", "--by", "Ada", "--reason", "I saw it")
    output = run("ledger", "resolve", path, episode, "heat_to.heated_seen", *answer, code=1)
    assert "takes an operator's word for 'heat_to.heated_seen'" in output
    run("ledger", "resolve", path, episode, "heat_to.heated_seen", "--holds", code=2)
    assert "there is no episode" in run("ledger", "resolve", path, "x", code=1)


@pytest.fixture
def attestable(tmp_path):
    """An episode whose goal only a person can vouch for."""
    condition = Condition("lid", "closed", (Clause(Operator.EQ, True),))
    requirement = Requirement("lid.seen", condition, Role.OPERATOR, (), max_age=60_000_000_000)
    goal = Obligation("lid", ObligationKind.STATE, condition, (requirement,))
    start = ev.EpisodeStarted("e", "task/lid@1.0.0", "f", 5, (goal,), 1, 1)
    path = tmp_path / "ledger.db"
    with SqliteLedger(path) as ledger:
        book = Book(ledger, ledger.open_writer("a test"))
        state = State(episode="e")
        book.commit("e", state, decide(state, Begin(start), 5), 5)
    return path


def test_resolve_puts_a_persons_word_on_record(attestable):
    output = run("ledger", "resolve", attestable, "e")
    assert output == "lid.seen: lid.closed == True\n"
    answer = ("--holds", "--by", "Ada", "--reason", "I closed it")
    assert "Ada attests" in run("ledger", "resolve", attestable, "e", "lid.seen", *answer)
    timeline_text = run("ledger", "show", attestable, "e")
    assert "Attest Ada granted: Ada attests that lid.closed == True is true: I closed it" in timeline_text
    assert "on operator:Ada" in timeline_text
    assert "everything is as it was written" in run("ledger", "verify", attestable)


def test_resolve_is_refused_beside_a_running_authority(attestable):
    with SqliteLedger(attestable) as authority:
        authority.open_writer("/authority")
        answer = ("--absent", "--by", "Ada", "--reason", "it is open")
        assert "/authority" in run("ledger", "resolve", attestable, "e", "lid.seen", *answer, code=1)
        run("ledger", "resolve", attestable, "e")  # to look is always allowed
