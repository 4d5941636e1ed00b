"""Approvals (X12) on real nodes: given, used up, taken back, over a kill, over a revocation."""

import subprocess
import sys

import pytest
from adf_ea_ros.msg import Approval
from world import ABSENT, CONTRACTS, REFUSED, TASK, VERIFIED, listed

from adf_ea_ros.authority.grounding import Step
from adf_ea_ros.contracts.catalog import Catalog
from adf_ea_ros.ledger.sqlite import SqliteLedger
from adf_ea_ros.nodes.episodes import approval_msgs
from adf_ea_ros.runtime.book import Book
from adf_ea_ros.runtime.service import AuthorityService

pytestmark = [pytest.mark.ros, pytest.mark.slow]

S = 1_000_000_000
COMMAND = "from adf_ea_ros.cli.main import main; main()"


@pytest.fixture
def contracts(tmp_path):
    """The demo's contracts; ann and the planner may approve heating, and the planner may not."""
    heat = tmp_path / "heat_to.yaml"
    asked = "invocation:\n  approval: {max_age: 4 h, by: [ann, test]}\neffects:\n"
    heat.write_text(CONTRACTS[0].read_text().replace("effects:\n", asked, 1))
    return listed([heat, *CONTRACTS[1:]])


def begin(world, contracts, **rig):
    world.rig(**rig)
    authority = world.authority(contracts=contracts)
    world.capability(contracts=contracts)
    world.begin()
    return authority


def approve(world, by="ann", **fields):
    return world.call("approve", episode=world.episode, step="heat", by=by, reason="seen it", **fields)


def approval(world):
    """The approval of the step, as the episode shows it."""
    shown = world.call("get_episode", episode=world.episode).episode.approvals
    return next(one for one in shown if one.step == "heat")


def refused(world, provider, reason):
    """A goal is refused at once, for this reason alone, and nothing heats."""
    result = world.run("heat", provider)
    assert result.outcome == REFUSED
    assert list(result.decision.reasons) == [reason], result.decision.sentence
    return result.decision


def command(domain, world, *options):
    """``adf-ea approve``, as an operator types it."""
    words = [sys.executable, "-c", COMMAND, "approve", world.episode, "heat", *options]
    return subprocess.run(
        words, env=domain.environment(), capture_output=True, text=True, check=False, timeout=60
    )


def test_one_approval_lets_one_attempt_through(world, contracts, domain):
    begin(world, contracts, heater_a__fault="abort_without_effect")
    waiting = approval(world)
    assert (waiting.id, waiting.state, waiting.text) == ("", 0, "ann or test has to approve it")
    said = refused(world, "heater_a", "X12.missing")
    assert any("once ann or test approves it" in line for line in said.next), said.next
    assert world.heated == 0

    assert list(approve(world, by="test").decision.reasons) == ["X12.own_step"]
    assert list(approve(world, by="eve").decision.reasons) == ["X12.approver"]
    given = approve(world)
    assert given.decision.authorized, given.decision.sentence
    assert (approval(world).id, approval(world).state) == (given.approval, Approval.VALID)

    assert world.run("heat", "heater_a").outcome == ABSENT
    spent = approval(world)
    assert (spent.state, spent.attempt) == (Approval.SPENT, f"{world.episode}.1")
    refused(world, "heater_b", "X12.spent")  # a retry, and nobody approved that

    done = command(domain, world, "--by", "test")
    assert done.returncode == 1, done.stderr
    assert "[X12.own_step]" in done.stdout
    done = command(domain, world, "--by", "ann", "--reason", "again", "--for", "1 h")
    assert done.returncode == 0, done.stderr
    assert "ann approves attempt 2 of heat_to" in done.stdout
    assert "good until" in done.stdout
    assert world.run("heat", "heater_b").outcome == VERIFIED
    assert world.heated == 1

    assert approve(world).decision.authorized  # of a repair, which nobody needs
    refused(world, "heater_b", "R8.redundant")


def test_it_can_be_taken_back_and_outlives_the_authority_but_no_revocation(world, contracts):
    authority = begin(world, contracts)
    first = approve(world)
    taken = world.call("approve", episode=world.episode, step="heat", withdraw=True, by="bob", reason="wait")
    assert (taken.decision.authorized, taken.approval) == (True, first.approval)
    assert approval(world).state == Approval.WITHDRAWN
    refused(world, "heater_a", "X12.withdrawn")

    second = approve(world)
    assert second.decision.authorized, second.decision.sentence
    authority.kill()
    world.authority(contracts=contracts)
    world.seen("restart", request="Restart", reasons=["X1.restarted"])
    assert (approval(world).id, approval(world).state) == (second.approval, Approval.VALID)

    for reason in ("smoke", ""):
        said = world.call("set_availability", provider="heater_a", reason=reason).decisions
        assert all(one.authorized for one in said)
    refused(world, "heater_a", "X12.provider")
    assert world.run("heat", "heater_b").outcome == VERIFIED  # of which nothing has changed
    assert approval(world).state == Approval.SPENT
    assert world.heated == 1


def test_what_ended_an_approval_is_said(tmp_path, contracts):
    """On a service without nodes: the states that take time, or a revocation, to come to."""
    catalog = Catalog.load([*contracts.strip("[]").split(","), TASK])
    ledger = SqliteLedger(tmp_path / "ledger.db")
    service = AuthorityService(catalog, Book(ledger, ledger.open_writer("test", time=S)))
    episode, _ = service.start_episode("heat_measure_record", "test", S)
    step = Step("heat", "heat_to", {"sample": "s1", "target": 80})
    service.revise(episode, [step], "test", S)

    def shown(seconds):
        found = approval_msgs(service.book.state(episode), seconds * S)
        return [(one.step, one.state, one.text) for one in found]

    assert shown(1) == [("heat", 0, "ann or test has to approve it")]
    service.approve(episode, "heat", "ann", "", S, 10 * S)
    assert shown(11) == [("heat", Approval.VALID, "")]
    assert shown(12) == [("heat", Approval.EXPIRED, f"{episode}/a1 by ann has expired")]
    service.halt("ann", "stop", 2 * S)
    assert shown(11) == [("heat", Approval.VOID, f"a halt came after {episode}/a1")]
    service.resume("ann", 2 * S)
    service.approve(episode, "heat", "ann", "", 3 * S, 10 * S)
    service.revise(episode, [], "test", 3 * S)
    assert shown(4) == [("heat", Approval.VOID, "the proposal does not hold step 'heat' any more")]
    service.revise(episode, [step], "test", 3 * S)
    assert shown(4) == [("heat", Approval.VALID, "")]
    for name in ("heater_a", "heater_b"):
        service.set_availability(name, "smoke", 4 * S)
        service.set_availability(name, "", 4 * S)
        text = f"heater_a was not eligible without interruption since {episode}/a2"
        after = [("heat", Approval.VALID, "")] if name == "heater_a" else [("heat", Approval.VOID, text)]
        assert shown(5) == after
    service.stop(episode, "ann", "enough", 5 * S)
    assert shown(6) == [("heat", Approval.VOID, "the episode is stopped")]
    ledger.close()
