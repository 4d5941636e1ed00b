"""Why: what a ledger says about one decision, one attempt or one episode, in a few sentences.

Pure functions over the events of an episode. They add nothing to what is on record and leave out what does
not concern the question. Times are seconds since the start of the episode.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from adf_ea_ros.authority import events as ev
from adf_ea_ros.authority.fold import fold
from adf_ea_ros.authority.model import Attempt
from adf_ea_ros.authority.reasons import REASONS
from adf_ea_ros.authority.state import State
from adf_ea_ros.contracts.conditions import Ns
from adf_ea_ros.evidence.reasons import SENTENCES
from adf_ea_ros.evidence.types import Finding
from adf_ea_ros.ledger.timeline import describe_event, finding, seconds

_OWN = frozenset({"Assess", "Refresh", "Restart"})
"""Requests of the authority to itself: what they decide shows in the attempts and facts."""

Events = Callable[[str], Iterator[ev.AnyEvent]]
"""The events of an episode, from the first."""


class UnknownName(Exception):
    """The ledger has nothing of this name. The message says what was looked for."""


def explain(what: str, known: Callable[[str], bool], events: Events) -> list[str]:
    """Sentences about ``what``: an episode, an attempt (``episode.n``) or a decision (``episode:n``).

    Raises:
        UnknownName: it is none of them.
    """
    if known(what):
        return explain_episode(events(what))
    for separator, way in ((":", explain_decision), (".", explain_attempt)):
        episode, found, _ = what.rpartition(separator)
        if found and known(episode):
            return way(events(episode), what)
    raise UnknownName(f"there is no episode, attempt or decision {what!r} in this ledger")


def explain_decision(events: Iterable[ev.AnyEvent], name: str) -> list[str]:
    """Who asked for what, the answer and its reasons, the evidence on record then, and what followed."""
    clock = _Clock()
    decision: ev.Decided | None = None
    consequences: list[ev.AnyEvent] = []
    before: dict[str, Finding] = {}
    for event in events:
        clock.see(event)
        if isinstance(event, ev.Decided):
            if decision is not None:
                break
            if event.id == name:
                decision = event
        elif decision is not None:
            consequences.append(event)
        else:
            before |= {found.requirement: found for found in _findings(event)}
    if decision is None:
        raise UnknownName(f"there is no decision {name!r} in this ledger")
    lines = [_decision(decision, clock)]
    lines += [f"{code}: {REASONS[code]}." for code in decision.reasons if code in REASONS]
    evidence = [found for event in consequences for found in _findings(event)]
    if evidence:
        lines.append("Evidence that came with it: " + "; ".join(dict.fromkeys(map(finding, evidence))) + ".")
    elif before:
        lines.append("Evidence on record before it: " + "; ".join(map(finding, before.values())) + ".")
    else:
        lines.append("No evidence was on record.")
    followed = [describe_event(event).text for event in consequences if not _findings(event)]
    lines.append("What followed: " + "; ".join(followed) + "." if followed else "Nothing followed from it.")
    return lines + _codes(evidence or before.values())


def explain_attempt(events: Iterable[ev.AnyEvent], name: str) -> list[str]:
    """Why it was sent, what was answered, what the evidence said, and how it stands."""
    clock = _Clock()
    decision: ev.Decided | None = None
    lines: list[str] = []
    certified: set[str] = set()
    judged: list[Finding] = []
    approved: dict[str, str] = {}
    repeated: tuple[object, ...] = ()
    since = ""
    state = State()
    for event in events:
        clock.see(event)
        state = fold(state, event)
        if isinstance(event, ev.Decided):
            decision = event
        if isinstance(event, ev.Approved):
            text = describe_event(event).text
            approved[event.approval.id] = f"At {clock.of(event.approval.granted)}: {text}."
        if isinstance(event, ev.Dispatched) and event.attempt.id == name:
            lines += filter(None, [approved.get(event.attempt.approval)])
            lines.append(
                f"{_capital(describe_event(event).text)}, sent at {clock.of(event.attempt.dispatched)}."
            )
            if decision is not None:
                lines.append(
                    f"Decision {decision.id} allowed it under {_rules(decision)}: {decision.sentence}."
                )
        elif _concerns(event, name, certified):
            said = tuple((f.requirement, f.condition, f.verdict, f.negative) for f in _findings(event))
            if said and said == repeated:
                lines.pop()  # the same verdict on newer samples: the latest stands for all
            else:
                since = clock.now
            when = f"At {since}" if since == clock.now else f"From {since} to {clock.now}, lastly"
            lines.append(f"{when}: {describe_event(event).text}.")
            repeated = said
            judged += _findings(event)
    attempt = state.attempts.get(name)
    if attempt is None or not lines:
        raise UnknownName(f"there is no attempt {name!r} in this ledger")
    return [*_merged(lines), _standing(state, attempt), *_codes(judged)]


def explain_episode(events: Iterable[ev.AnyEvent]) -> list[str]:
    """What it was for, what was decided, what is proven, what is open, how it ended."""
    clock = _Clock()
    granted, refused = 0, 0
    last: ev.Decided | None = None
    first: ev.EpisodeStarted | None = None
    end = ""
    state = State()
    for event in events:
        clock.see(event)
        state = fold(state, event)
        if isinstance(event, ev.EpisodeStarted):
            first = event
        elif isinstance(event, ev.Decided) and event.request not in _OWN:
            granted += event.authorized
            refused += not event.authorized
            last = last if event.authorized else event
        elif isinstance(event, (ev.Completed, ev.Stopped)):
            end = f"At {clock.of(event.time)} it was {describe_event(event).text}."
    lines = [_capital(describe_event(first).text) + "."] if first is not None else []
    lines.append(f"{granted} requests from outside were granted and {refused} refused.")
    lines += [_standing(state, attempt) for attempt in sorted(state.attempts.values(), key=_order)]
    proven = [f"{c.effect} ({c.condition})" for c in state.certificates.values() if not c.revoked]
    lines.append(f"Proven: {', '.join(sorted(proven))}." if proven else "Nothing is proven.")
    lines += [f"Owed: {owed.condition}." for owed in state.owed.values()]
    if last is not None:
        lines.append(f"The last refusal: {_decision(last, clock)}")
    lines.append(end or f"It is {state.phase or 'not started'}.")
    return lines


def _order(attempt: Attempt) -> tuple[Ns, int, str]:
    return (attempt.dispatched, len(attempt.id), attempt.id)


class _Clock:
    """The time of the latest event that has one, and of the first."""

    def __init__(self) -> None:
        self._start: Ns | None = None
        self._now: Ns = 0

    def see(self, event: ev.AnyEvent) -> None:
        time = getattr(event, "time", None)
        if isinstance(time, int):
            self._start = time if self._start is None else self._start
            self._now = time

    def of(self, time: Ns) -> str:
        return seconds(time, self._start or 0)

    @property
    def now(self) -> str:
        return self.of(self._now)


def _decision(event: ev.Decided, clock: _Clock) -> str:
    answer = "granted" if event.authorized else "refused"
    about = f" about {event.subject}" if event.subject else ""
    return (
        f"At {clock.of(event.time)} decision {event.id} on {event.request}{about} {answer} it under "
        f"{_rules(event)}: {event.sentence}."
    )


def _codes(found: Iterable[Finding]) -> list[str]:
    """The evidence codes that occur, in words."""
    codes = dict.fromkeys(code for each in found for code in (*each.reasons, each.integrity))
    return [f"{code}: {SENTENCES[code]}." for code in codes if code in SENTENCES]


def _rules(event: ev.Decided) -> str:
    return ", ".join(event.rules) or "no rule"


def _findings(event: ev.AnyEvent) -> tuple[Finding, ...]:
    return event.findings if isinstance(event, (ev.Assessed, ev.FactsChecked)) else ()


def _concerns(event: ev.AnyEvent, attempt: str, certified: set[str]) -> bool:
    if isinstance(event, ev.Decided):
        # That evidence did not suffice is said by the evidence itself.
        return event.subject == attempt and not event.authorized and event.request != "Assess"
    if isinstance(event, ev.Certified):
        if event.certificate.attempt == attempt:
            certified.add(event.certificate.id)
            return True
        return False
    if isinstance(event, (ev.Revoked, ev.StateOwed)):
        return event.certificate in certified
    return isinstance(event, (ev.Reported, ev.Assessed, ev.ObservationSpent, ev.CancelRequested)) and (
        event.attempt == attempt
    )


def _merged(lines: list[str]) -> list[str]:
    """Without the repetitions of one sentence that differ only in their time."""
    seen: set[str] = set()
    kept = []
    for line in lines:
        text = line.partition(": ")[2] if line.startswith("At ") else line
        if text not in seen:
            seen.add(text)
            kept.append(line)
    return kept


def _standing(state: State, attempt: Attempt) -> str:
    """How an attempt stands at the end of what is on record."""
    what = f"Attempt {attempt.id} ({attempt.node} by {attempt.provider})"
    if attempt.id in state.execution:
        missing = ", ".join(state.execution[attempt.id].effects)
        doubt = (
            ", and was in flight when the authority or the capability restarted" if attempt.doubtful else ""
        )
        return (
            f"{what} is unresolved: the interaction is {attempt.interaction.value}{doubt}; "
            f"no qualified evidence settles {missing}."
        )
    if attempt.superseded:
        return f"{what} was superseded by a retry, on qualified evidence that its effect was absent."
    proven = [c for c in state.certificates.values() if c.attempt == attempt.id]
    if proven:
        lost = [c.revoked for c in proven if c.revoked]
        return f"{what} has its effects proven" + (f", and lost since: {lost[-1]}." if lost else ".")
    return f"{what} is settled without a certificate: the interaction is {attempt.interaction.value}."


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
