"""How decisions and episodes look in a terminal. Pure: values in, rich renderables out; no ROS, no clock.

Used by ``adf-ea watch`` and by the demo. The values are made from Decision and Episode messages, or from
anything with the same fields.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from adf_ea_ros.contracts.conditions import Ns

VERDICTS = {0: "", 1: "SATISFIED", 2: "UNSATISFIED", 3: "INSUFFICIENT_EVIDENCE", 4: "UNKNOWN"}
INTERACTIONS = {
    1: "dispatched",
    2: "accepted",
    3: "rejected",
    4: "answered SUCCEEDED",
    5: "answered ABORTED",
    6: "canceled",
    7: "sent, never answers",
    8: "no answer",
    9: "never accepted",
}
OUTCOME, LOST = 2, 3
"""Kinds of obligation, as in ``msg/Obligation``, that are no goals."""
APPROVALS = {
    0: "waits for approval",
    1: "approved by {by}",
    2: "waits for another approval",  # the last one was spent
    3: "approval withdrawn: waits for another",
    4: "approval expired: waits for another",
    5: "approval void: waits for another",
}
"""What the states of a ``msg/Approval`` mean for the next attempt of its step."""
_SYSTEM_TIME = 10**17  # ns: simulated clocks do not run that long (three years)
_INDENT, _LEAST = 21, 24  # columns before the text of a row, and columns that it needs to stand there
_ROUTINE = ("Refresh",)
"""Requests that the authority makes of itself, about facts and not about what to do."""


class DecisionView(msgspec.Struct, frozen=True, kw_only=True):
    """One decision, as far as it is shown. Fields as in ``msg/Decision``; ``time`` in ns of ROS time."""

    time: Ns
    id: str
    episode: str
    request: str
    subject: str
    authorized: bool
    rules: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    sentence: str = ""
    attempt: str = ""
    verdict: int = 0
    negative: bool = False
    physical: int = 0
    observation: int = 0
    retry: int = -1
    next: tuple[str, ...] = ()
    generation: int = 0

    @classmethod
    def of(cls, message: Any) -> DecisionView:
        """From a Decision message."""
        return cls(
            time=_ns(message.header.stamp),
            id=message.id,
            episode=message.episode,
            request=message.request,
            subject=message.subject,
            authorized=message.authorized,
            rules=tuple(message.rules),
            reasons=tuple(message.reasons),
            sentence=message.sentence,
            attempt=message.attempt,
            verdict=message.verdict,
            negative=message.negative,
            physical=message.budget.physical,
            observation=message.budget.observation,
            retry=message.budget.retry,
            next=tuple(message.next),
            generation=message.generation,
        )

    @property
    def routine(self) -> bool:
        """Whether it only notes how facts stand."""
        return self.request in _ROUTINE


class StepView(msgspec.Struct, frozen=True, kw_only=True):
    """One step of the admitted proposal, with its latest attempt."""

    id: str
    capability: str
    provider: str = ""
    attempts: int = 0  # that are known here: unresolved ones and the latest
    state: str = ""
    verified: bool = False


class EpisodeView(msgspec.Struct, frozen=True, kw_only=True):
    """One episode, as far as it is shown."""

    time: Ns
    id: str
    task: str
    phase: str
    generation: int = 0
    decisions: int = 0
    physical: int = 0
    observation: int = 0
    steps: tuple[StepView, ...] = ()
    owed: tuple[str, ...] = ()
    halted: str = ""

    @classmethod
    def of(cls, message: Any) -> EpisodeView:
        """From an Episode message."""
        return cls(
            time=_ns(message.header.stamp),
            id=message.id,
            task=message.task,
            phase=message.phase,
            generation=message.generation,
            decisions=message.decisions,
            physical=message.budget.physical,
            observation=message.budget.observation,
            steps=tuple(_step(step, message) for step in message.steps),
            owed=tuple(dict.fromkeys(_owed(o, message.id) for o in message.obligations if not o.settled)),
            halted=message.halted,
        )


def verdict_word(decision: DecisionView) -> tuple[str, str]:
    """One word for what was decided, and its style."""
    if decision.request == "Assess":
        return _assessed(decision)
    if not decision.authorized:
        return ("REFUSED", "bold red")
    words = {
        "Dispatch": ("GRANTED", "bold green"),
        "Claim": ("COMPLETE", "bold green"),
        "Observe": ("OBSERVE", "bold cyan"),
        "Report": ("RECORDED", "blue"),
        "Reconcile": ("RECONCILED", "blue"),
        "Restart": ("RESTARTED", "bold yellow"),
        "SetAvailability": ("NOTED", "yellow"),
        "Halt": ("HALTED", "bold red"),
        "Approve": ("APPROVED", "bold green"),
        "Withdraw": ("WITHDRAWN", "bold yellow"),
        "Stop": ("STOPPED", "bold yellow"),
        "Revise": ("ADMITTED", "green"),
        "Begin": ("STARTED", "green"),
        "Refresh": ("FACTS", "dim"),
    }
    return words.get(decision.request, ("GRANTED", "green"))


def decision_row(decision: DecisionView, times: int = 1) -> RenderableType:
    """One decision on one to three lines, wrapped to the width there is; ``times``: how often it fell."""
    word, style = verdict_word(decision)
    head = Text(subject(decision), style="dim" if decision.routine else "bold")
    head.append(" " + codes(decision), style="magenta")
    head.append("  " + budgets(decision), style="dim")
    if times > 1:
        head.append(f"  {times} times", style="dim italic")
    parts = [head]
    if decision.sentence and not decision.routine:
        parts.append(Text(short(decision.sentence, decision.episode)))
    return Row(decision.time, Text(word, style=style), parts)


class Row:
    """Time, a word, and text beside them, wrapped to what is left; where that is little it goes below."""

    def __init__(self, time: Ns, word: Text, parts: Sequence[Text], indent: int = _INDENT) -> None:
        """``time`` 0: none is shown; ``indent``: columns before the text."""
        self._time, self._word, self._parts, self._indent = time, word, parts, indent

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        lead = Text.assemble((f"{clock(self._time) if self._time else '':>9} ", "dim"), self._word)
        narrow = options.max_width < self._indent + _LEAST
        if narrow:
            yield lead
        indent = 4 if narrow else self._indent
        width = max(options.max_width - indent, 8)
        lines = [line for part in self._parts for line in part.wrap(console, width)]
        for number, line in enumerate(lines):
            before = lead.copy() if number == 0 and not narrow else Text()
            before.pad_right(indent - before.cell_len)
            row = before + line
            row.rstrip()
            yield row


def codes(decision: DecisionView) -> str:
    """The reason codes, which begin with the rule that speaks; the rules where no reason is needed."""
    return " ".join(decision.reasons or decision.rules)


def subject(decision: DecisionView) -> str:
    """What was asked, in words: the request, and what it was about."""
    about = short(decision.subject, decision.episode)
    if decision.attempt and decision.attempt != decision.subject:
        about = f"{about} {short(decision.attempt, decision.episode)}".strip()
    return f"{decision.request} {about}".strip()


def budgets(decision: DecisionView) -> str:
    """What is left, in words."""
    # Retries are of one operation: of interest where it is dispatched.
    speaks = decision.request == "Dispatch" and decision.retry >= 0
    retry = f", {decision.retry} retr{'y' if decision.retry == 1 else 'ies'}" if speaks else ""
    return f"{decision.physical} physical, {decision.observation} observations{retry} left"


def short(text: str, episode: str) -> str:
    """Attempts of the episode at hand as #1, #2, approvals as a1, a2: their full ids carry its name."""
    return text.replace(f"{episode}.", "#").replace(f"{episode}/", "") if episode else text


def clock(time: Ns) -> str:
    """ROS time for people: seconds of a simulated clock, the local time of day of the system's clock."""
    if time < _SYSTEM_TIME:
        return f"{time / 1e9:.1f} s"
    return datetime.fromtimestamp(time / 1e9).astimezone().strftime("%H:%M:%S")


def episode_panel(episode: EpisodeView) -> RenderableType:
    """How an episode stands: steps, what is owed, budgets."""
    table = Table(expand=True, box=None, pad_edge=False, header_style="dim")
    for column in ("step", "capability", "provider", "state"):
        table.add_column(column, overflow="fold")
    for step in episode.steps:
        style = "green" if step.verified else ("yellow" if step.state else "dim")
        table.add_row(step.id, step.capability, step.provider, Text(step.state or "not begun", style=style))
    parts: list[RenderableType] = [table]
    if episode.owed and episode.phase == "active":
        parts.append(Padding(Text("owed: " + "; ".join(episode.owed), style="dim"), (1, 0, 0, 0)))
    if episode.halted:
        parts.append(Text(f"HALTED: {episode.halted}", style="bold red"))
    left = f"left: {episode.physical} physical, {episode.observation} observations"
    styles = {"active": "cyan", "completed": "green", "stopped": "yellow"}
    return Panel(
        Group(*parts),
        title=f"{episode.id}  {episode.phase}",
        subtitle=f"{left}  generation {episode.generation}  {episode.task}",
        border_style=styles.get(episode.phase, "white"),
        title_align="left",
        subtitle_align="left",
    )


def _assessed(decision: DecisionView) -> tuple[str, str]:
    if decision.authorized:
        return ("PROVEN", "bold green")
    return ("ABSENT", "bold magenta") if decision.negative else ("NOT PROVEN", "yellow")


def _step(step: Any, episode: Any) -> StepView:
    given = next((approval for approval in episode.approvals if approval.step == step.id), None)
    approval = APPROVALS.get(given.state, "?").format(by=given.by) if given is not None else ""
    tried = [attempt for attempt in episode.attempts if attempt.step == step.id]
    names = {attempt.id for attempt in tried}
    verified = any(c.live and c.attempt in names for c in episode.certificates)
    if not tried:
        return StepView(id=step.id, capability=step.capability, state=approval)
    last = tried[-1]
    state = INTERACTIONS.get(last.interaction, "?")
    if verified:
        state = "verified"
    elif last.negative:
        state += ", effect shown absent" + (f", {approval}" if approval else "")
    elif last.doubtful:
        state += ", in doubt"
    elif last.unresolved:
        state += ", effect not shown"
    return StepView(
        id=step.id,
        capability=step.capability,
        provider=last.provider,
        attempts=len(tried),
        state=state,
        verified=verified,
    )


def _owed(obligation: Any, episode: str) -> str:
    """An obligation in a few words: a goal by its condition, an outcome by its attempt."""
    if obligation.kind == OUTCOME:
        return f"the outcome of {short(obligation.id, episode)}"
    condition = obligation.condition or obligation.id
    return f"{condition} again" if obligation.kind == LOST else str(condition)


def _ns(stamp: Any) -> Ns:
    return int(stamp.sec) * 1_000_000_000 + int(stamp.nanosec)
