"""The port to an authority in another process, against a scripted one that dies and is replaced."""

import pytest
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.task import Future

from adf_ea_ros import msg, srv
from adf_ea_ros.nodes.port import ServicePort
from adf_ea_ros.nodes.support import latched
from adf_ea_ros.nodes.waiting import Waits
from adf_ea_ros.runtime.port import Unreachable

pytestmark = pytest.mark.ros


class Scripted:
    """Answers admissions but the first ``lost``."""

    def __init__(self, node, lost):
        group = ReentrantCallbackGroup()
        self.generation, self.lost, self.asked = 1, lost, []
        self._decisions = node.create_publisher(msg.Decision, "/authority/decisions", latched(10))
        node.create_service(
            srv.ListAttempts, "/authority/list_attempts", self._attempts, callback_group=group
        )
        node.create_service(srv.Admit, "/authority/admit", self._admit, callback_group=group)

    def _attempts(self, _, response):
        response.generation = self.generation
        return response

    async def _admit(self, request, response):
        self.asked.append(request.step)
        if len(self.asked) <= self.lost:
            await Future()
        response.decision.sentence = f"by generation {self.generation}"
        return response

    def restart(self):
        """Another one is in its place, and says so."""
        self.generation += 1
        self._decisions.publish(msg.Decision(generation=self.generation, request="Restart"))


@pytest.fixture
def ask(watcher):
    """A function that asks to admit a step; the future says what came of it."""
    node, group = watcher.node, ReentrantCallbackGroup()
    port = ServicePort(node, Waits(node), "/authority", 2.0, 0.0, group)

    def asked():
        async def run():
            try:
                return (await port.admit("e", "heat", "heater_a", 0))[0].sentence
            except Unreachable as error:
                return str(error)

        return watcher._executor.create_task(run)

    return asked


def test_what_a_dead_authority_was_asked_its_successor_is_asked_again(watcher, ask):
    authority = Scripted(watcher.node, lost=1)
    said = ask()
    watcher.until(lambda: authority.asked, what="the request that gets lost")
    authority.restart()
    assert watcher.result(said) == "by generation 2"
    assert authority.asked == ["heat", "heat"]


def test_an_authority_that_is_merely_silent_is_asked_once(watcher, ask):
    authority = Scripted(watcher.node, lost=1)
    assert "did not answer within 2 s" in watcher.result(ask())
    assert authority.asked == ["heat"]


def test_an_authority_that_goes_on_restarting_is_asked_twice(watcher, ask):
    authority = Scripted(watcher.node, lost=2)
    said = ask()
    for number in (1, 2):
        watcher.until(lambda count=number: len(authority.asked) == count, what="a request")
        authority.restart()
    assert "or restarted" in watcher.result(said)
    assert authority.asked == ["heat", "heat"]
