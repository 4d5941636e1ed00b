"""A planner's access to the authority: propose steps, run them, observe, claim (section 7 of the design).

Two forms of the same thing. ``AsyncPlanner`` lives on a node that somebody else spins, and is awaited in its
callbacks and tasks. ``Planner`` is for scripts: it blocks, and spins a node of its own in its own thread.

    with Planner() as planner:
        planner.start("heat_measure_record")
        planner.propose([step("heat", "heat_to", sample="s1", target=80)])
        result = planner.run("heat")            # waits for evidence, not for an acknowledgement
        if result.outcome == Execute.Result.VERIFIED:
            planner.claim()

Deadlines are in seconds of real time: a planner must get an answer also when the robot's clock stands still.
A denial is an answer, not an exception: it says which rule spoke and why. Exceptions are for what prevents an
answer.
"""

from __future__ import annotations

import concurrent.futures
import queue
import threading
from collections.abc import Callable, Coroutine, Iterable, Iterator
from types import TracebackType
from typing import Any, TypeVar

import rclpy
from rclpy.context import Context
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Future
from typing_extensions import Self

from adf_ea_ros.nodes.client_async import (
    ANSWER,
    ARRIVAL,
    RUN,
    AsyncPlanner,
    AuthorityMissing,
    DecisionStream,
    NoAnswer,
    NotStarted,
    PlannerError,
    ProviderMissing,
    Tell,
    WouldBlock,
    step,
)
from adf_ea_ros.nodes.names import AUTHORITY
from adf_ea_ros.nodes.support import guard

__all__ = [
    "AsyncPlanner",
    "AuthorityMissing",
    "DecisionStream",
    "NoAnswer",
    "NotStarted",
    "Planner",
    "PlannerError",
    "ProviderMissing",
    "WouldBlock",
    "step",
]

_T = TypeVar("_T")


class Planner:
    """The blocking client: a context manager with a context, a node and a thread of its own.

    May be called from any thread except from its own callbacks (``on_feedback``, ``on_decision``), where it
    raises WouldBlock. It needs no other executor to spin, so it is safe in a callback of another node too,
    which is deaf until the call returns.
    """

    def __init__(
        self,
        name: str = "planner",
        *,
        authority: str = AUTHORITY,
        namespace: str = "",
        timeout: float = ANSWER,
        domain_id: int | None = None,
        on_decision: Callable[[Any], None] | None = None,
    ) -> None:
        """Args as of AsyncPlanner; ``domain_id`` for ROS_DOMAIN_ID; ``on_decision`` runs in its thread."""
        self._context = Context()
        rclpy.init(
            context=self._context,
            domain_id=domain_id,
            signal_handler_options=SignalHandlerOptions.NO,
            args=[],
        )
        self.node = Node(name, context=self._context, use_global_arguments=False)
        self._async = AsyncPlanner(self.node, authority=authority, namespace=namespace, timeout=timeout)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self.node)
        self._end: Future[None] = Future(executor=self._executor)
        self._thread = threading.Thread(target=self._spin, name=f"{name} client", daemon=True)
        self._thread.start()
        if on_decision is not None:
            taken = guard(self.node, "on_decision", on_decision)
            self._executor.create_task(self._forward, self._async.decisions(), taken)

    @property
    def episode_id(self) -> str:
        """The episode that this client speaks of; empty before ``start``."""
        return self._async.episode_id

    # -- requests: see AsyncPlanner --------------------------------------------------------------------

    def capabilities(self, task: str = "") -> Any:
        """What may be asked for now (ListCapabilities.Response)."""
        return self._wait(self._async.capabilities(task))

    def wait_for_provider(self, capability: str, timeout: float = ARRIVAL) -> list[str]:
        """Wait until providers of a capability may be chosen; gives them. Raises ProviderMissing."""
        return self._wait(self._async.wait_for_provider(capability, timeout))

    def start(self, task: str, planner: str = "") -> str:
        """Take up a loaded task; gives the episode. Raises NotStarted where refused."""
        return self._wait(self._async.start(task, planner))

    def propose(self, steps: Iterable[Any]) -> Any:
        """Propose everything that is still to be done (a Decision)."""
        return self._wait(self._async.propose(steps))

    def run(
        self,
        name: str,
        provider: str = "",
        *,
        evidence_timeout: float = 0.0,
        timeout: float = RUN,
        on_feedback: Tell | None = None,
    ) -> Any:
        """Run one admitted step under assurance (an Execute.Result)."""
        return self._wait(
            self._async.run(
                name, provider, evidence_timeout=evidence_timeout, timeout=timeout, on_feedback=on_feedback
            )
        )

    def observe(self, name: str) -> Any:
        """Spend an observation on a step (Observe.Response)."""
        return self._wait(self._async.observe(name))

    def claim(self) -> Any:
        """Claim completion (a Decision)."""
        return self._wait(self._async.claim())

    def stop(self, reason: str, hand_to: str = "") -> Any:
        """Stop without a claim (a Decision)."""
        return self._wait(self._async.stop(reason, hand_to))

    def approve(
        self, name: str, by: str, reason: str = "", *, valid_for: float = 0.0, episode: str = ""
    ) -> Any:
        """A person approves the next attempt of a step (an Approve.Response)."""
        return self._wait(self._async.approve(name, by, reason, valid_for=valid_for, episode=episode))

    def withdraw(self, name: str, by: str, reason: str = "", *, episode: str = "") -> Any:
        """Take a step's approval back, where no dispatch has used it yet (an Approve.Response)."""
        return self._wait(self._async.withdraw(name, by, reason, episode=episode))

    def advise(self, horizon: int = 0, *, episode: str = "") -> Any:
        """What to do next where outcomes are ambiguous, the best first (an Advise.Response)."""
        return self._wait(self._async.advise(horizon, episode=episode))

    def episode(self, name: str = "") -> Any:
        """How the episode stands (an Episode, or None)."""
        return self._wait(self._async.episode(name))

    def decisions(self, timeout: float | None = None) -> Iterator[Any]:
        """Decisions on this episode as they fall; ends where none comes for ``timeout`` s (None: never)."""
        self._refuse_own_thread()
        found: queue.SimpleQueue[Any] = queue.SimpleQueue()
        stream = self._async.decisions()
        self._executor.create_task(self._forward, stream, found.put)
        try:
            while True:
                try:
                    yield found.get(timeout=timeout)
                except queue.Empty:
                    return
        finally:
            self._executor.create_task(stream.close)

    # -- life ------------------------------------------------------------------------------------------

    def close(self) -> None:
        """End the thread and the node. May be called again."""
        if self._thread.is_alive():
            self._executor.create_task(self._end.set_result, None)
            self._thread.join(timeout=5.0)
            self._context.try_shutdown()
            self._executor.shutdown(timeout_sec=1.0)
            self.node.destroy_node()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # -- inside ----------------------------------------------------------------------------------------

    def _refuse_own_thread(self) -> None:
        if threading.current_thread() is self._thread:
            raise WouldBlock(
                "a blocking call in a callback of this planner's own executor, which would wait for itself: "
                "make the call from another thread, or await AsyncPlanner there"
            )

    def _wait(self, request: Coroutine[Any, Any, _T]) -> _T:
        try:
            self._refuse_own_thread()
        except WouldBlock:
            request.close()
            raise
        if not self._thread.is_alive():
            request.close()
            raise PlannerError("this planner was closed")
        outcome: concurrent.futures.Future[_T] = concurrent.futures.Future()
        self._executor.create_task(_settle, request, outcome)
        while True:
            try:
                return outcome.result(timeout=0.5)
            except concurrent.futures.TimeoutError:
                # Deadlines are kept inside; here only the end of the thread is noticed. (The name of the
                # exception is also that of an outcome that raised it, which none here does.)
                if not self._thread.is_alive():
                    raise PlannerError("this planner was closed while it waited") from None

    @staticmethod
    async def _forward(stream: DecisionStream, take: Callable[[Any], object]) -> None:
        async for decision in stream:
            take(decision)

    def _spin(self) -> None:
        try:
            self._executor.spin_until_future_complete(self._end)
        except ExternalShutdownException:
            pass
        except Exception:
            if self._context.ok():  # else it was shut down by somebody else, between two looks
                raise


async def _settle(request: Coroutine[Any, Any, _T], outcome: concurrent.futures.Future[_T]) -> None:
    """Carry an outcome to the thread that waits: an exception must not end the executor's spin."""
    try:
        outcome.set_result(await request)
    except BaseException as error:  # noqa: BLE001 - raised again where somebody waits for it
        outcome.set_exception(error)
