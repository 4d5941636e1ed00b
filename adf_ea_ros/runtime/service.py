"""The authority as a service: requests in, decisions out, every decision durable before anyone hears of it.

No ROS and no clock: time comes with each call. The nodes are shells around this, and so are the studies.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping

from msgspec.structs import replace

from adf_ea_ros.authority import questions
from adf_ea_ros.authority import requests as rq
from adf_ea_ros.authority.decide import decide
from adf_ea_ros.authority.decision import Decision, Outcome, Work, conclude, denied
from adf_ea_ros.authority.grounding import GroundingFault, Step, ground_steps, ground_task
from adf_ea_ros.authority.model import OPEN, Attempt, Interaction
from adf_ea_ros.authority.reasons import refuse
from adf_ea_ros.authority.rules import x_rules
from adf_ea_ros.authority.rules.x10_lease import Lease, needed
from adf_ea_ros.authority.rules.x12_approval import contract_names, terms
from adf_ea_ros.authority.state import State, fact_key
from adf_ea_ros.contracts.canonical import fingerprint
from adf_ea_ros.contracts.catalog import Catalog
from adf_ea_ros.contracts.conditions import Ns, Value
from adf_ea_ros.evidence.buffer import RouteBuffer, qualify_routes
from adf_ea_ros.evidence.types import Context, Finding, Observation, Requirement, Verdict
from adf_ea_ros.ledger.errors import LeaseHeld, LedgerError
from adf_ea_ros.runtime.book import OFFICE, Book

KEPT = 1000
"""Samples kept of each subject on each route, whatever the depth of its subscription."""

LOOKS = 3
"""How often a dispatch is decided anew because another authority was faster."""

Listener = Callable[[str, Decision, State], None]
"""Called with episode, decision and the state after it, once the decision is durable."""

GOAL_NAMESPACE = uuid.UUID("6d1f2b8e-6a0c-5b8e-9c53-0d6f7f0d9a11")


def goal_uuid(attempt: str) -> uuid.UUID:
    """The action goal id of an attempt: fixed by its id, so that anyone can ask for it after a crash."""
    return uuid.uuid5(GOAL_NAMESPACE, attempt)


class AuthorityService:
    """One authority over the episodes of one ledger. Calls must be serialized by the caller."""

    def __init__(self, catalog: Catalog, book: Book, *, listeners: Iterable[Listener] = ()) -> None:
        """``catalog`` and ``book`` are the trusted configuration and the retained state."""
        self.catalog = catalog
        self.book = book
        self.listeners = list(listeners)
        self.buffers: dict[str, RouteBuffer] = {
            f"{provider.id}/{name}": RouteBuffer(f"{provider.id}/{name}", depth=max(route.depth, KEPT))
            for provider in catalog.providers()
            for name, route in provider.routes.items()
        }
        self.unavailable: dict[str, str] = {}
        self._aliases = _same_node(catalog)
        self._owner: dict[str, str] = {}  # open attempt: episode

    # -- life ------------------------------------------------------------------------------------------

    def recover(self, now: Ns) -> list[str]:
        """Load the ledger and take over its active episodes under the new generation (rule X1).

        Raises:
            LedgerError: the ledger cannot be trusted or written; nothing may be granted.
        """
        episodes = self.book.load()
        for episode in episodes:
            self._ask(episode, rq.Restart(self.book.generation), now)
            self._note_open(self.book.active()[episode])
        return episodes

    # -- requests of planners --------------------------------------------------------------------------

    def start_episode(self, task: str, planner: str, now: Ns, episode: str = "") -> tuple[str, Decision]:
        """Take up a loaded task. The episode's name is given or made up; empty where refused."""
        episode = episode or f"{task}-{uuid.uuid4().hex[:8]}"
        try:
            spec = self.catalog.task(task)
            start = ground_task(self.catalog, spec, episode, planner, now)
        except KeyError as error:
            return "", self.refuse("Begin", task, "X5.task", error.args[0], now)
        except GroundingFault as fault:
            return "", self.refuse("Begin", task, "X5.task", f"{fault.code}: {fault}", now)
        if self.book.state(episode) is not None:
            return "", self.refuse("Begin", task, "X5.task", f"there is an episode {episode!r} already", now)
        request = rq.Begin(replace(start, generation=self.book.generation), spec.planners)
        decision = self.begin(request, now)
        return episode if decision.authorized else "", decision

    def begin(self, request: rq.Begin, now: Ns) -> Decision:
        """Begin the episode that the request names, which must be a new one (rule X5)."""
        episode = request.start.episode
        decision = self._commit(episode, State(), request, now)
        if decision.authorized:
            for provider, reason in self.unavailable.items():
                self._ask(episode, rq.SetAvailability(provider, reason), now)
            by, _, reason = self.book.office().halted.partition(": ")
            if by:
                self._ask(episode, rq.Halt(by, reason), now)
        return decision

    def revise(self, episode: str, steps: Iterable[Step], author: str, now: Ns) -> Decision:
        """Propose the residual plan (rule 1)."""
        nodes, faults = ground_steps(self.catalog, tuple(steps), now)
        return self._ask(episode, rq.Revise(nodes, faults, author), now)

    def dispatch(self, episode: str, step: str, provider: str, now: Ns, generation: int = 0) -> Decision:
        """Ask to run a step now (rules 2, 6, 7, 8). ``decision.attempt`` is to be sent where authorized."""
        self._check_provider(provider, now)
        request = replace(self.dispatch_of(episode, step, provider, now), generation=generation)
        for _ in range(LOOKS):
            try:
                leases = self.leases_for(episode, step, provider)
                return self._ask(episode, replace(request, leases=leases), now)
            except LeaseHeld:
                continue  # another authority took it between our look and our commit
        return void(decide(State(), request, now), f"what {step!r} needs changes hands all the time")

    def dispatch_of(self, episode: str, step: str, provider: str, now: Ns) -> rq.Dispatch:
        """The request to run a step, with what is open elsewhere; without leases and evidence."""
        elsewhere = tuple(
            (*fact, attempt.id)
            for name, state, attempt in self.book.unsettled(now)
            if name != episode
            for fact in _facts(state, attempt)
        )
        return rq.Dispatch(
            step,
            provider,
            0,
            elsewhere,
            baseline=self._baseline(episode, step, now),
            replaced=self._replaced(episode, step),
        )

    def observe(self, episode: str, step: str, now: Ns) -> Decision:
        """Spend an observation on a step (rule 5)."""
        return self._ask(episode, rq.Observe(step), now)

    def claim(self, episode: str, now: Ns) -> Decision:
        """Claim completion (rule 9)."""
        return self._ask(episode, rq.Claim(), now)

    def stop(self, episode: str, by: str, reason: str, now: Ns, hand_to: str = "") -> Decision:
        """Stop without a claim (rule 9)."""
        return self._ask(episode, rq.Stop(by, reason, hand_to), now)

    def approve(self, episode: str, step: str, by: str, reason: str, now: Ns, valid_for: Ns = 0) -> Decision:
        """A person approves the next attempt of a step, just as it would be sent (rule X12).

        ``valid_for`` in ns; 0: as long as the contract allows.
        """
        replaced = self._replaced(episode, step)
        return self._ask(episode, rq.Approve(step, by, reason, valid_for, replaced), now)

    def withdraw(self, episode: str, step: str, by: str, reason: str, now: Ns) -> Decision:
        """A person takes a step's approval back, where nothing has used it (rule X12)."""
        return self._ask(episode, rq.Withdraw(step, by, reason), now)

    # -- reports from providers ------------------------------------------------------------------------

    def report(self, attempt: str, interaction: Interaction, now: Ns, detail: str = "") -> Decision:
        """Record a provider's answer (rule 3), then look whether evidence settles the attempt."""
        decision = self._ask(self._episode_of(attempt), rq.Report(attempt, interaction, detail), now)
        self.assess(attempt, now)
        return decision

    def reconcile(
        self, attempt: str, answer: rq.Answer, interaction: Interaction, now: Ns, detail: str = ""
    ) -> Decision:
        """Record what a provider says of an attempt in doubt (rule X2)."""
        episode = self._episode_of(attempt)
        decision = self._ask(episode, rq.Reconcile(attempt, answer, interaction, detail), now)
        self.assess(attempt, now)
        return decision

    def set_availability(
        self, provider: str, reason: str, now: Ns, *, cancel: bool = False
    ) -> list[Decision]:
        """Make a provider eligible (no reason) or not, in every active episode (rules X3, X4)."""
        if self.unavailable.get(provider, "") == reason:
            return []
        if reason:
            self.unavailable[provider] = reason
        else:
            self.unavailable.pop(provider, None)
        return [self._ask(e, rq.SetAvailability(provider, reason, cancel), now) for e in self.book.active()]

    def halt(self, by: str, reason: str, now: Ns) -> list[Decision]:
        """Halt every active episode, and every one that begins, until ``resume`` (rule X8).

        It is kept with what concerns no episode, and so outlives them and this process.
        """
        halt = rq.Halt(by, reason)
        robot = self._in_office("Halt", by, lambda work: x_rules.halt(work, halt), now)
        return [robot, *[self._ask(episode, halt, now) for episode in self.book.active()]]

    def resume(self, by: str, now: Ns) -> list[Decision]:
        """Lift the halt (rule X8)."""
        resume = rq.Resume(by)
        robot = self._in_office("Resume", by, lambda work: x_rules.resume(work, resume), now)
        return [robot, *[self._ask(episode, resume, now) for episode in self.book.active()]]

    # -- evidence --------------------------------------------------------------------------------------

    def observed(self, sample: Observation, now: Ns) -> str | None:
        """Take in a readback, and settle what it may settle. The reason where it was not taken."""
        buffer = self.buffers.get(sample.route)
        if buffer is None:
            return "E.route"
        refused = buffer.add(sample)
        if self._owner:
            self._settle(sample, now)
        return refused

    def _settle(self, sample: Observation, now: Ns) -> None:
        """Assess the open attempts that this sample may say something of."""
        fact = (sample.subject, sample.path)
        for attempt, episode in list(self._owner.items()):
            state = self.book.active().get(episode)
            if state is None:
                continue
            found = state.attempts[attempt]
            record = state.keys[found.key]
            if record.operation is not None and any(
                fact == effect.condition.fact and sample.route in requirement.routes
                for effect in record.operation.effects
                for requirement in effect.requirements
            ):
                self.assess(attempt, now)

    def assess(self, attempt: str, now: Ns) -> Decision | None:
        """Qualify the evidence about an attempt, and decide on it where that says something new."""
        episode = self._owner.get(attempt, "")
        state = self._settled(episode)
        if state is None or attempt not in state.execution or now < state.clock:
            return None
        request = rq.Assess(attempt, ())
        assessed = self._answers(questions.about(state, request, now), now)[1]
        if not _news(state.attempts[attempt], assessed):
            return None
        return self._commit(episode, state, replace(request, assessed=assessed), now)

    def tick(self, now: Ns) -> None:
        """What time alone brings: deadlines, evidence that aged, facts that changed. A few times a second."""
        for episode, state in list(self.book.active().items()):
            if now < state.clock:
                continue
            for name in (*state.execution, *state.lingering):
                attempt = state.attempts[name]
                if attempt.interaction in OPEN - {Interaction.LOST} and now >= attempt.deadline:
                    self.report(name, Interaction.LOST, now, "no answer before the deadline")
                else:
                    self.assess(name, now)
            self.refresh(episode, now)
        self.book.tidy()

    def refresh(self, episode: str, now: Ns) -> Decision | None:
        """Check the present facts that matter, and decide where one of them changed (rule 9)."""
        state = self._settled(episode)
        if state is None:
            return None
        view = self._answers(tuple(questions.watched(state)), now)[0]
        changed = tuple(f for f in view if _turned(state, f))
        if not changed:
            return None
        return self._commit(episode, state, rq.Refresh(changed), now)

    def clock_reset(self, now: Ns) -> None:
        """Time went backwards to ``now``: nothing that was seen before says anything of the time to come."""
        for buffer in self.buffers.values():
            buffer.reset(now)

    def _baseline(self, episode: str, step: str, now: Ns) -> tuple[tuple[str, str, Value], ...]:
        """What the readbacks of a step's effects say before it runs, for those judged by their change."""
        state = self._settled(episode)
        node = state.proposal.nodes.get(step) if state is not None else None
        found: dict[tuple[str, str], Value] = {}
        for effect in node.operation.effects if node is not None else ():
            for requirement in effect.requirements:
                for route in requirement.routes:
                    subject, path = effect.condition.fact
                    kept = self.buffers.get(route)
                    newest = (
                        kept.newest(subject, path, now - requirement.max_age) if kept is not None else None
                    )
                    if newest is not None and newest.relative:
                        found[subject, path] = newest.value
        return tuple((subject, path, value) for (subject, path), value in found.items())

    # -- inside ----------------------------------------------------------------------------------------

    def leases_for(self, episode: str, step: str, provider: str) -> tuple[Lease, ...]:
        """What other authorities hold of that which a step needs (rule X10)."""
        state = self._settled(episode)
        node = state.proposal.nodes.get(step) if state is not None else None
        wanted = needed(node.operation, provider) if node is not None else ()
        found = self.book.ledger.leases(wanted) if wanted else []
        return tuple(Lease(one.subject, one.holder, one.attempt, one.since) for one in found)

    def _replaced(self, episode: str, step: str) -> tuple[str, ...]:
        """Contracts of a step that needs an approval which are not those that are loaded now (rule X12).

        An authority that was restarted with other files goes on with plans that were admitted under the old.
        """
        state = self._settled(episode)
        node = state.proposal.nodes.get(step) if state is not None else None
        if state is None or node is None or not terms(state, node):
            return ()
        return tuple(name for name, bound in contract_names(node).items() if self._loaded(name) != bound)

    def _loaded(self, name: str) -> str:
        """The fingerprint of a contract as it is loaded; empty where it is not."""
        kind, _, name = name.partition("/")
        try:
            if kind == "capability":
                return fingerprint(self.catalog.capability(name))
            return fingerprint(self.catalog.provider(name))
        except KeyError:
            return ""

    def ask(self, episode: str, request: rq.AnyRequest, now: Ns) -> Decision:
        """Decide on a request that is grounded already, with the evidence of this moment."""
        return self._ask(episode, request, now)

    def _ask(self, episode: str, request: rq.AnyRequest, now: Ns) -> Decision:
        try:
            self.book.settle()
        except LedgerError as error:
            return void(decide(State(), request, now), str(error))
        state = self.book.state(episode) if episode else None
        if state is None:
            attempt = getattr(request, "attempt", "")
            code, subject = ("X5.unknown_attempt", attempt) if attempt else ("X5.unknown_episode", episode)
            return self.refuse(type(request).__name__, subject, code, f"unknown: {subject!r}", now)
        return self._commit(episode, state, self.with_evidence(state, request, now), now)

    def with_evidence(self, state: State, request: rq.AnyRequest, now: Ns) -> rq.AnyRequest:
        """The request with what the readbacks say at this moment of all that it concerns."""
        asked = questions.about(state, request, now)
        if asked:
            view, assessed = self._answers(asked, now)
            request = replace(request, view=view)
            if isinstance(request, rq.Dispatch | rq.Observe | rq.Assess):
                request = replace(request, assessed=assessed)
        return request

    def _settled(self, episode: str) -> State | None:
        """The state of an active episode; none while the ledger cannot say what it is."""
        try:
            self.book.settle()
        except LedgerError:
            return None
        return self.book.active().get(episode)

    def _commit(self, episode: str, state: State, request: rq.AnyRequest, now: Ns) -> Decision:
        decision = decide(state, request, now)
        try:
            self.book.commit(episode, state, decision, now)
        except LeaseHeld:
            raise
        except LedgerError as error:
            return void(decision, str(error))
        self._note_open(decision.after)
        self._tell(episode, decision)
        return decision

    def refuse(self, request: str, subject: str, code: str, text: str, now: Ns) -> Decision:
        """A refusal that concerns no episode; recorded under the authority's own name."""
        return self._in_office(request, subject, lambda _: denied(refuse(code, text)), now)

    def _in_office(self, request: str, subject: str, rule: Callable[[Work], Outcome], now: Ns) -> Decision:
        """A decision that concerns no episode, or all of them."""
        state = self.book.office()
        work = Work(state, now)
        decision = conclude(work, request, subject, rule(work))
        try:
            self.book.commit(OFFICE, state, decision, now)
        except LedgerError as error:
            return void(decision, str(error))
        self._tell(OFFICE, decision)
        return decision

    def _tell(self, episode: str, decision: Decision) -> None:
        for listener in self.listeners:
            listener(episode, decision, decision.after)

    def _answers(
        self, asked: tuple[questions.Question, ...], now: Ns
    ) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
        """Findings about the present, and findings about attempts."""
        view: list[Finding] = []
        assessed: list[Finding] = []
        for question in asked:
            found = self._qualify(question.requirement, question.context, now)
            if question.later is not None and found.verdict is not Verdict.SATISFIED:
                found = self._qualify(question.requirement, question.later, now)
            (assessed if question.attempt else view).append(found)
        return tuple(view), tuple(assessed)

    def _qualify(self, requirement: Requirement, context: Context, now: Ns) -> Finding:
        aliases = self._aliases.get(context.executor, ())
        context = replace(context, aliases=aliases) if aliases else context
        return qualify_routes(requirement, context, self.buffers, now).finding

    def _check_provider(self, provider: str, now: Ns) -> None:
        """Let a revoked or expired contract count at once, also where nobody announced it (rule X3)."""
        if provider in self.unavailable or not any(p.id == provider for p in self.catalog.providers()):
            return
        obstacle = self.catalog.obstacle("provider", provider, now)
        if obstacle:
            self.set_availability(provider, obstacle, now, cancel=True)

    def _note_open(self, state: State) -> None:
        """Keep the index of open attempts: what evidence and reports may still concern."""
        open_now = {*state.execution, *state.lingering} if state.phase == "active" else set()
        for name in [n for n, e in self._owner.items() if e == state.episode and n not in open_now]:
            del self._owner[name]
        for name in open_now:
            self._owner[name] = state.episode

    def _episode_of(self, attempt: str) -> str:
        """Attempt ids are "<episode>.<n>": late reports find their episode also when it has ended."""
        return self._owner.get(attempt) or attempt.rpartition(".")[0]

    def open_attempts(self, provider: str = "") -> list[tuple[str, Attempt]]:
        """(episode, attempt) of each attempt whose interaction or outcome is open, of one provider or all."""
        states: Mapping[str, State] = self.book.active()
        found = [(e, states[e].attempts[a]) for a, e in self._owner.items() if e in states]
        return [(e, a) for e, a in found if not provider or a.provider == provider]


def void(decision: Decision, why: str) -> Decision:
    """What a caller is told where a decision could not be written: nothing of it counts."""
    refusal = refuse("X5.ledger", why)
    return replace(
        decision,
        authorized=False,
        rules=("X5",),
        reasons=(refusal.code,),
        sentence=refusal.text,
        events=(),
        attempt=None,
    )


def _same_node(catalog: Catalog) -> dict[str, tuple[str, ...]]:
    """For each provider the others that are the same node: no independent witness of what it did."""
    by_node: dict[str, list[str]] = {}
    for provider in catalog.providers():
        by_node.setdefault(provider.node, []).append(provider.id)
    return {name: tuple(n for n in names if n != name) for names in by_node.values() for name in names}


def _facts(state: State, attempt: Attempt) -> tuple[tuple[str, str], ...]:
    """The facts that an attempt may change."""
    operation = state.keys[attempt.key].operation
    return tuple(sorted(operation.facts)) if operation is not None else ()


def _news(attempt: Attempt, assessed: tuple[Finding, ...]) -> bool:
    """Whether findings say anything that is not on record: a ledger is no log of unchanged readings."""
    known = {fact_key(f.requirement, f.condition): f for f in attempt.findings}
    return any(_differs(known.get(fact_key(f.requirement, f.condition)), f) for f in assessed)


def _turned(state: State, found: Finding) -> bool:
    return _differs(state.facts.get(fact_key(found.requirement, found.condition)), found)


def _differs(old: Finding | None, new: Finding) -> bool:
    if old is None:
        return bool(new.basis or new.integrity or new.support)
    return (old.verdict, old.negative, old.integrity, old.support > 0) != (
        new.verdict,
        new.negative,
        new.integrity,
        new.support > 0,
    )
