"""The planner's client against a scripted authority: answers, silence, absence, calls in the wrong place."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

pytest.importorskip("rclpy", reason="the client needs ROS")
pytest.importorskip("adf_ea_ros.msg", reason="the client needs the built interfaces")

from adf_ea_ros.action import Execute
from rclpy.action import ActionServer, GoalResponse
from rclpy.callback_groups import ReentrantCallbackGroup

from adf_ea_ros import msg, srv
from adf_ea_ros.nodes.client import (
    AsyncPlanner,
    AuthorityMissing,
    NoAnswer,
    NotStarted,
    Planner,
    PlannerError,
    ProviderMissing,
    WouldBlock,
    step,
)
from adf_ea_ros.nodes.isolation import DomainLease
from adf_ea_ros.nodes.support import latched
from adf_ea_ros.testing.watcher import Watcher

pytestmark = pytest.mark.ros


class Scripted:
    """Plays authority and capability node on one node; attributes say how it answers."""

    def __init__(self, watcher: Watcher) -> None:
        node = watcher.node
        group = ReentrantCallbackGroup()
        self.refuse_start = False
        self.not_ready = 0  # so many starts are refused because the authority is not active yet
        self.swallow: set[str] = set()  # services that never answer
        self.swallow_first: set[str] = set()  # services that do not answer the first request
        self.reject_goals = False
        self.arrives_after = 0  # so many lists name no provider
        self.ran: list[tuple[str, str]] = []
        self.publisher = node.create_publisher(msg.Decision, "/authority/decisions", latched(100))
        for kind, name, answer in (
            (srv.StartEpisode, "start_episode", self._start),
            (srv.ReviseProposal, "revise_proposal", self._decided),
            (srv.ClaimCompletion, "claim_completion", self._decided),
            (srv.Observe, "observe", self._decided),
            (srv.StopEpisode, "stop_episode", self._decided),
            (srv.GetEpisode, "get_episode", self._episode),
            (srv.ListCapabilities, "list_capabilities", self._list),
        ):
            node.create_service(kind, f"/authority/{name}", self._maybe(name, answer), callback_group=group)
        self._action = ActionServer(
            node,
            Execute,
            "/execute/heater_a",
            self._execute,
            callback_group=group,
            goal_callback=lambda _: GoalResponse.REJECT if self.reject_goals else GoalResponse.ACCEPT,
        )

    def _maybe(self, name: str, answer: Callable[..., Any]) -> Callable[..., Any]:
        async def handle(request: Any, response: Any) -> Any:
            from rclpy.task import Future

            if name in self.swallow or name in self.swallow_first:
                self.swallow_first.discard(name)
                await Future()
            return answer(request, response)

        return handle

    def decide(self, number: int, episode: str = "e") -> None:
        self.publisher.publish(msg.Decision(id=f"{episode}:{number}", episode=episode, authorized=True))

    def _start(self, request: Any, response: Any) -> Any:
        if self.not_ready:
            self.not_ready -= 1
            response.decision.reasons = ["X5.not_ready"]
            return response
        response.started = not self.refuse_start
        response.episode = "" if self.refuse_start else "e"
        response.decision.reasons = ["X5.task"] if self.refuse_start else []
        response.decision.sentence = f"no task {request.task}" if self.refuse_start else "begun"
        return response

    def _decided(self, request: Any, response: Any) -> Any:
        response.decision.authorized = request.episode == "e"
        return response

    def _episode(self, request: Any, response: Any) -> Any:
        response.found = request.episode in ("", "e")
        response.episode.id = "e"
        response.episode.steps = [step("heat", "heat_to", sample="s1", target=80)]
        return response

    def _list(self, request: Any, response: Any) -> Any:
        self.arrives_after -= 1
        there = [] if self.arrives_after >= 0 else ["heater_a"]
        response.capabilities = [msg.Capability(id="heat_to", providers=there)]
        return response

    def _execute(self, handle: Any) -> Any:
        goal = handle.request
        self.ran.append((goal.step, goal.provider))
        handle.publish_feedback(Execute.Feedback(phase="running"))
        handle.succeed()
        return Execute.Result(outcome=Execute.Result.VERIFIED, attempt="e.1")


@pytest.fixture
def authority(watcher: Watcher) -> Iterator[Scripted]:
    """A scripted authority that is spun in a thread."""
    scripted = Scripted(watcher)
    stop = threading.Event()

    def spin() -> None:
        while not stop.is_set():
            watcher.spin()

    thread = threading.Thread(target=spin)
    thread.start()
    try:
        yield scripted
    finally:
        stop.set()
        thread.join()


@pytest.fixture
def planner(domain: DomainLease) -> Iterator[Planner]:
    with Planner(domain_id=domain.domain, timeout=10.0) as planner:
        yield planner


def test_a_device_that_is_not_there_yet_is_waited_for(authority: Scripted, planner: Planner) -> None:
    authority.arrives_after = 2
    assert planner.wait_for_provider("heat_to") == ["heater_a"]
    authority.arrives_after = 1000
    with pytest.raises(ProviderMissing, match=r"heat_to .* no provider of it is eligible"):
        planner.wait_for_provider("heat_to", timeout=0.3)
    with pytest.raises(ProviderMissing, match=r"heat_too .* no contract: there are heat_to"):
        planner.wait_for_provider("heat_too", timeout=0.0)


def test_a_task_from_start_to_claim(authority: Scripted, planner: Planner) -> None:
    phases: list[str] = []
    assert planner.start("t") == "e"
    assert planner.propose([step("heat", "heat_to", sample="s1", target=80)]).authorized
    result = planner.run("heat", on_feedback=lambda feedback: phases.append(feedback.phase))
    assert result.outcome == Execute.Result.VERIFIED
    assert authority.ran == [("heat", "heater_a")]  # the first provider that is listed
    assert planner.observe("heat").decision.authorized
    assert planner.claim().authorized
    assert planner.stop("done").authorized


def test_a_refused_start_says_why(authority: Scripted, planner: Planner) -> None:
    authority.refuse_start = True
    with pytest.raises(NotStarted, match=r"no task t \[X5.task\]"):
        planner.start("t")
    assert planner.episode_id == ""


def test_a_start_waits_for_an_authority_that_is_not_ready_yet(authority: Scripted, planner: Planner) -> None:
    authority.not_ready = 3
    assert planner.start("t") == "e"
    assert authority.not_ready == 0
    authority.not_ready = 1000
    with pytest.raises(NotStarted, match=r"X5.not_ready"):
        planner.start("t")


def test_a_planner_that_was_restarted_goes_on(authority: Scripted, planner: Planner) -> None:
    assert planner.episode().id == "e"  # the latest one
    assert planner.run("heat").outcome == Execute.Result.VERIFIED


def test_an_unknown_step_and_a_rejected_goal_are_clear(authority: Scripted, planner: Planner) -> None:
    planner.start("t")
    with pytest.raises(PlannerError, match="no step 'heet': it has heat"):
        planner.run("heet")
    authority.reject_goals = True
    with pytest.raises(NoAnswer, match="rejected"):
        planner.run("heat", "heater_a")


def test_no_authority_is_said_in_time(domain: DomainLease) -> None:
    with Planner(domain_id=domain.domain, timeout=0.3) as planner:
        begun = time.monotonic()
        with pytest.raises(
            AuthorityMissing, match=f"/authority/start_episode is not there.*domain {domain.domain}"
        ):
            planner.start("t")
        assert time.monotonic() - begun < 5.0


def test_silence_is_said_in_time(authority: Scripted, planner: Planner) -> None:
    planner.start("t")
    planner._async._timeout = 0.5
    authority.swallow.add("claim_completion")
    with pytest.raises(NoAnswer, match="claim_completion"):
        planner.claim()


def test_a_question_that_got_lost_is_asked_again(authority: Scripted, planner: Planner) -> None:
    planner.start("t")
    authority.swallow_first.add("get_episode")
    assert planner.episode().id == "e"


def test_decisions_begin_with_the_past_and_go_on(authority: Scripted, planner: Planner) -> None:
    authority.decide(1)
    authority.decide(1, episode="another")
    planner.start("t")
    stream = planner.decisions(timeout=10.0)
    assert next(stream).id == "e:1"
    authority.decide(2)
    assert next(stream).id == "e:2"
    stream.close()
    assert list(planner.decisions(timeout=0.2)) != []


def test_a_blocking_call_in_its_own_callback_is_refused(authority: Scripted, domain: DomainLease) -> None:
    raised: list[BaseException] = []
    heard = threading.Event()

    def on_decision(_: Any) -> None:
        try:
            planner.episode()
        except PlannerError as error:
            raised.append(error)
        heard.set()

    with Planner("callback", domain_id=domain.domain, on_decision=on_decision) as planner:
        authority.decide(1)
        assert heard.wait(20.0)
        assert isinstance(raised[0], WouldBlock)
        assert planner.start("t") == "e"  # it lives on


def test_a_failing_callback_does_not_end_the_client(authority: Scripted, domain: DomainLease) -> None:
    heard = threading.Event()

    def on_decision(_: Any) -> None:
        heard.set()
        raise RuntimeError("a bug of the user")

    with Planner("buggy", domain_id=domain.domain, on_decision=on_decision) as planner:
        authority.decide(1)
        assert heard.wait(20.0)
        assert planner.start("t") == "e"


def test_a_closed_planner_says_so(domain: DomainLease) -> None:
    planner = Planner(domain_id=domain.domain)
    planner.close()
    planner.close()
    with pytest.raises(PlannerError, match="closed"):
        planner.claim()


def test_the_async_form_in_a_callback_of_a_shared_executor(domain: DomainLease) -> None:
    """Authority, capability and planner on one single-threaded executor: nothing may wait for itself."""
    with Watcher(domain, "shared") as watcher:
        authority = Scripted(watcher)
        planner = AsyncPlanner(watcher.node, timeout=10.0)
        outcome: list[Any] = []

        async def work() -> None:
            await planner.start("t")
            outcome.append((await planner.run("heat", "heater_a")).outcome)
            stream = planner.decisions()
            authority.decide(7)
            async for decision in stream:
                outcome.append(decision.id)
                break
            stream.close()

        timer = watcher.node.create_timer(0.01, lambda: None)
        timer.callback = _once(timer, work)
        watcher.until(lambda: len(outcome) == 2, 20.0)
        assert outcome == [Execute.Result.VERIFIED, "e:7"]
        planner.close()


def _once(timer: Any, work: Callable[[], Any]) -> Callable[[], Any]:
    async def call() -> None:
        timer.cancel()
        await work()

    return call
