"""One line of plain words for each record of a ledger. Pure: a record in, words out; no terminal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from adf_ea_ros.authority import events as ev
from adf_ea_ros.contracts.conditions import Ns
from adf_ea_ros.evidence.types import Finding
from adf_ea_ros.ledger import system as sy
from adf_ea_ros.ledger.record import SYSTEM, Record

_WIDEST = 120  # characters of a value that nobody here knows how to read

_SYSTEM = msgspec.json.Decoder(sy.SystemEvent)


class Entry(msgspec.Struct, frozen=True):
    """What a record says. ``tone``: good, bad, warn, plain or dim. ``codes``: rules and reasons."""

    tone: str
    text: str
    codes: tuple[str, ...] = ()


def event_of(record: Record) -> ev.AnyEvent | sy.SystemEvent | None:
    """The event that a record holds, or None where it is none that this version knows."""
    try:
        return _SYSTEM.decode(record.payload) if record.episode == SYSTEM else ev.decode_event(record.payload)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def describe(record: Record) -> Entry:
    """The line of one record."""
    event = event_of(record)
    if event is None:
        return Entry("plain", generic(record.payload))
    return describe_event(event)


def describe_event(event: ev.AnyEvent | sy.SystemEvent) -> Entry:
    """The line of one event."""
    return _LINES[type(event)](event)


def generic(payload: bytes) -> str:
    """The fields of a payload, whatever it is; long values are cut."""
    try:
        value = msgspec.json.decode(payload)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return f"{len(payload)} bytes that are no JSON"
    if not isinstance(value, dict):
        return _cut(value)
    return ", ".join(f"{name}={_cut(field)}" for name, field in value.items() if name != "type")


def _cut(value: Any) -> str:
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return text if len(text) <= _WIDEST else text[: _WIDEST - 3] + "..."


def seconds(time: Ns, start: Ns = 0) -> str:
    """A time as seconds, relative to ``start``."""
    return f"{(time - start) / 1e9:+.3f} s"


def finding(found: Finding) -> str:
    """One finding in words: what was asked, what the evidence said, which was used, why other was not."""
    text = f"{found.requirement}: {found.condition} is {found.verdict.value}"
    if found.negative:
        text += ", and qualified negative"
    if found.basis:
        text += f", on {_few(found.basis)}"
    if found.reasons:
        text += f" ({', '.join(found.reasons)})"
    if found.integrity:
        text += f"; integrity failure: {found.integrity}"
    return text


def _few(names: tuple[str, ...]) -> str:
    if len(names) == 1:
        return names[0]
    shown = ", ".join(names[:3])
    return f"{len(names)} samples ({shown}{', ...' if len(names) > 3 else ''})"


def _findings(found: tuple[Finding, ...]) -> str:
    # The same fact may have been asked for by several steps.
    return "; ".join(dict.fromkeys(map(finding, found))) or "no requirement"


def _started(e: ev.EpisodeStarted) -> Entry:
    goals = ", ".join(obligation.id for obligation in e.obligations) or "none"
    kind = "standing task" if e.standing else "task"
    text = f"episode of {kind} {e.task} started; obligations: {goals}; budget {e.physical} physical requests"
    return Entry("plain", f"{text}, {e.observation} observations")


def _decided(e: ev.Decided) -> Entry:
    answer = "granted" if e.authorized else "refused"
    subject = f" {e.subject}" if e.subject else ""
    text = f"{e.request}{subject} {answer}: {e.sentence}"
    codes = (*(rule for rule in e.rules if not any(c.startswith(f"{rule}.") for c in e.reasons)), *e.reasons)
    return Entry("good" if e.authorized else "bad", text, codes)


def _proposal(e: ev.ProposalAdmitted) -> Entry:
    by = f" by {e.author}" if e.author else ""
    steps = ", ".join(f"{n.id}" + (f" after {'+'.join(n.after)}" if n.after else "") for n in e.nodes)
    return Entry("plain", f"proposal {e.revision}{by} admitted: {steps}")


def _dispatched(e: ev.Dispatched) -> Entry:
    a = e.attempt
    how = f"{a.mode.value.lower()}, answer due within {seconds(a.deadline, a.dispatched).lstrip('+')}"
    how += f", under approval {a.approval}" if a.approval else ""
    return Entry("plain", f"attempt {a.id} for step {a.node} to {a.provider} ({how})")


def _reported(e: ev.Reported) -> Entry:
    detail = f": {e.detail}" if e.detail else ""
    return Entry("plain", f"attempt {e.attempt} is {e.interaction.value}{detail}; no evidence of an effect")


def _assessed(e: ev.Assessed) -> Entry:
    return Entry("plain", f"evidence on attempt {e.attempt}: {_findings(e.findings)}")


def _facts(e: ev.FactsChecked) -> Entry:
    return Entry("dim", f"facts: {_findings(e.findings)}")


def _certified(e: ev.Certified) -> Entry:
    c = e.certificate
    source = f"attempt {c.attempt}" if c.attempt else "trusted initial evidence"
    return Entry("good", f"certificate {c.id}: effect {c.effect} ({c.condition}) proven after {source}")


def _revoked(e: ev.Revoked) -> Entry:
    return Entry("warn", f"certificate {e.certificate} supports nothing any more: {e.reason}")


def _owed(e: ev.StateOwed) -> Entry:
    needed = f", needed by {', '.join(e.needed_by)}" if e.needed_by else ""
    return Entry("warn", f"the state {e.condition} lost its support{needed}")


def _settled(e: ev.StateSettled) -> Entry:
    return Entry("good", f"the state {e.condition} is no longer owed: {e.reason}")


def _broken(e: ev.PreservationBroken) -> Entry:
    return Entry("bad", f"{e.obligation} was to be preserved, and was seen to be otherwise")


def _spent(e: ev.ObservationSpent) -> Entry:
    return Entry("dim", f"one observation spent{f' on attempt {e.attempt}' if e.attempt else ''}")


def _cancel(e: ev.CancelRequested) -> Entry:
    return Entry("warn", f"attempt {e.attempt} is asked to stop: {e.reason}")


def _restarted(e: ev.Restarted) -> Entry:
    return Entry(
        "warn", f"the authority started anew, generation {e.generation}; what was in flight is in doubt"
    )


def _availability(e: ev.AvailabilityChanged) -> Entry:
    if e.reason:
        return Entry("warn", f"{e.provider} is not eligible: {e.reason}")
    return Entry("plain", f"{e.provider} is eligible")


def _halted(e: ev.Halted) -> Entry:
    return Entry("bad", f"halted by {e.by}: {e.reason}")


def _resumed(e: ev.Resumed) -> Entry:
    return Entry("good", f"resumed by {e.by}")


def _approved(e: ev.Approved) -> Entry:
    a = e.approval
    why = f": {a.reason}" if a.reason else ""
    names = " or ".join(provider for provider, _, _ in a.providers)
    lasts = seconds(a.valid_until, a.granted).lstrip("+")
    text = f"{a.by} approved attempt {a.number} of step {a.step} on {names}, for {lasts} ({a.id}){why}"
    return Entry("good", text)


def _withdrawn(e: ev.ApprovalWithdrawn) -> Entry:
    why = f": {e.reason}" if e.reason else ""
    return Entry("warn", f"{e.by} took the approval {e.approval} of step {e.step} back{why}")


def _completed(e: ev.Completed) -> Entry:
    return Entry("good", f"completed, on {', '.join(e.certificates) or 'no certificate'}")


def _stopped(e: ev.Stopped) -> Entry:
    handed = f"; what is open was handed to {e.handed_to}" if e.handed_to else ""
    return Entry("warn", f"stopped by {e.by}: {e.reason}{handed}")


def _writer(e: sy.WriterStarted) -> Entry:
    before = f"; took over from {e.took_over_from}" if e.took_over_from else ""
    return Entry("plain", f"generation {e.holder.generation} is {e.holder}{before}")


def _accepted(e: sy.LedgerAccepted) -> Entry:
    return Entry(
        "bad", f"{e.by} accepted the ledger as it was ({e.reason}); {'; '.join(e.lost) or 'nothing lost'}"
    )


def _checkpoint(e: sy.CheckpointSaved) -> Entry:
    return Entry("dim", f"checkpoint of {e.episode} at version {e.version}")


def _archived(e: sy.EpisodesArchived) -> Entry:
    names = ", ".join(archive.episode for archive in e.episodes)
    return Entry("plain", f"archived to {e.file}: {names}; SHA-256 {e.digest}")


_LINES: dict[type, Callable[[Any], Entry]] = {
    ev.EpisodeStarted: _started,
    ev.Decided: _decided,
    ev.ProposalAdmitted: _proposal,
    ev.Dispatched: _dispatched,
    ev.Reported: _reported,
    ev.Assessed: _assessed,
    ev.FactsChecked: _facts,
    ev.Certified: _certified,
    ev.Revoked: _revoked,
    ev.StateOwed: _owed,
    ev.StateSettled: _settled,
    ev.PreservationBroken: _broken,
    ev.ObservationSpent: _spent,
    ev.CancelRequested: _cancel,
    ev.Restarted: _restarted,
    ev.AvailabilityChanged: _availability,
    ev.Halted: _halted,
    ev.Resumed: _resumed,
    ev.Approved: _approved,
    ev.ApprovalWithdrawn: _withdrawn,
    ev.Completed: _completed,
    ev.Stopped: _stopped,
    sy.WriterStarted: _writer,
    sy.LedgerAccepted: _accepted,
    sy.CheckpointSaved: _checkpoint,
    sy.EpisodesArchived: _archived,
}
"""A test holds that every kind of event has its line."""
