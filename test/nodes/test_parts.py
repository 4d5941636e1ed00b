"""Parts of the nodes, in this process."""

import sqlite3
import uuid
from contextlib import closing

import pytest
from adf_ea_ros.action import Heat
from rclpy.parameter import Parameter
from sensor_msgs.msg import Temperature
from world import CONTRACTS, TASK

from adf_ea_ros import msg, srv
from adf_ea_ros.authority.model import Interaction, Mode
from adf_ea_ros.authority.requests import Answer
from adf_ea_ros.contracts.model import Tool
from adf_ea_ros.evidence.types import Verdict
from adf_ea_ros.nodes import audit, convert
from adf_ea_ros.nodes.authority import AuthorityNode
from adf_ea_ros.nodes.hardware import Unsendable, fill
from adf_ea_ros.nodes.readbacks import HAS_GID, Identity
from adf_ea_ros.nodes.support import READBACK
from adf_ea_ros.nodes.waiting import Waits
from adf_ea_ros.runtime.public import Order, Ruling

pytestmark = pytest.mark.ros

ORDER = Order(
    id="e.1",
    goal_id=uuid.UUID(int=7),
    episode="e",
    step="heat",
    capability="heat_to",
    provider="heater_a",
    arguments='{"sample":"s1","target":80.0}',
    mode=Mode.RETRY,
    interaction=Interaction.LOST,
    verdict=Verdict.INSUFFICIENT_EVIDENCE,
    negative=True,
    unresolved=True,
    could_take_effect=False,
    doubtful=True,
    cancel_requested=True,
    generation=3,
    dispatched=1_500_000_000,
    deadline=61_500_000_000,
    settled=2_000_000_001,
)


def test_orders_and_rulings_survive_the_way_through_messages():
    assert convert.order_of(convert.attempt_msg(ORDER)) == ORDER
    said = Ruling(
        id="e:4",
        time=1_000_000_001,
        episode="e",
        generation=2,
        request="Dispatch",
        subject="heat",
        authorized=True,
        rules=("R2",),
        reasons=("R4.promoted",),
        sentence="ä",
        attempt="e.1",
        verdict=Verdict.UNKNOWN,
        negative=True,
        physical=1,
        observation=2,
        retry=0,
        next=("observe",),
    )
    assert convert.ruling_of(convert.decision_msg(said)) == said


def test_every_enumeration_has_a_number_of_its_own():
    for table, values in (
        (convert.MODES, Mode),
        (convert.INTERACTIONS, Interaction),
        (convert.VERDICTS, Verdict),
        (convert.ANSWERS, Answer),
    ):
        assert set(values) <= set(table)
        assert len(set(table.values())) == len(table)
    with pytest.raises(ValueError, match="interaction 77"):
        convert.order_of(msg.Attempt(id="x", mode=1, interaction=77))


def test_a_goal_is_filled_from_the_arguments():
    tool = Tool(
        kind="action",
        name="/h",
        type="adf_ea_ros/action/Heat",
        provides="heat_to",
        arguments={"sample": "sample", "target": "target"},
    )
    assert fill(Heat.Goal(), tool, ORDER) == Heat.Goal(sample="s1", target=80.0)
    wrong = tool.model_copy(update={"arguments": {"no_such_field": "sample"}})
    with pytest.raises(Unsendable, match="no_such_field"):
        fill(Heat.Goal(), wrong, ORDER)


def test_messages_as_json():
    assert convert.to_json(msg.Step(id="a", after=["b"])) == (
        '{"id":"a","capability":"","arguments":"","after":["b"],"occurrence":""}'
    )
    assert '"uuid":[0,' in convert.to_json(msg.Attempt())


@pytest.mark.parametrize("by_gid", [False] + [True] * HAS_GID)
def test_a_publisher_is_known_by_its_node(watcher, by_gid):
    node = watcher.node
    identity = Identity(node, "/t", "/watcher", "probe", by_gid=by_gid)
    seen = []
    node.create_subscription(Temperature, "/t", lambda _, info: seen.append(info), READBACK)
    publisher = node.create_publisher(Temperature, "/t", READBACK)
    watcher.until(lambda: node.count_subscribers("/t") and publisher.get_subscription_count())
    publisher.publish(Temperature())
    watcher.until(lambda: seen)

    def gid(number):
        return bytes((seen[number].get("publisher_gid") or {}).get("data", b""))

    assert watcher.until(lambda: identity.source(gid(0))) == "probe"

    other = Identity(node, "/t", "/rig/probe", "probe", by_gid=by_gid)
    assert watcher.until(lambda: other.source(gid(0))) == "/watcher"
    nobody = Identity(node, "/silent", "/rig/probe", "probe", by_gid=by_gid)
    assert nobody.source(gid(0)) is None


def test_without_gids_one_stranger_spoils_the_topic(watcher):
    import rclpy

    stranger = rclpy.create_node("stranger", context=watcher.context)
    identity = Identity(watcher.node, "/t", "/watcher", "probe", by_gid=False)
    watcher.node.create_publisher(Temperature, "/t", READBACK)
    assert watcher.until(lambda: identity.source(b"")) == "probe"
    stranger.create_publisher(Temperature, "/t", READBACK)

    def noticed():
        identity.changed = True  # what the matched event of the subscription does
        return identity.source(b"") == "/stranger"

    watcher.until(noticed)
    stranger.destroy_node()


def test_waits_end_with_what_they_wait_for_or_with_time(watcher):
    waits = Waits(watcher.node, 0.01)
    done, ends = [], []

    async def wait(wait):
        ends.append(await wait)

    executor = watcher._executor
    executor.create_task(wait, waits.within(lambda: bool(done), 60.0))
    executor.create_task(wait, waits.within(lambda: False, 0.05))
    executor.create_task(wait, waits.until(lambda: False, waits.now + 50_000_000))
    executor.create_task(wait, waits.within(lambda: True, 0.0))
    watcher.until(lambda: len(ends) == 3)
    assert ends == [True, False, False]
    done.append(1)
    waits.wake()
    watcher.until(lambda: len(ends) == 4)
    assert ends[-1] is True


@pytest.fixture
def authority(watcher, tmp_path):
    parameters = [
        Parameter("contracts", value=[str(path) for path in CONTRACTS]),
        Parameter("tasks", value=[str(TASK)]),
        Parameter("ledger", value=str(tmp_path / "ledger.db")),
    ]
    node = AuthorityNode(context=watcher.context, parameter_overrides=parameters)
    watcher._executor.add_node(node)
    node.trigger_configure()
    node.trigger_activate()
    yield node
    node.close()
    watcher._executor.remove_node(node)
    node.destroy_node()


def test_an_exception_in_a_callback_is_answered_and_kills_nothing(watcher, authority, monkeypatch):
    def broken(*_):
        raise RuntimeError("a bug")

    def call(kind, name, **fields):
        client = watcher.node.create_client(kind, f"/authority/{name}")
        watcher.until(client.service_is_ready)
        return watcher.result(client.call_async(kind.Request(**fields)))

    with monkeypatch.context() as patch:
        for name in ("claim", "admit", "halt", "report"):
            patch.setattr(authority.desk, name, broken)
        assert call(srv.ClaimCompletion, "claim_completion").decision.reasons == ["X5.bad_request"]
        assert call(srv.Admit, "admit").decision.reasons == ["X5.bad_request"]
        assert call(srv.Halt, "halt", halt=True).decisions[0].reasons == ["X5.bad_request"]
        patch.setattr(authority.service, "tick", broken)
        patch.setattr(authority.health, "publish", broken)
        assert call(srv.GetEpisode, "get_episode").found is False
    assert call(srv.ClaimCompletion, "claim_completion", episode="e").decision.reasons == [
        "X5.unknown_episode"
    ]


def test_a_provider_that_never_appears_is_refused_after_the_stated_wait(watcher, authority):
    said = authority.desk.start_episode("heat_measure_record", "test")
    steps = [
        convert.step_of(msg.Step(id="heat", capability="heat_to", arguments='{"sample":"s1","target":80}'))
    ]
    assert authority.desk.revise(said[0], steps, "test").authorized  # it may still appear
    client = watcher.node.create_client(srv.Admit, "/authority/admit")
    watcher.until(client.service_is_ready)
    request = srv.Admit.Request(episode=said[0], step="heat", provider="heater_a")
    response = watcher.result(client.call_async(request), 20)
    assert response.decision.reasons == ["R2.provider_unavailable"]
    assert "/rig/heater_a/heat is not in the graph" in response.decision.sentence


def test_a_failing_ledger_voids_decisions(watcher, authority):
    authority.ledger._connection.close()
    said = authority.desk.start_episode("heat_measure_record", "test")
    assert said[0] == ""
    assert said[1].reasons == ("X5.ledger",)
    assert said[1].void


def test_damage_that_a_start_did_not_look_for_stops_the_authority(watcher, authority, monkeypatch, tmp_path):
    path = tmp_path / "ledger.db"

    def look_through(most):
        monkeypatch.setattr(audit, "AUDIT", most)
        authority._audit.begin(str(path), authority.ledger, None)
        return authority._audit._inspector is not None

    assert not look_through(10)  # a start looks at so many
    assert look_through(0)
    watcher.until(lambda: authority._audit._inspector is None, 60, "the result")
    episode, said = authority.desk.start_episode("heat_measure_record", "test")
    assert said.authorized
    with closing(sqlite3.connect(path)) as other:
        other.execute("INSERT INTO meta VALUES ('archiving', '')")  # which takes the guard away
        other.execute("UPDATE event SET time = 1 WHERE episode = ? AND version = 1", (episode,))
        other.commit()
    look_through(0)
    watcher.until(lambda: authority.ledger_fault, 60, "the damage")
    assert f"{episode} version 1" in authority.ledger_fault
    assert authority.desk.start_episode("heat_measure_record", "test")[1].reasons == ("X5.ledger",)
    authority.desk.claim(episode)
    assert authority.service.book.fault
