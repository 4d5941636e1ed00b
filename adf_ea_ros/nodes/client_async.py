"""The async form of the planner's client (see ``client``): for a node that somebody else spins."""

from __future__ import annotations

import contextlib
import json
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable
from typing import Any

from action_msgs.msg import GoalStatus
from builtin_interfaces.msg import Duration as DurationMsg
from rclpy.action import ActionClient
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.clock import Clock, ClockType
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.task import Future

from adf_ea_ros.action import Execute
from adf_ea_ros.msg import Decision, Step
from adf_ea_ros.nodes.names import AUTHORITY, execute_action
from adf_ea_ros.nodes.support import GOALS, PHASES, REQUESTS, guard, latched
from adf_ea_ros.srv import (
    Advise,
    Approve,
    ClaimCompletion,
    GetEpisode,
    ListCapabilities,
    Observe,
    ReviseProposal,
    StartEpisode,
    StopEpisode,
)

ANSWER = 5.0
"""Seconds within which a service of the authority must be there, and again to answer."""

ARRIVAL = 30.0
"""Seconds within which the devices must be there."""

RUN = 120.0
"""Seconds within which a step must have run and been judged."""

_LOOK = 0.05  # seconds between two looks at the graph
_AGAIN = 0.25  # seconds before an authority that is not ready is asked again
NOT_READY = "X5.not_ready"
"""Reason of an authority that decides nothing now: nothing was written, and the same may be asked again."""
_KEPT = 1000  # decisions that a stream holds for a reader who is slow

Tell = Callable[[Any], None]
"""Called with each Execute feedback message."""


class PlannerError(Exception):
    """There is no answer; the text says why, and what to look at."""


class AuthorityMissing(PlannerError):
    """A service or action of the authority is not in the graph: nothing was sent."""


class NoAnswer(PlannerError):
    """Something was sent and nothing came back in time: what became of it is not known. Ask ``episode()``."""


class ProviderMissing(PlannerError):
    """Nothing that provides the capability may be used: not there, or not what its contract names."""


class WouldBlock(PlannerError):
    """A blocking call in a callback of the very executor that has to bring its answer."""


class NotStarted(PlannerError):
    """The authority did not take up the task; ``decision`` says why."""

    def __init__(self, decision: Any) -> None:
        super().__init__(f"not started: {decision.sentence} [{', '.join(decision.reasons)}]")
        self.decision = decision


def step(
    name: str, capability: str, *, after: Iterable[str] = (), occurrence: str = "", **arguments: Any
) -> Any:
    """A Step message: ``step("measure", "measure", after=["heat"], sample="s1")``."""
    return Step(
        id=name,
        capability=capability,
        arguments=json.dumps(arguments),
        after=list(after),
        occurrence=occurrence,
    )


def _duration(seconds: float) -> Any:
    whole, part = divmod(round(seconds * 1e9), 1_000_000_000)
    return DurationMsg(sec=whole, nanosec=part)


class DecisionStream:
    """Decisions as they are published: iterate with ``async for``, in the executor of the node that listens.

    Starts with those that the authority still keeps for late subscribers. A slow reader misses the oldest.
    """

    def __init__(self, close: Callable[[DecisionStream], None]) -> None:
        self._waiting: deque[Any] = deque(maxlen=_KEPT)
        self._close = close
        self._next: Future | None = None
        self._closed = False

    def put(self, decision: Any) -> None:
        """Hand a decision to the reader."""
        self._waiting.append(decision)
        self._wake()

    def close(self) -> None:
        """End the iteration, and listen no more."""
        self._closed = True
        self._close(self)
        self._wake()

    def __aiter__(self) -> AsyncIterator[Any]:
        return self

    async def __anext__(self) -> Any:
        while not self._waiting:
            if self._closed:
                raise StopAsyncIteration
            self._next = Future()
            await self._next
        return self._waiting.popleft()

    def _wake(self) -> None:
        if self._next is not None and not self._next.done():
            self._next.set_result(None)


class AsyncPlanner:
    """The client on a node of yours. Await its methods in callbacks and tasks of the executor that spins it.

    It keeps its own callback group, so that awaiting in one of your callbacks holds up none of its answers.
    From asyncio use the blocking ``Planner`` with ``asyncio.to_thread``.
    """

    def __init__(
        self,
        node: Node,
        *,
        authority: str = AUTHORITY,
        namespace: str = "",
        timeout: float = ANSWER,
    ) -> None:
        """Args: full name of the authority, namespace of the capability nodes, seconds for each request."""
        self.node = node
        self.authority = authority.rstrip("/")
        self.episode_id = ""
        self._timeout = timeout
        self._group = ReentrantCallbackGroup()
        self._steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._clients: dict[str, Any] = {}
        self._streams: list[DecisionStream] = []
        self._past: deque[Any] = deque(maxlen=_KEPT)
        self._namespace = namespace
        self._actions: dict[str, ActionClient] = {}
        self._steps: dict[str, str] = {}  # step: its capability
        self._subscription = node.create_subscription(
            Decision,
            f"{self.authority}/decisions",
            guard(node, "decision", self._on_decision),
            latched(_KEPT),
            callback_group=self._group,
        )

    # -- requests --------------------------------------------------------------------------------------

    async def capabilities(self, task: str = "") -> Any:
        """What may be asked for now, within one task or at all (ListCapabilities.Response)."""
        request = ListCapabilities.Request(task=task)
        return await self._call(ListCapabilities, "list_capabilities", request, again=True)

    async def wait_for_provider(self, capability: str, timeout: float = ARRIVAL) -> list[str]:
        """Wait until providers of a capability may be chosen; gives them, in their order.

        Raises ProviderMissing, or AuthorityMissing or NoAnswer where it was the authority that was absent.
        """
        over = self._steady.now() + Duration(seconds=timeout)
        while True:
            missing: PlannerError
            try:
                listed = {c.id: list(c.providers) for c in (await self.capabilities()).capabilities}
            except (AuthorityMissing, NoAnswer) as error:
                missing = error
            else:
                if listed.get(capability):
                    return listed[capability]
                known = f"there are {', '.join(sorted(listed)) or 'none'}"
                fault = "no provider of it is eligible" if capability in listed else f"no contract: {known}"
                missing = ProviderMissing(f"{capability} cannot be run after {timeout:g} s: {fault}")
            if self._steady.now() >= over:
                raise missing
            await self._pause(_AGAIN)

    async def start(self, task: str, planner: str = "") -> str:
        """Take up a loaded task; gives the episode, which the other methods then speak of.

        An authority that has just been started may not be active yet, or have no simulated time: it is asked
        again for as long as a request may take.

        Raises:
            NotStarted: refused.
        """
        request = StartEpisode.Request(task=task, planner=planner or self.node.get_name())
        answer = await self._call(StartEpisode, "start_episode", request)
        for _ in range(round(self._timeout / _AGAIN)):
            if answer.started or NOT_READY not in answer.decision.reasons:
                break
            await self._pause(_AGAIN)
            answer = await self._call(StartEpisode, "start_episode", request)
        if not answer.started:
            raise NotStarted(answer.decision)
        self.episode_id = answer.episode
        return self.episode_id

    async def propose(self, steps: Iterable[Any]) -> Any:
        """Propose everything that is still to be done (a Decision). History, obligations and budgets stay."""
        request = ReviseProposal.Request(
            episode=self.episode_id, steps=list(steps), author=self.node.get_name()
        )
        decision = (await self._call(ReviseProposal, "revise_proposal", request)).decision
        if decision.authorized:
            self._steps = {stated.id: stated.capability for stated in request.steps}
        return decision

    async def observe(self, name: str) -> Any:
        """Spend an observation on a step (Observe.Response). What it shows follows on the decision topic."""
        return await self._call(Observe, "observe", Observe.Request(episode=self.episode_id, step=name))

    async def claim(self) -> Any:
        """Claim completion (a Decision)."""
        request = ClaimCompletion.Request(episode=self.episode_id)
        return (await self._call(ClaimCompletion, "claim_completion", request)).decision

    async def stop(self, reason: str, hand_to: str = "") -> Any:
        """Stop without a claim (a Decision); ``hand_to`` names who takes over."""
        request = StopEpisode.Request(
            episode=self.episode_id, by=self.node.get_name(), reason=reason, hand_to=hand_to
        )
        return (await self._call(StopEpisode, "stop_episode", request)).decision

    async def approve(
        self, name: str, by: str, reason: str = "", *, valid_for: float = 0.0, episode: str = ""
    ) -> Any:
        """A person approves the next attempt of a step (an Approve.Response). Whoever planned it may not.

        Args:
            by: who answers for it; the authority takes the name as it is given.
            valid_for: seconds of ROS time; 0: as long as the contract allows.
            episode: another one than that of this client.
        """
        request = Approve.Request(
            episode=episode or self.episode_id,
            step=name,
            by=by,
            reason=reason,
            valid_for=_duration(valid_for),
        )
        return await self._call(Approve, "approve", request)

    async def withdraw(self, name: str, by: str, reason: str = "", *, episode: str = "") -> Any:
        """Take a step's approval back, where no dispatch has used it yet (an Approve.Response)."""
        request = Approve.Request(
            episode=episode or self.episode_id, step=name, withdraw=True, by=by, reason=reason
        )
        return await self._call(Approve, "approve", request)

    async def advise(self, horizon: int = 0, *, episode: str = "") -> Any:
        """What to do next where outcomes are ambiguous, the best first (an Advise.Response). Spends nothing.

        Args:
            horizon: decisions to look ahead; 0: the authority's own.
            episode: another one than that of this client.
        """
        request = Advise.Request(episode=episode or self.episode_id, horizon=horizon)
        return await self._call(Advise, "advise", request, again=True)

    async def episode(self, name: str = "") -> Any:
        """How the episode stands (an Episode): obligations, attempts, facts, and what would be accepted next.

        ``name``: another one than that of this client, which then speaks of it: so a planner goes on after a
        restart of its own. None where the authority knows no such episode.
        """
        request = GetEpisode.Request(episode=name or self.episode_id)
        answer = await self._call(GetEpisode, "get_episode", request, again=True)
        if not answer.found:
            return None
        self.episode_id = answer.episode.id
        return answer.episode

    async def run(
        self,
        name: str,
        provider: str = "",
        *,
        evidence_timeout: float = 0.0,
        timeout: float = RUN,
        on_feedback: Tell | None = None,
    ) -> Any:
        """Run one admitted step under assurance (an Execute.Result).

        Args:
            provider: empty for the first one that the authority lists as eligible.
            evidence_timeout: seconds of ROS time for evidence after the answer; 0: the node's default.

        Raises:
            AuthorityMissing: no capability node offers the action; nothing was sent.
            NoAnswer: sent, and no result in time. It may run, or have run: ask ``episode()``.
        """
        provider = provider or await self._first_provider(name)
        action_name = execute_action(provider, self._namespace)
        action = self._actions.get(provider)
        if action is None:
            action = ActionClient(
                self.node,
                Execute,
                action_name,
                callback_group=self._group,
                feedback_sub_qos_profile=PHASES,
                **GOALS,
            )
            self._actions[provider] = action
        await self._until(action.server_is_ready, lambda: self._missing(action_name))
        goal = Execute.Goal(
            episode=self.episode_id,
            step=name,
            provider=provider,
            evidence_timeout=_duration(evidence_timeout),
        )

        def on_message(message: Any) -> None:
            if on_feedback is not None:
                on_feedback(message.feedback)

        feedback = guard(self.node, "on_feedback", on_message)
        sent = action.send_goal_async(goal, feedback_callback=feedback)
        handle = await self._within(sent, self._timeout, f"whether step {name} was taken")
        if not handle.accepted:
            raise NoAnswer(f"the capability node at {action_name} rejected the goal for step {name}")
        answer = await self._within(handle.get_result_async(), timeout, f"the result of step {name}")
        if answer.status == GoalStatus.STATUS_UNKNOWN or not answer.result.outcome:
            raise NoAnswer(f"the goal for step {name} ended without a result")
        return answer.result

    def decisions(self) -> DecisionStream:
        """Decisions on this client's episode, from now on and as far back as the authority keeps them."""
        stream = DecisionStream(self._streams.remove)
        self._streams.append(stream)
        for decision in self._past:
            if self._concerns(decision):
                stream.put(decision)
        return stream

    def close(self) -> None:
        """Take everything off the node."""
        for stream in list(self._streams):
            stream.close()
        self.node.destroy_subscription(self._subscription)
        for action in self._actions.values():
            action.destroy()
        for client in self._clients.values():
            self.node.destroy_client(client)

    # -- inside ----------------------------------------------------------------------------------------

    async def _first_provider(self, name: str) -> str:
        """The first eligible provider of a step's capability."""
        if name not in self._steps:
            found = await self.episode()
            self._steps = (
                {stated.id: stated.capability for stated in found.steps} if found is not None else {}
            )
        capability = self._steps.get(name)
        if not self._steps:
            raise PlannerError(f"no proposal has been admitted in this episode, so it has no step {name!r}")
        if capability is None:
            raise PlannerError(f"the admitted proposal has no step {name!r}: it has {', '.join(self._steps)}")
        for listed in (await self.capabilities()).capabilities:
            if listed.id == capability and listed.providers:
                return str(listed.providers[0])
        raise ProviderMissing(f"no provider of {capability} is eligible now")

    def _on_decision(self, decision: Any) -> None:
        self._past.append(decision)
        if self._concerns(decision):
            for stream in list(self._streams):
                stream.put(decision)

    def _concerns(self, decision: Any) -> bool:
        return not self.episode_id or decision.episode == self.episode_id

    async def _call(self, kind: Any, name: str, request: Any, *, again: bool = False) -> Any:
        """Send a request and wait; ``again``: it only asks, so it is sent again while nothing comes back.

        A request to an authority that has just died is lost, and DDS shows the dead one for many seconds.
        """
        full = f"{self.authority}/{name}"
        client = self._clients.get(name)
        if client is None:
            client = self.node.create_client(kind, full, qos_profile=REQUESTS, callback_group=self._group)
            self._clients[name] = client
        await self._until(client.service_is_ready, lambda: self._missing(full))
        sends = max(1, round(self._timeout)) if again else 1
        for _ in range(sends):
            future = client.call_async(request)
            try:
                return await self._within(future, self._timeout / sends, f"an answer of {full}")
            except NoAnswer:
                client.remove_pending_request(future)
        raise NoAnswer(f"{full} did not answer within {self._timeout:g} s")

    def _missing(self, name: str) -> AuthorityMissing:
        domain = self.node.context.get_domain_id()
        return AuthorityMissing(
            f"{name} is not there after {self._timeout:g} s: are authority and capability node running, and "
            f"in ROS domain {domain}?"
        )

    async def _until(self, condition: Callable[[], bool], missing: Callable[[], PlannerError]) -> None:
        """Look at the graph now and then, without blocking the executor, until the condition holds."""
        if condition():
            return
        done = Future()
        left = round(self._timeout / _LOOK) + 1

        def look() -> None:
            nonlocal left
            left -= 1
            if not done.done() and (left < 0 or condition()):
                done.set_result(None)

        timer = self.node.create_timer(_LOOK, look, callback_group=self._group, clock=self._steady)
        try:
            await done
        finally:
            self.node.destroy_timer(timer)
        if left < 0:
            raise missing()

    async def _pause(self, seconds: float) -> None:
        with contextlib.suppress(NoAnswer):
            await self._within(Future(), seconds, "nothing")

    async def _within(self, future: Any, seconds: float, what: str) -> Any:
        """The future's result; raises NoAnswer after so many seconds of real time."""
        late = Future()

        def wake(*_: Any) -> None:
            if not late.done():
                late.set_result(None)

        timer = self.node.create_timer(seconds, wake, callback_group=self._group, clock=self._steady)
        future.add_done_callback(wake)
        try:
            await late
        finally:
            self.node.destroy_timer(timer)
        if not future.done():
            raise NoAnswer(f"waited {seconds:g} s for {what}")
        return future.result()
