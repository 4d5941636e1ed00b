"""The desk of an authority: takes requests with the time of their arrival, also while it is closed.

An authority that is not active, or whose clock has not started, refuses everything and says so. Calls must be
serialized, as for the service behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from adf_ea_ros.authority.decision import Decision
from adf_ea_ros.authority.grounding import Step
from adf_ea_ros.authority.model import Interaction
from adf_ea_ros.authority.requests import Answer
from adf_ea_ros.authority.state import State
from adf_ea_ros.contracts.conditions import Ns
from adf_ea_ros.ledger.errors import LedgerError
from adf_ea_ros.recovery.advise import HORIZON, Advice
from adf_ea_ros.runtime.advising import advise_now
from adf_ea_ros.runtime.public import Order, Ruling, not_ready, order, refusal, ruling
from adf_ea_ros.runtime.service import AuthorityService
from adf_ea_ros.runtime.standing import LENGTH, Asked, Standing

Watcher = Callable[[Ruling, State], None]
"""Called with every decision, once it is durable. Must not call the desk: decisions do not nest."""
Ask = Callable[[AuthorityService, Ns], Decision]


class Desk:
    """In front of one ``AuthorityService``, which may come and go."""

    def __init__(self, clock: Callable[[], Ns]) -> None:
        """``clock`` gives the ROS time; 0 where it has not started."""
        self._clock = clock
        self._service: AuthorityService | None = None
        self._last: tuple[Decision, Ruling] | None = None
        self.closed = "it is not configured"
        """Why nothing is decided; empty while the desk is open."""
        self.standing_length = LENGTH
        self.watchers: list[Watcher] = []

    # -- life ------------------------------------------------------------------------------------------

    def open(self, service: AuthorityService) -> None:
        """Begin to decide. The service has recovered already."""
        self._service = service
        self.closed = ""

    def watch(self, service: AuthorityService) -> None:
        """Tell the watchers what ``service`` decides, also before the desk opens: a restart is news."""

        def told(episode: str, decision: Decision, after: State) -> None:
            said = ruling(episode, decision, self.now, service.book.generation)
            self._last = (decision, said)
            for watcher in self.watchers:
                watcher(said, after)

        service.listeners.append(told)

    def close(self, why: str) -> None:
        """Decide nothing from now on."""
        self._service = None
        self.closed = why

    @property
    def now(self) -> Ns:
        """ROS time."""
        return self._clock()

    @property
    def service(self) -> AuthorityService | None:
        """The service, while the desk is open."""
        return self._service

    @property
    def generation(self) -> int:
        """Of the authority; 0 while it is closed."""
        return self._service.book.generation if self._service is not None else 0

    def _shut(self) -> str:
        """Why a request cannot be taken now; empty where it can."""
        return self.closed or ("" if self.now > 0 else "its clock has not started: nothing publishes /clock")

    def _decide(self, request: str, subject: str, ask: Ask) -> tuple[Ruling, Decision | None]:
        """Have the service decide; where it cannot, say why."""
        now, service = self.now, self._service
        if service is None or self._shut():
            return not_ready(request, subject, self._shut(), now), None
        try:
            decision = ask(service, now)
        except LedgerError as error:  # reading failed; a failed append is a decision, and void
            return refusal(request, subject, "X5.ledger", str(error), now), None
        return self._said(decision, now), decision

    def _said(self, decision: Decision, now: Ns) -> Ruling:
        if self._last is not None and self._last[0] is decision:
            return self._last[1]
        return ruling(decision.after.episode, decision, now, self.generation)

    # -- requests --------------------------------------------------------------------------------------

    def admit(
        self, episode: str, step: str, provider: str, generation: int = 0
    ) -> tuple[Ruling, Order | None]:
        """Ask to run a step now; the order is to be carried out where there is one."""
        said, decision = self._decide(
            "Dispatch", step, lambda s, now: s.dispatch(episode, step, provider, now, generation)
        )
        if decision is None or decision.attempt is None:
            return said, None
        return said, order(decision.after, decision.attempt, self.now)

    def admit_goal(self, asked: Asked) -> tuple[Ruling, Order | None]:
        """Ask to carry out a goal of a client that knows no episode."""
        said, decision = self._decide(
            "Dispatch",
            asked.capability,
            lambda s, now: Standing(s, self.standing_length).admit(asked, now),
        )
        if decision is None or decision.attempt is None:
            return said, None
        return said, order(decision.after, decision.attempt, self.now)

    def report(
        self, attempt: str, answer: Answer | None, interaction: Interaction, detail: str = ""
    ) -> Ruling:
        """Take a provider's answer, or (with ``answer``) what it says of an attempt in doubt.

        What evidence then makes of it is a decision of its own, and is told to the watchers.
        """

        def ask(service: AuthorityService, now: Ns) -> Decision:
            if answer is None:
                return service.report(attempt, interaction, now, detail)
            return service.reconcile(attempt, answer, interaction, now, detail)

        return self._decide("Report", attempt, ask)[0]

    def start_episode(self, task: str, planner: str) -> tuple[str, Ruling]:
        """Take up a task; the name of the episode is empty where that is refused."""
        started = ""

        def ask(service: AuthorityService, now: Ns) -> Decision:
            nonlocal started
            started, decision = service.start_episode(task, planner, now)
            return decision

        said, _ = self._decide("Begin", task, ask)
        return started, said

    def revise(self, episode: str, steps: Iterable[Step], author: str) -> Ruling:
        """Propose the residual plan."""
        return self._decide("Revise", author, lambda s, now: s.revise(episode, steps, author, now))[0]

    def observe(self, episode: str, step: str) -> Ruling:
        """Spend an observation."""
        return self._decide("Observe", step, lambda s, now: s.observe(episode, step, now))[0]

    def claim(self, episode: str) -> Ruling:
        """Claim completion."""
        return self._decide("Claim", "", lambda s, now: s.claim(episode, now))[0]

    def stop(self, episode: str, by: str, reason: str, hand_to: str = "") -> Ruling:
        """Stop without a claim."""
        return self._decide("Stop", by, lambda s, now: s.stop(episode, by, reason, now, hand_to))[0]

    def approve(self, episode: str, step: str, by: str, reason: str, valid_for: Ns = 0) -> tuple[Ruling, str]:
        """Approve the next attempt of a step; the name of the approval, empty where that is refused."""
        said, decision = self._decide(
            "Approve", step, lambda s, now: s.approve(episode, step, by, reason, now, valid_for)
        )
        return said, _approval(decision, step)

    def withdraw(self, episode: str, step: str, by: str, reason: str) -> tuple[Ruling, str]:
        """Take a step's approval back; its name, empty where that is refused."""
        said, decision = self._decide(
            "Withdraw", step, lambda s, now: s.withdraw(episode, step, by, reason, now)
        )
        return said, _approval(decision, step)

    def set_availability(self, provider: str, reason: str, *, cancel: bool = False) -> list[Ruling]:
        """Make a provider eligible or not, in every active episode."""
        return self._each(
            "SetAvailability",
            provider,
            lambda s, now: s.set_availability(provider, reason, now, cancel=cancel),
        )

    def halt(self, by: str, reason: str) -> list[Ruling]:
        """Halt every active episode."""
        return self._each("Halt", by, lambda s, now: s.halt(by, reason, now))

    def resume(self, by: str) -> list[Ruling]:
        """Lift the halt."""
        return self._each("Resume", by, lambda s, now: s.resume(by, now))

    def _each(
        self, request: str, subject: str, ask: Callable[[AuthorityService, Ns], list[Decision]]
    ) -> list[Ruling]:
        now, service = self.now, self._service
        if service is None or self._shut():
            return [not_ready(request, subject, self._shut(), now)]
        try:
            return [self._said(decision, now) for decision in ask(service, now)]
        except LedgerError as error:
            return [refusal(request, subject, "X5.ledger", str(error), now)]

    # -- looking ---------------------------------------------------------------------------------------

    def advise(self, episode: str, horizon: int = 0) -> Advice | str:
        """What to do next in an episode (empty: the newest); words where there is no advice to be had."""
        service, shut = self._service, self._shut()
        if service is None or shut:
            return shut or "it is not active"
        try:
            found = advise_now(service, episode, self.now, horizon or HORIZON)
        except LedgerError as error:
            return str(error)
        return found if found is not None else f"there is no episode {episode!r}"

    def open_attempts(self, provider: str = "") -> list[Order]:
        """Attempts whose interaction or outcome is open, of one provider or of all."""
        service = self._service
        if service is None:
            return []
        states = service.book.active()
        return [order(states[e], a, self.now) for e, a in service.open_attempts(provider)]

    def look(self, attempt: str) -> Order | None:
        """One attempt, also of an episode that has ended."""
        state = self._service.book.state(attempt.rpartition(".")[0]) if self._service is not None else None
        found = state.attempts.get(attempt) if state is not None else None
        return order(state, found, self.now) if state is not None and found is not None else None


def _approval(decision: Decision | None, step: str) -> str:
    """The name of the approval that a decision gave or took back."""
    return decision.after.approvals[step].id if decision is not None and decision.authorized else ""
