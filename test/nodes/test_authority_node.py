"""The authority node by itself: its life, its services, bad input, and who may speak on a readback."""

import json

import pytest
from adf_ea_ros.msg import Attempt, Record
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Temperature
from std_msgs.msg import Header
from world import AUTHORITY, CONTRACTS, PLAN, TASK, listed, ros_args

from adf_ea_ros import msg
from adf_ea_ros.nodes.support import CLOCK, READBACK, latched

pytestmark = pytest.mark.ros


def transition(world, number):
    client = world.watcher.node.create_client(ChangeState, "/authority/change_state")
    world.watcher.until(client.service_is_ready, what="change_state")
    request = ChangeState.Request(transition=Transition(id=number))
    assert world.watcher.result(client.call_async(request)).success


def start(world):
    return world.call("start_episode", task="heat_measure_record", planner="test")


def step(**fields):
    return msg.Step(
        **{"id": "heat", "capability": "heat_to", "arguments": '{"sample": "s1", "target": 80}', **fields}
    )


def test_it_boots_inactive_and_refuses_with_an_answer(world):
    world.rig()
    authority = world.authority(wait=False, autostart="false")
    asked = {
        "start_episode": {"task": "heat_measure_record"},
        "revise_proposal": {"episode": "e"},
        "admit": {"step": "s"},
        "report": {"attempt": "e.1", "interaction": 2},
        "observe": {"episode": "e"},
        "claim_completion": {"episode": "e"},
        "stop_episode": {"episode": "e"},
    }
    for name, fields in asked.items():
        said = world.call(name, **fields).decision
        assert (said.authorized, said.reasons, said.id) == (False, ["X5.not_ready"], ""), name
        assert "not configured" in said.sentence
    assert world.call("halt", halt=True).decisions[0].reasons == ["X5.not_ready"]
    assert not world.call("get_episode").found
    assert "not configured" in world.call("advise").error
    assert world.call("list_attempts").generation == 0

    transition(world, Transition.TRANSITION_CONFIGURE)
    assert "not active" in start(world).decision.sentence
    transition(world, Transition.TRANSITION_ACTIVATE)
    world.watcher.until(lambda: start(world).started, what="episode")
    transition(world, Transition.TRANSITION_DEACTIVATE)
    assert start(world).decision.reasons == ["X5.not_ready"]
    transition(world, Transition.TRANSITION_ACTIVATE)
    world.watcher.until(lambda: start(world).started, what="episode")
    transition(world, Transition.TRANSITION_DEACTIVATE)
    transition(world, Transition.TRANSITION_CLEANUP)
    transition(world, Transition.TRANSITION_CONFIGURE)
    transition(world, Transition.TRANSITION_ACTIVATE)
    world.watcher.until(lambda: world.call("list_attempts").generation == 2, what="second generation")
    assert authority.terminate() == 0
    assert "Traceback" not in authority.output


def test_it_waits_for_the_clock(world):
    world.authority(wait=False)
    said = start(world).decision
    assert said.reasons == ["X5.not_ready"]
    world.rig()
    world.watcher.until(lambda: start(world).started, what="episode once the clock runs")


def test_bad_requests_are_refused_with_a_reason(world):
    world.rig()
    authority = world.authority()
    assert world.call("start_episode", task="no_such_task").decision.reasons == ["X5.task"]
    world.episode = start(world).episode

    def revise(*steps):
        said = world.call("revise_proposal", episode=world.episode, steps=steps, author="test").decision
        assert not said.authorized
        return said

    for arguments in (
        "",
        "{",
        "[]",
        '{"sample": "s1"}',
        '{"sample": "s1", "target": 101}',
        '{"sample": "s1", "target": true}',
        '{"sample": "s1", "target": NaN}',
        '{"sample": "s1", "target": 80, "target": 81}',
        '{"sample": "s1", "target": 80, "x": 1}',
        '{"sample": "a b", "target": 80}',
        "[" * 100_000,
    ):
        assert revise(step(arguments=arguments)).reasons == ["R1.grounding"], arguments[:40]
    assert revise(step(capability="heat_too")).reasons == ["R1.grounding"]
    assert revise(step(), step()).reasons == ["R1.duplicate_node"]
    assert revise(step(after=["nothing"])).reasons == ["R1.unknown_dependency"]
    assert revise(step(id="a", after=["b"]), step(id="b", after=["a"])).reasons == ["R1.cycle"]
    for name, fields, reason in (
        ("revise_proposal", {"episode": "none"}, "X5.unknown_episode"),
        ("admit", {"episode": "none", "step": "heat", "provider": "heater_a"}, "X5.unknown_episode"),
        ("admit", {"episode": world.episode, "step": "heat", "provider": "no_such"}, "R2.unknown_node"),
        ("report", {"attempt": "none.1", "interaction": 4}, "X5.unknown_attempt"),
        ("report", {"attempt": f"{world.episode}.1", "interaction": 99}, "X5.bad_request"),
        ("report", {"attempt": f"{world.episode}.1", "answer": 9, "interaction": 4}, "X5.bad_request"),
        ("observe", {"episode": world.episode, "step": "none"}, "R2.unknown_node"),
        ("claim_completion", {"episode": "none"}, "X5.unknown_episode"),
        ("stop_episode", {"episode": "\x00", "by": "\x00", "reason": "\ud7ff" * 1000}, "X5.unknown_episode"),
    ):
        said = world.call(name, **fields).decision
        assert not said.authorized
        assert reason in said.reasons, (name, fields, said)
    assert world.call("set_availability", provider="none").decisions[0].reasons == ["X5.bad_request"]
    assert not world.call("get_episode", episode="none").found
    assert world.call("get_episode").episode.id == world.episode
    assert world.call("list_capabilities", task="none").capabilities == []
    assert authority.running
    assert "Traceback" not in authority.output


def test_a_stale_generation_gets_nothing(world):
    world.rig()
    world.authority()
    world.begin()
    said = world.call("admit", episode=world.episode, step="heat", provider="heater_a", generation=7).decision
    assert said.reasons == ["X1.stale_generation"]


def test_list_capabilities_says_what_a_planner_needs(world):
    world.rig()
    world.authority()
    listed_ = world.call("list_capabilities", task="heat_measure_record")
    assert listed_.tasks == ["heat_measure_record"]
    assert listed_.generation == 1
    found = {c.id: c for c in listed_.capabilities}
    assert found["heat_to"].providers == ["heater_a", "heater_b"]
    assert {p["name"] for p in json.loads(found["heat_to"].description)["parameters"]} == {"sample", "target"}


def test_an_operators_word_stands_above_the_graph(world):
    world.rig()
    world.authority()
    world.begin()
    assert world.call("set_availability", provider="heater_a", reason="smells burnt").decisions[0].authorized
    said = world.call("admit", episode=world.episode, step="heat", provider="heater_a").decision
    assert said.reasons == ["R2.provider_unavailable"]
    assert "smells burnt" in said.sentence
    world.call("set_availability", provider="heater_a", reason="")
    assert world.call("admit", episode=world.episode, step="heat", provider="heater_a").decision.authorized


def test_what_the_declared_node_did_not_publish_is_no_evidence(world):
    world.rig(heater_a__fault="no_effect")
    world.authority()
    world.capability()
    world.begin()
    diagnostics = world.watcher.collect(DiagnosticArray, "/diagnostics", 10)
    clocks = world.watcher.collect(Clock, "/clock", CLOCK)
    imposter = world.watcher.node.create_publisher(Temperature, "/rig/probe/temperature", READBACK)
    goal = world.goal("heat", "heater_a", evidence_timeout=200)

    lies = []

    def lie():
        if clocks:
            stamp = clocks[-1].clock
            clocks.clear()
            if stamp.nanosec == 0:
                imposter.publish(Temperature(header=Header(stamp=stamp, frame_id="s1"), temperature=80.0))
                lies.append(stamp)
        return goal.future.done()

    world.watcher.until(lie, 60, "result")
    assert goal.result().outcome != goal.result().VERIFIED
    assert len(lies) > 3
    assert world.heated == 0

    def noticed():
        return any(
            s.name.endswith("readback probe/temperature")
            and s.level == DiagnosticStatus.WARN
            and "others" in s.message
            for array in diagnostics
            for s in array.status
        )

    world.watcher.until(noticed, what="diagnostics of the imposter")


def test_a_readback_that_can_never_arrive_is_an_error_in_the_diagnostics(world):
    world.rig()
    diagnostics = world.watcher.collect(DiagnosticArray, "/diagnostics", 10)
    text = (
        (CONTRACTS[-1])
        .read_text()
        .replace("    path: record/exists", "    durability: transient_local\n    path: record/exists")
    )
    changed = world.folder / "archive.yaml"
    changed.write_text(text.replace("/rig/archive/records", "/volatile"))
    world.watcher.node.create_publisher(Record, "/volatile", 10)
    world.authority(contracts=listed([*CONTRACTS[:-1], changed]))

    def status():
        return next(
            (
                s
                for a in diagnostics
                for s in a.status
                if s.name.endswith("readback archive/records") and s.level == DiagnosticStatus.ERROR
            ),
            None,
        )

    assert "can never arrive" in world.watcher.until(status, what="diagnostics").message


def test_a_healthy_authority_says_so_of_each_of_its_parts(world):
    diagnostics = world.watcher.collect(DiagnosticArray, "/diagnostics", 10)
    world.authority(use_sim_time="false")

    def told():
        lines = {s.name: (s.level, s.message) for a in diagnostics[-1:] for s in a.status}
        return lines if ("/authority: authority", (DiagnosticStatus.OK, "active")) in lines.items() else None

    told = world.watcher.until(told, what="an active authority in the diagnostics")
    assert told["/authority: ledger"] == (DiagnosticStatus.OK, "writable")
    assert told["/authority: readback probe/temperature"] == (DiagnosticStatus.WARN, "no usable sample yet")
    assert "/authority: provider heater_a" in told


def test_episodes_are_latched_for_late_joiners(world):
    world.rig()
    world.authority(episode_rate=20.0)
    world.begin()
    # Another one is talked of so much that nothing else is among the messages that are kept.
    other = start(world).episode
    early = world.watcher.collect(msg.Episode, "/authority/episodes", latched(20))
    while sum(e.id == other for e in early) < 25:
        world.call("observe", episode=other, step="none")
    late = world.watcher.collect(msg.Episode, "/authority/episodes", latched(20))
    found = world.watcher.until(
        lambda: [e for e in late if e.id == world.episode and e.revision], what="episode"
    )[-1]
    assert [s.id for s in found.steps] == [s.id for s in PLAN]
    assert {o.id for o in found.obligations} == {"heated", "measured", "recorded"}
    assert found.budget.physical == 6


def test_reports_are_idempotent(world):
    world.rig()
    world.authority()
    world.begin()
    order = world.call("admit", episode=world.episode, step="heat", provider="heater_a").attempt
    report = {"attempt": order.id, "interaction": Attempt.SUCCEEDED}
    assert world.call("report", **report).decision.authorized
    assert world.call("report", **report).decision.reasons == ["R3.invalid_interaction"]


# -- starts that fail


@pytest.mark.parametrize(
    ("parameters", "code", "said"),
    [
        ({}, 2, "parameter contracts names no file"),
        ({"contracts": "[/no/such/file.yaml]"}, 2, "/no/such/file.yaml"),
        ({"contracts": listed(CONTRACTS), "tick_rate": 1000.0}, 2, "allowed is 0.1 to 20"),
        ({"contracts": listed(CONTRACTS), "tick_rate": "often"}, 2, "wanted: float"),
        ({"contracts": listed(CONTRACTS), "ledger": "/no/such/folder/ledger.db"}, 3, "ledger"),
        ({"contracts": listed(CONTRACTS), "ledger": str(TASK)}, 3, "database"),
    ],
    ids=["no contracts", "no file", "range", "type", "folder", "no database"],
)
def test_a_start_that_makes_no_sense_ends_at_once(node_process, parameters, code, said):
    process = node_process(AUTHORITY, *ros_args(parameters))
    assert process.wait(40) == code
    assert said in process.output
    assert "Traceback" not in process.output


def test_every_fault_of_the_contracts_is_told_with_its_line(node_process, tmp_path):
    (tmp_path / "heat_to.yaml").write_text(CONTRACTS[0].read_text().replace("kind: state", "kind: wish"))
    task = (
        TASK.read_text().replace("physical: 6", "physical: many").replace("effect: heated", "effect: cooled")
    )
    (tmp_path / "task.yaml").write_text(task)
    process = node_process(
        AUTHORITY,
        *ros_args(
            {
                "contracts": listed([tmp_path / "heat_to.yaml", *CONTRACTS[1:]]),
                "tasks": listed([tmp_path / "task.yaml"]),
            }
        ),
    )
    assert process.wait(40) == 2
    for name, wrong, place in (
        ("heat_to.yaml", "kind: wish", "effects.heated.kind"),
        ("task.yaml", "many", "budgets.physical"),
    ):
        lines = (tmp_path / name).read_text().splitlines()
        line = next(number for number, text in enumerate(lines, 1) if wrong in text)
        assert f"{name}:{line}: {place}: " in process.output
    assert "Traceback" not in process.output


def test_a_ledger_has_one_writer(world):
    world.rig()
    world.authority()
    second = world.authority(wait=False)
    assert second.wait(40) == 3
    assert "/authority" in second.output
    assert "Traceback" not in second.output


def test_a_route_without_a_stamp_field_cannot_be_used_under_simulated_time(world, node_process):
    changed = world.folder / "archive.yaml"
    changed.write_text(CONTRACTS[-1].read_text().replace("    stamp: header.stamp\n", ""))
    process = node_process(
        AUTHORITY, *ros_args({"contracts": listed([*CONTRACTS[:-1], changed]), "use_sim_time": "true"})
    )
    assert process.wait(40) == 2
    assert "provider archive: routes.records: needs stamp" in process.output


def test_a_capability_node_that_makes_no_sense_does_not_start(node_process):
    for providers, said in (("[heater_x]", "no provider 'heater_x'"), ("[archive]", "has no tool")):
        process = node_process(
            "adf_ea_ros.nodes.capability_main",
            *ros_args({"contracts": listed(CONTRACTS), "providers": providers}),
        )
        assert process.wait(40) == 2
        assert said in process.output
        assert "Traceback" not in process.output
