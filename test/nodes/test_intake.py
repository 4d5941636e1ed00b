"""The line in front of the desk, by itself: order, limit, and one decision in a round."""

import pytest
from rclpy.callback_groups import ReentrantCallbackGroup
from std_srvs.srv import SetBool

from adf_ea_ros.nodes.intake import Intake
from adf_ea_ros.nodes.support import REQUESTS

pytestmark = [pytest.mark.ros, pytest.mark.smoke]

LIMIT, CALLS = 10, 300


class Desk:
    """A service behind an intake, in the watcher's own executor, and a client that does not wait."""

    def __init__(self, watcher, first=None):
        self.watcher, self.decided, self.answers = watcher, [], []
        self.intake = Intake(watcher.node, ReentrantCallbackGroup(), LIMIT)
        self.service = self.intake.offer(SetBool, "decide", self.decide, self.failed, self.overload, first)
        self.client = watcher.node.create_client(SetBool, "~/decide", qos_profile=REQUESTS)
        watcher.until(self.client.service_is_ready, what="service")

    def decide(self, request, response):
        self.decided.append(len(self.answers))
        if request.data:
            raise RuntimeError("on purpose")
        response.message = "decided"
        return response

    def failed(self, _request, _response):
        return SetBool.Response(message="failed")

    def overload(self, _request, why):
        assert f"{LIMIT} requests are waiting" in why
        return SetBool.Response(message="overload")

    def call(self, count, data=False):
        for _ in range(count):
            future = self.client.call_async(SetBool.Request(data=data))
            future.add_done_callback(lambda done: self.answers.append(done.result().message))

    def wait(self, count):
        self.watcher.until(lambda: len(self.answers) == count, what=f"{count} answers")


def test_a_burst_is_decided_up_to_the_limit_and_refused_beyond(watcher):
    desk = Desk(watcher)
    desk.call(CALLS)
    desk.wait(CALLS)
    assert desk.answers.count("decided") == len(desk.decided) >= LIMIT
    assert desk.answers.count("overload") == desk.intake.refused == CALLS - len(desk.decided)
    assert desk.intake.refused > CALLS / 2
    assert desk.intake.open == 0


def test_who_waits_for_answers_is_never_refused(watcher):
    desk = Desk(watcher)
    for number in range(1, 3 * LIMIT):
        desk.call(1)
        desk.wait(number)
    assert set(desk.answers) == {"decided"}


def test_a_request_that_fails_is_answered_and_leaves_the_line(watcher):
    desk = Desk(watcher)
    desk.call(3 * LIMIT, data=True)
    desk.wait(3 * LIMIT)
    assert set(desk.answers) == {"failed", "overload"}
    assert desk.intake.open == 0
    desk.call(1)
    desk.wait(3 * LIMIT + 1)
    assert desk.answers[-1] == "decided"


def test_what_a_request_waits_for_comes_before_its_place_in_the_line(watcher):
    waited = []

    async def first(request):
        waited.append(request.data)

    desk = Desk(watcher, first)
    desk.call(2)
    desk.wait(2)
    assert waited == [False, False]
    assert desk.answers == ["decided", "decided"]
