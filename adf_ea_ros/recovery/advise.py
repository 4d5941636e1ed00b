"""Advice for an episode: what could be done next, the best first, and what one who takes over must know.

What is advised is what ``decide`` would permit now: each dispatch, observation and claim was tried on it, so
that advice cannot drift from the rules. The model (``picture``) and the search rank them; where the search
sees nothing to gain, the capability rules choose. So the table of the four decisions holds:

    a retry, repair or first dispatch that would be granted      may be advised
    only time is missing (commit bound, visibility)              a wait until then
    evidence is missing                                          an observation, where rule 5 permits one
    nothing that is permitted leads on                           handing over

Advice authorizes nothing, changes nothing, spends nothing. Pure and total: equal states give equal advice.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum

import msgspec

from adf_ea_ros.authority import feedback
from adf_ea_ros.authority import requests as rq
from adf_ea_ros.authority.decide import decide
from adf_ea_ros.authority.decision import Decision
from adf_ea_ros.authority.outlook import MENDED, hopeful
from adf_ea_ros.authority.state import State
from adf_ea_ros.contracts.conditions import Ns
from adf_ea_ros.recovery.admit import actions, permitted
from adf_ea_ros.recovery.belief import Belief, initial
from adf_ea_ros.recovery.handoff import Handoff
from adf_ea_ros.recovery.model import HAND_OVER, Action, ActionKind
from adf_ea_ros.recovery.picture import WEIGHTS, Picture, picture
from adf_ea_ros.recovery.policies import rules
from adf_ea_ros.recovery.search import Planner, Vector, leaf
from adf_ea_ros.recovery.world import Frame

HORIZON = 4
"""Decisions to look ahead, unless asked otherwise."""
FARTHEST = 6
"""Nobody gets more."""
EFFORT = 1200
"""Transitions of worlds that one advice may take, roughly: what keeps it from holding anything up."""
LEAST, MOST = 4, 60
"""Beliefs that are expanded all the same, and at most."""

Trial = Callable[[rq.AnyRequest], Decision]
"""What would be decided on a request now."""


class Kind(IntEnum):
    """What is advised; the numbers of ``msg/Advice``."""

    DISPATCH = 1
    OBSERVE = 2
    WAIT = 3
    CLAIM = 4
    HAND_OVER = 5


class Piece(msgspec.Struct, frozen=True):
    """One thing that could be done, and what the declared promises make of it."""

    action: Kind
    step: str = ""
    provider: str = ""
    wait: Ns = 0
    completion: float = 0.0  # probability of certified completion within the horizon
    progress: float = 0.0  # expected share of the steps that are then met
    cost: float = 0.0  # expected, in observations
    sentence: str = ""


class Advice(msgspec.Struct, frozen=True):
    """The pieces, the best first, and under which assumptions."""

    episode: str
    pieces: tuple[Piece, ...]
    horizon: int  # decisions that were looked ahead, in full
    basis: str  # search, rules, claim: what chose the first piece; empty without one
    open: tuple[str, ...]
    weights: str
    handoff: Handoff
    error: str = ""


NOWHERE = Action(ActionKind.QUERY, -1)
"""An action that the model has no place for."""


PERSON = "it lacks an approval alone"
"""What is said of a step that a person has to approve, and nothing else."""


ORDINARY = frozenset({"R2.dependency", "R2.obligation_order", "R6.no_qualified_negative"})
"""Refusals of which nothing need be said: the step before, or the doubt about this one, is spoken of."""


class _Option(msgspec.Struct, frozen=True):
    """A piece that ``decide`` permits, and the action of the model that it is."""

    piece: Piece
    action: Action


def advise(
    state: State, now: Ns, *, horizon: int = HORIZON, budget: int | None = None, trial: Trial | None = None
) -> Advice:
    """What to do next in an episode at ``now``.

    ``budget``: beliefs that the search may expand; None: by the size of the support, within ``EFFORT``.
    ``trial`` answers what would be decided now; without it, ``decide`` by the evidence in the state.
    """
    ask: Trial = trial or (lambda request: decide(state, request, now))
    if state.phase != "active":
        error = f"the episode is {state.phase or 'not started'}"
        return Advice(state.episode, (), 0, "", (), WEIGHTS, _handoff(state, now, (), ()), error)
    seen = picture(state, now)
    options, refused = _options(state, now, seen, ask)
    why = next((line for line in refused if PERSON in line), "nothing that is permitted leads on")
    claim = ask(rq.Claim())
    if not claim.authorized and MENDED.issuperset(claim.reasons):
        hope = hopeful(state, rq.Claim(), now)
        options += [_Option(_look(f"{hope[1]}: then completion may be claimed"), NOWHERE)] if hope else []
    seen = _corrected(seen, {o.action.subject for o in options if o.piece.action is Kind.DISPATCH})
    belief = initial(seen.frame)
    pieces, looked, basis = _ranked(seen, belief, options, min(max(horizon, 1), FARTHEST), budget, why)
    if claim.authorized:
        sentence = "claim completion: it would be granted"
        pieces = (Piece(Kind.CLAIM, completion=1.0, progress=1.0, sentence=sentence), *pieces)
        basis = "claim"
    unclear = (*seen.open, *refused)
    return Advice(
        state.episode, pieces, looked, basis, unclear, WEIGHTS, _handoff(state, now, unclear, pieces)
    )


# -- what is permitted -------------------------------------------------------------------------------------


def _options(state: State, now: Ns, seen: Picture, ask: Trial) -> tuple[list[_Option], tuple[str, ...]]:
    """Everything that would be granted, in a fixed order, and why the other steps would not be."""
    found: list[_Option] = []
    refused: list[str] = []
    for i, name in enumerate(seen.steps):
        if name:
            options, why = _of_step(state, now, name, i, ask)
            found += options
            refused += [f"step {name}: {why}"] if why else []
    for i, moment in enumerate(seen.moments):
        sentence = f"wait {_seconds(moment.wait)}: {moment.why}"
        found.append(
            _Option(Piece(Kind.WAIT, wait=moment.wait, sentence=sentence), Action(ActionKind.WAIT, i))
        )
    sentence = "hand over to a person"
    found.append(_Option(Piece(Kind.HAND_OVER, sentence=sentence), HAND_OVER))
    return found, tuple(refused)


def _of_step(state: State, now: Ns, name: str, i: int, ask: Trial) -> tuple[list[_Option], str]:
    """What would be granted about one step; where that is no dispatch, why."""
    operation = state.proposal.nodes[name].operation
    write, query = Action(ActionKind.WRITE, i), Action(ActionKind.QUERY, i)
    found: list[_Option] = []
    why, look = "", ""
    for binding in operation.bindings:
        request = rq.Dispatch(name, binding.provider)
        said = ask(request)
        if said.authorized and said.attempt is not None:
            mode = said.attempt.mode.value.lower()
            sentence = f"ask to run step {name} on {binding.provider} ({mode})"
            found.append(_Option(Piece(Kind.DISPATCH, name, binding.provider, sentence=sentence), write))
            continue
        person = all(code.startswith("X12.") for code in said.reasons)
        if person:
            why = f"{PERSON}: {said.sentence}"
        elif ORDINARY.isdisjoint(said.reasons):
            why = why or said.sentence
        hope = hopeful(state, request, now) if MENDED.issuperset(said.reasons) else None
        look = look or (hope[1] if hope is not None else "")
    looked = ask(rq.Observe(name))
    if looked.authorized:
        found.append(_Option(Piece(Kind.OBSERVE, name, sentence=f"observe step {name}"), query))
    elif look and not found:
        found.append(_Option(_look(f"{look}: then step {name} may be asked for", name), write))
    if not found and not why and "R5.nothing_to_observe" not in looked.reasons:
        why = looked.sentence
    return found, "" if any(o.piece.action is Kind.DISPATCH for o in found) else why


def _look(what: str, step: str = "") -> Piece:
    """A look that the runtime takes along with each request: it spends nothing."""
    return Piece(Kind.OBSERVE, step, sentence=f"look whether {what}; this spends no observation")


def _corrected(seen: Picture, granted: set[int]) -> Picture:
    """The model with at least one attempt of each step that ``decide`` grants: the rules know better."""
    task = seen.frame.task
    short = {i for i in granted if task.operations[i].attempts == 0}
    if not short:
        return seen
    operations = tuple(
        msgspec.structs.replace(op, attempts=1) if i in short else op for i, op in enumerate(task.operations)
    )
    frame = Frame(msgspec.structs.replace(task, operations=operations))
    return msgspec.structs.replace(seen, frame=frame)


# -- ranking -----------------------------------------------------------------------------------------------


def _ranked(
    seen: Picture, belief: Belief, options: list[_Option], horizon: int, budget: int | None, why: str
) -> tuple[tuple[Piece, ...], int, str]:
    """The pieces in their order, the depth that was completed, and what chose the first of them."""
    frame = seen.frame
    allowed = permitted(frame, belief)
    among = [action for action in dict.fromkeys(o.action for o in options) if action in allowed]
    if budget is None:
        budget = min(max(EFFORT // (len(belief.members) * len(actions(frame))), LEAST), MOST)
    found = Planner(frame, budget).run(belief, horizon, among)
    now, layer = leaf(frame, belief), found.deepest
    values = dict(layer.values) if layer is not None else {}
    early = [a for a in among if a.kind is ActionKind.QUERY and a.subject not in seen.ripe]
    order = list(values or among)
    basis = "search"
    # A look at what is still under way is not the first thing to do, whatever it may show by luck.
    if not order or order[0] in early or values.get(order[0], now)[:2] <= now[:2]:
        first, basis = _by_rule(seen, belief, among, early), "rules"
        order.sort(key=lambda action: action != first)
    beside = any(o.action not in allowed for o in options)
    given_up = basis == "rules" and order[:1] == [HAND_OVER] and not beside
    if not given_up and HAND_OVER in order:
        order.remove(HAND_OVER)  # behind all that is permitted, also what the model does not plan on
    rank = {action: i for i, action in enumerate(order)}
    rank.setdefault(HAND_OVER, len(order) + 1)
    pieces = []
    for option in sorted(options, key=lambda o: rank.get(o.action, len(order))):
        piece = option.piece
        if given_up and option.action == HAND_OVER:
            piece = msgspec.structs.replace(piece, sentence=f"{piece.sentence}: {why}")
        pieces.append(_valued(seen, belief, piece, values.get(option.action, now)))
    return tuple(pieces), layer.depth if layer is not None else 0, basis


def _by_rule(seen: Picture, belief: Belief, among: list[Action], early: list[Action]) -> Action | None:
    """What the capability rules choose: an early look only where there is nothing else."""
    first = rules(seen.frame, belief, [action for action in among if action not in early]).action
    return rules(seen.frame, belief, among).action if first in (None, HAND_OVER) else first


def _valued(seen: Picture, belief: Belief, piece: Piece, value: Vector) -> Piece:
    mass, task = belief.mass, seen.frame.task
    steps = len(task.operations) + seen.verified
    return msgspec.structs.replace(
        piece,
        completion=round(value.completion / mass, 6),
        progress=round((value.met / mass + seen.verified) / steps, 6),
        cost=round(-value.negative_cost / mass / task.tie, 6),
    )


# -- taking over -------------------------------------------------------------------------------------------


def _handoff(state: State, now: Ns, unclear: tuple[str, ...], pieces: tuple[Piece, ...]) -> Handoff:
    """What a person who takes over has to know, from the episode's own records."""
    requests = []
    for name in state.execution:
        attempt = state.attempts[name]
        requests.append(
            (name, f"step {attempt.node} on {attempt.provider}, {attempt.interaction.value.lower()}")
        )
    return Handoff(
        tuple(requests),
        feedback.known(state, now),
        unclear,
        feedback.owed(state, now),
        tuple(piece.sentence for piece in pieces if piece.action is not Kind.HAND_OVER),
        (
            ("attempts", len(state.attempts)),
            ("physical requests left", state.physical),
            ("observations left", state.observation),
        ),
    )


def _seconds(span: Ns) -> str:
    return f"{span / 1e9:.3f}".rstrip("0").rstrip(".") + " s"
