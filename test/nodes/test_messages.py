"""An action server that answers late, never, or with nonsense: what is made of it.

The server is made of the services and topics that an action consists of, so that it can break their rules.
"""

import uuid

import msgspec
import pytest
from action_msgs.msg import GoalStatus, GoalStatusArray
from adf_ea_ros.action import Heat
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.qos import qos_profile_action_status_default
from rclpy.task import Future
from test_parts import ORDER

from adf_ea_ros.authority.model import Interaction
from adf_ea_ros.authority.requests import Answer
from adf_ea_ros.contracts.model import Tool
from adf_ea_ros.nodes.convert import uuid_msg
from adf_ea_ros.nodes.hardware import hardware
from adf_ea_ros.nodes.waiting import Waits

pytestmark = pytest.mark.ros

TOOL = Tool(
    kind="action",
    name="/broken/heat",
    type="adf_ea_ros/action/Heat",
    provides="heat_to",
    arguments={"sample": "sample", "target": "target"},
)
SECOND = 1_000_000_000


class BrokenServer:
    """Answers when it is told to, and with what it is told."""

    def __init__(self, node):
        group = ReentrantCallbackGroup()
        self.accept, self.result = Future(), Future()
        self.goals, self.asked, self.canceled = [], 0, 0
        self.unanswered = 0  # so many result requests, from the first on
        impl, name = Heat.Impl, TOOL.name
        node.create_service(
            impl.SendGoalService, f"{name}/_action/send_goal", self._send, callback_group=group
        )
        node.create_service(
            impl.GetResultService, f"{name}/_action/get_result", self._result, callback_group=group
        )
        node.create_service(
            impl.CancelGoalService, f"{name}/_action/cancel_goal", self._cancel, callback_group=group
        )
        self._feedback = node.create_publisher(impl.FeedbackMessage, f"{name}/_action/feedback", 10)
        self._status = node.create_publisher(
            GoalStatusArray, f"{name}/_action/status", qos_profile_action_status_default
        )

    async def _send(self, request, response):
        self.goals.append(bytes(request.goal_id.uuid))
        response.accepted = await self.accept
        return response

    async def _result(self, _, response):
        self.asked += 1
        if self.asked <= self.unanswered:
            await Future()
        response.status = await self.result
        return response

    async def _cancel(self, request, response):
        self.canceled += 1
        if self.canceled == 1:
            await Future()
        response.goals_canceling = [request.goal_info]
        return response

    def show(self, goal_id, status):
        message = GoalStatus(status=status)
        message.goal_info.goal_id = uuid_msg(goal_id)
        self._status.publish(GoalStatusArray(status_list=[message]))


class Bench:
    """The hardware as a capability node has it, and what it says."""

    def __init__(self, watcher):
        self.watcher = watcher
        self.waits = Waits(watcher.node, 0.01)
        self.late = []
        self.server = BrokenServer(watcher.node)
        self.tool = hardware(
            watcher.node,
            self.waits,
            TOOL,
            ReentrantCallbackGroup(),
            2.0,
            lambda _, said: self.late.append(said),
        )

    def order(self, seconds):
        now = self.waits.now
        return msgspec.structs.replace(
            ORDER,
            goal_id=uuid.uuid4(),
            interaction=Interaction.DISPATCHED,
            dispatched=now,
            deadline=now + round(seconds * SECOND),
        )

    def ask(self, call, *arguments):
        said = []

        async def work():
            said.append(await call(*arguments))

        self.watcher._executor.create_task(work)
        return self.watcher.until(lambda: said, 30, "an answer")[0]

    def send(self, order):
        return self.ask(self.tool.send, order, lambda _: None)


@pytest.fixture
def bench(watcher):
    return Bench(watcher)


@pytest.mark.parametrize(
    "status",
    [GoalStatus.STATUS_UNKNOWN, GoalStatus.STATUS_EXECUTING, GoalStatus.STATUS_ABORTED + 1, 127, -128],
)
def test_a_result_with_a_status_that_is_no_end_is_no_answer(bench, status):
    order = bench.order(20)
    bench.server.accept.set_result(True)
    assert bench.send(order).interaction is Interaction.ACCEPTED
    bench.server.result.set_result(status)
    said = bench.ask(bench.tool.result, order)
    assert said.interaction is Interaction.LOST
    assert str(status) in said.detail


def test_an_acceptance_after_the_deadline_is_told_late_and_so_is_the_result(bench):
    order = bench.order(0.3)
    assert bench.send(order).interaction is Interaction.LOST
    assert bench.late == []
    bench.server.accept.set_result(True)
    bench.watcher.until(lambda: bench.late, what="the late acceptance")
    bench.server.result.set_result(GoalStatus.STATUS_SUCCEEDED)
    bench.watcher.until(lambda: len(bench.late) == 2, what="the late result")
    assert [said.interaction for said in bench.late] == [Interaction.ACCEPTED, Interaction.SUCCEEDED]
    assert bench.server.goals == [order.goal_id.bytes]  # sent once


def test_an_acceptance_that_is_lost_is_told_by_the_servers_list_of_goals(bench):
    for status in (GoalStatus.STATUS_EXECUTING, GoalStatus.STATUS_SUCCEEDED):
        order = bench.order(3600)
        bench.server.show(order.goal_id, status)
        said = bench.send(order)
        assert said.interaction is Interaction.ACCEPTED
        assert "by its status" in said.detail
    bench.server.result.set_result(GoalStatus.STATUS_SUCCEEDED)
    assert bench.ask(bench.tool.result, order).interaction is Interaction.SUCCEEDED


def test_a_result_that_is_lost_is_asked_for_again_once_the_goal_has_ended(bench):
    order = bench.order(3600)
    bench.server.unanswered = 1
    bench.server.accept.set_result(True)
    bench.server.result.set_result(GoalStatus.STATUS_ABORTED)
    assert bench.send(order).interaction is Interaction.ACCEPTED
    bench.watcher.until(lambda: bench.server.asked == 1, what="the first question")
    bench.server.show(order.goal_id, GoalStatus.STATUS_ABORTED)
    assert bench.ask(bench.tool.result, order).interaction is Interaction.ABORTED
    assert bench.server.asked == 2


def test_a_cancel_request_whose_answer_is_lost_is_made_again(bench):
    order = bench.order(3600)
    bench.server.accept.set_result(True)
    assert bench.send(order).interaction is Interaction.ACCEPTED
    assert bench.ask(bench.tool.cancel, order) == (True, "the cancel request was accepted")
    assert bench.server.canceled == 2


@pytest.mark.parametrize("status", [GoalStatus.STATUS_UNKNOWN, 7])
def test_nonsense_in_the_list_of_goals_is_no_acceptance(bench, status):
    order = bench.order(2.0)
    bench.server.show(order.goal_id, status)
    assert bench.send(order).interaction is Interaction.LOST


def test_a_refusal_after_the_deadline_is_told_late(bench):
    assert bench.send(bench.order(0.3)).interaction is Interaction.LOST
    bench.server.accept.set_result(False)
    bench.watcher.until(lambda: bench.late, what="the late refusal")
    assert [said.interaction for said in bench.late] == [Interaction.REJECTED]


def test_a_result_after_the_deadline_is_told_late(bench):
    order = bench.order(0.5)
    bench.server.accept.set_result(True)
    assert bench.send(order).interaction is Interaction.ACCEPTED
    assert bench.ask(bench.tool.result, order).interaction is Interaction.LOST
    bench.server.result.set_result(GoalStatus.STATUS_ABORTED)
    bench.watcher.until(lambda: bench.late, what="the late result")
    assert [said.interaction for said in bench.late] == [Interaction.ABORTED]


@pytest.mark.parametrize("status", [GoalStatus.STATUS_UNKNOWN, 7, 127])
def test_an_invalid_status_of_an_attempt_in_doubt_says_nothing(bench, status):
    """The result does not come and the status is nonsense: neither running nor ended: ask again later."""
    order = bench.order(60)
    bench.server.show(order.goal_id, status)
    said = bench.ask(bench.tool.ask, order, -1)
    assert said.answer is None
    assert said.interaction is order.interaction


def test_a_result_with_an_invalid_status_settles_no_doubt(bench):
    order = bench.order(60)
    bench.server.result.set_result(99)
    said = bench.ask(bench.tool.ask, order, 0)
    assert said.interaction is Interaction.LOST
    assert said.answer is Answer.CANNOT_TELL


def test_a_server_that_forgot_cannot_tell_unless_it_must_remember(bench):
    order = bench.order(60)
    bench.server.result.set_result(GoalStatus.STATUS_UNKNOWN)
    assert bench.ask(bench.tool.ask, order, -1).answer is Answer.CANNOT_TELL
    assert bench.ask(bench.tool.ask, order, order.dispatched + 1).answer is Answer.CANNOT_TELL
    assert bench.ask(bench.tool.ask, order, order.dispatched).answer is Answer.NEVER_ACCEPTED
    long_ago = msgspec.structs.replace(order, dispatched=order.dispatched - 3600 * SECOND)
    assert bench.ask(bench.tool.ask, long_ago, 0).answer is Answer.CANNOT_TELL
