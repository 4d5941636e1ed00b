"""What a gate does when something around it goes wrong, with an authority that is scripted."""

import msgspec
import pytest
from adf_ea_ros.action import Heat
from rclpy.action import ActionClient
from rclpy.parameter import Parameter
from rclpy.task import Future
from test_reconcile import OPEN, Script
from world import CONFIG, CONTRACTS

from adf_ea_ros.authority.model import Interaction
from adf_ea_ros.contracts.model import Gate
from adf_ea_ros.nodes import gated_action, gates
from adf_ea_ros.nodes.capability import CapabilityNode
from adf_ea_ros.nodes.support import StartFault
from adf_ea_ros.runtime.public import Ruling

pytestmark = pytest.mark.ros

BAD = Gate.model_validate(
    {
        "spec": "adf_ea_ros/1",
        "kind": "gate",
        "id": "bad",
        "version": "1.0.0",
        "name": "/bad",
        "provider": "heater_a",
        "task": "any",
        "redundant": "reject",
        "reply": {"refused": {"reach": 1.0}},
    }
)
GRANT = Ruling(id="e:1", authorized=True, request="Dispatch", attempt="e.1")


class Authority(Script):
    """Admits a goal, or does what the test wants."""

    def __init__(self):
        super().__init__()
        self.asked, self.does = [], lambda: (GRANT, msgspec.structs.replace(OPEN, id=f"e.{len(self.asked)}"))

    async def admit_goal(self, asked):
        self.asked.append(asked)
        done = self.does()
        return await done if isinstance(done, Future) else done


@pytest.fixture
def port():
    return Authority()


def make(watcher, port, **more):
    values = {
        "contracts": [str(path) for path in CONTRACTS],
        "gates": [str(CONFIG / "gates")],
        "providers": ["heater_a"],
        "device_wait": 0.1,
        "max_goals": 2,
        **more,
    }
    parameters = [Parameter(name, value=value) for name, value in values.items()]
    return CapabilityNode(context=watcher.context, parameter_overrides=parameters, port=port)


@pytest.fixture
def node(watcher, port):
    made = make(watcher, port)
    watcher._executor.add_node(made)
    yield made
    watcher._executor.remove_node(made)
    made.destroy_node()


def send(watcher):
    client = ActionClient(watcher.node, Heat, "/bench/heat")
    watcher.until(client.server_is_ready, what="the gate")
    return client.send_goal_async(Heat.Goal(sample="s1", target=80.0))


def broken():
    raise RuntimeError("for the test")


def test_a_callback_that_raises_is_a_rejection(watcher, node, port):
    port.does = broken
    assert not watcher.result(send(watcher)).accepted
    assert len(port.asked) == 1
    assert (port.asked[0].task, port.asked[0].author) == ("bench_heating", "/capability")


def test_a_goal_that_fails_after_it_was_admitted_is_aborted(watcher, node, port, monkeypatch):
    monkeypatch.setattr(node.errands, "see_through", lambda *_: broken())
    handle = watcher.result(send(watcher))
    assert handle.accepted
    assert watcher.result(handle.get_result_async()).status == 6  # ABORTED


def test_more_goals_than_can_be_in_progress_are_rejected(watcher, node, port):
    waiting = Future()
    port.does = lambda: waiting
    first, second = send(watcher), send(watcher)
    watcher.until(lambda: len(port.asked) == 2, what="two goals at the authority")
    assert not watcher.result(send(watcher)).accepted
    assert len(port.asked) == 2
    waiting.set_result((msgspec.structs.replace(GRANT, authorized=False), None))
    assert not watcher.result(first).accepted
    assert not watcher.result(second).accepted
    assert node.errands.admitting == 0


def test_a_goal_that_is_not_taken_up_is_reported_as_never_sent(watcher, node, port, monkeypatch):
    monkeypatch.setattr(gated_action, "_TAKEN_UP", 0.0)
    (door,) = node.gates
    watcher._executor.create_task(door._on_goal, Heat.Goal(sample="s1", target=80.0))
    watcher.until(lambda: port.reports, what="a report")
    assert port.reports == [("e.1", Interaction.NEVER_ACCEPTED)]
    assert not node.errands.runs


def test_an_answer_that_cannot_be_written_is_a_fault_of_the_start(watcher, port, monkeypatch):
    monkeypatch.setattr(gates, "_load", lambda *_: [BAD])
    with pytest.raises(StartFault, match="gate bad: reply: Heat_Result"):
        make(watcher, port)


def test_faults_of_a_gate_are_faults_of_the_start(watcher, port, tmp_path):
    text = (CONFIG / "gates" / "heating.yaml").read_text()
    file = tmp_path / "gate.yaml"
    for old, new, told in (
        ("provider: heater_a", "provider: heater_x", "gate.yaml:10: provider: no provider 'heater_x'"),
        (
            "verified: {success: true}",
            "verified: {succes: true}",
            "has no field 'succes'; did you mean 'success'?",
        ),
        ("task: bench_heating", "task: bench", "gate.yaml:11: task: no task 'bench'"),
    ):
        file.write_text(text.replace(old, new))
        with pytest.raises(StartFault, match=r"gate\.yaml") as fault:
            make(watcher, port, gates=[str(file)])
        assert told in str(fault.value)
