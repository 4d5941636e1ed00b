"""Gates on actions, services and command topics of other people's types: what their clients see."""

import pytest

pytest.importorskip("test_msgs.action")

from action_msgs.msg import GoalStatus
from adf_ea_ros.action import Heat
from gated import Devices, write_contracts
from rclpy.action import ActionClient
from std_msgs.msg import Float64
from std_srvs.srv import SetBool
from test_msgs.action import Fibonacci
from test_msgs.srv import BasicTypes
from world import COMPOSED, listed, ros_args

pytestmark = pytest.mark.ros


@pytest.fixture
def devices(world, tmp_path):
    made = Devices(world.watcher)
    path = listed([write_contracts(tmp_path / "gated.yaml")])
    parameters = {"contracts": path, "gates": path, "ledger": tmp_path / "ledger.db", "answer_wait": 0.5}
    world.start(COMPOSED, *ros_args(parameters)).wait_for_line("in contact with the authority", 40)
    yield made
    made.close()


class Client:
    def __init__(self, world, kind, name):
        self.watcher = world.watcher
        self.client = ActionClient(world.watcher.node, kind, name)
        self.watcher.until(self.client.server_is_ready, what=name)

    def send(self, goal):
        heard = []
        future = self.client.send_goal_async(goal, lambda m: heard.append(list(m.feedback.sequence)))
        handle = self.watcher.result(future, what="answer to a goal")
        handle.heard, handle.future = heard, handle.get_result_async() if handle.accepted else None
        return handle

    def result(self, handle):
        return self.watcher.result(handle.future, what="result")


def caller(world, kind, name):
    client = world.watcher.node.create_client(kind, name)
    world.watcher.until(client.service_is_ready, what=name)
    return lambda **fields: world.watcher.result(
        client.call_async(kind.Request(**fields)), what=f"reply of {name}"
    )


def test_each_client_gets_its_own_result(world, devices):
    gated, raw = Client(world, Heat, "/gate/oven"), Client(world, Heat, "/oven/heat")
    goals = {
        sample: client.send(Heat.Goal(sample=sample, target=target))
        for sample, client, target in (("one", gated, 50.0), ("two", gated, 60.0), ("three", raw, 70.0))
    }
    assert all(goal.accepted for goal in goals.values())
    world.watcher.until(lambda: len(devices.held) == 3, what="all three in the oven")
    devices.held["three"].set_result(70.0)  # somebody else's goal ends first
    devices.held["two"].set_result(20.0)  # and this one is said to have succeeded, and did not get hot
    second = gated.result(goals["two"])
    assert (second.status, second.result.message) == (GoalStatus.STATUS_ABORTED, "two")
    devices.held["one"].set_result(50.0)
    first = gated.result(goals["one"])
    assert (first.status, first.result.message) == (GoalStatus.STATUS_SUCCEEDED, "one")
    assert raw.result(goals["three"]).result.message == "three"


def test_an_event_happens_once_for_each_goal_and_never_behind_a_doubt(world, devices):
    client = Client(world, Fibonacci, "/gate/calculator")
    for _ in range(2):
        goal = client.send(Fibonacci.Goal(order=5))
        response = client.result(goal)
        assert response.status == GoalStatus.STATUS_SUCCEEDED
        assert list(response.result.sequence) == [0, 1, 1, 2, 3, 5]
        assert goal.heard[-1] == [0, 1, 1, 2, 3, 5]
    devices.works = False
    assert client.result(client.send(Fibonacci.Goal(order=5))).status == GoalStatus.STATUS_ABORTED
    devices.works = True
    assert not client.send(Fibonacci.Goal(order=5)).accepted
    assert not client.send(Fibonacci.Goal(order=6)).accepted
    assert devices.carried_out == [("printer", 5)] * 3


def test_a_service_replies_when_it_is_so(world, devices):
    door = caller(world, SetBool, "/gate/door")
    said = door(data=True)
    assert (said.success, said.message) == (True, "clack")
    assert door(data=True).success  # it is open: nothing is sent
    assert devices.carried_out == [("contact", True)]
    devices.answers = False
    assert door(data=False).success  # the reply never comes, the contact does
    devices.answers = True
    lamp = caller(world, BasicTypes, "/gate/lamp")
    said = lamp(bool_value=True)
    assert (said.int32_value, said.float64_value, said.string_value) == (1, 0.25, "")
    as_sent = caller(world, BasicTypes, "/gate/lamp_as_sent")
    assert as_sent(bool_value=False, int8_value=7).int8_value == 7  # went to the device and back
    assert lamp(bool_value=True).int8_value == 0
    devices.works = False
    said = lamp(bool_value=False)
    assert (said.int32_value, said.float64_value) == (-1, 0.25)
    assert "lamp.lamp/lit == False" in said.string_value
    said = lamp(bool_value=True, int8_value=7)
    assert (said.int32_value, said.string_value) == (-1, "int8_value says what no argument carries")
    said = lamp(bool_value=True)
    assert (said.int32_value, "still holds" in said.string_value) == (-1, True)  # redundant: reject
    assert [value for name, value in devices.carried_out if name == "photocell"] == [True, False, True, False]


def test_a_command_goes_on_only_where_it_is_admitted(world, devices):
    publisher = world.watcher.node.create_publisher(Float64, "/gate/valve", 10)
    world.watcher.until(lambda: publisher.get_subscription_count() == 1, what="the gate")
    for position in (0.5, 7.0, 0.5):
        publisher.publish(Float64(data=position))
    world.seen("both refusals", reasons=["R1.grounding"])
    world.seen("the third command", request="Dispatch", authorized=False)
    world.seen("proof", reasons=["R4.promoted"])
    assert devices.carried_out == [("gauge", 0.5)]
    # The first one could still act for a moment; then another command has its turn.
    world.watcher.until(
        lambda: publisher.publish(Float64(data=0.1)) or len(devices.carried_out) == 2, what="another command"
    )
