"""The events of an episode. The ledger holds these and nothing else; state is a fold over them.

Every decision, also a refusal, is one ``Decided`` event followed by what it causes. An event says what
happened, never what to think of it: all thinking is in ``decide``.
"""

from __future__ import annotations

import msgspec

from adf_ea_ros.authority.model import (
    Approval,
    Attempt,
    Certificate,
    Interaction,
    Node,
    Obligation,
    Operation,
)
from adf_ea_ros.contracts.conditions import Condition, Ns
from adf_ea_ros.evidence.types import Finding


class Event(msgspec.Struct, frozen=True, tag_field="type", tag=True):
    """Base of all events; ``type`` in the JSON form is the class name."""


class Inheritance(msgspec.Struct, frozen=True):
    """The account of an established operation that a standing episode hands on to the next one (X11)."""

    key: str
    operation: Operation
    retries: int
    certificates: tuple[Certificate, ...]
    touched: tuple[tuple[str, Ns], ...]  # fact: samples up to here say nothing of now
    provider: str = ""  # of the latest attempt
    findings: tuple[Finding, ...] = ()  # the latest by which its certificates are judged


class EpisodeStarted(Event, frozen=True, tag=True):
    """A trusted task was taken up, with its obligations G and its budgets."""

    episode: str
    task: str  # "id@version"
    fingerprint: str
    time: Ns
    obligations: tuple[Obligation, ...]
    physical: int
    observation: int
    capabilities: tuple[str, ...] = ()
    occurrences: tuple[tuple[str, str], ...] = ()  # (key, occurrence label) that the task declares
    standing: bool = False
    planner: str = ""
    generation: int = 0
    inherited: tuple[Inheritance, ...] = ()  # of a standing episode that goes on in this one
    touched: tuple[tuple[str, Ns], ...] = ()  # by that one: facts of no account, as ``Inheritance.touched``
    broken: tuple[tuple[str, Ns], ...] = ()  # preservation obligations that failed in that one


class Decided(Event, frozen=True, tag=True):
    """The record of one decision."""

    id: str
    time: Ns
    request: str  # kind of request, such as "Dispatch"
    subject: str  # what it was about: a node, an attempt, a provider
    authorized: bool
    rules: tuple[str, ...]
    reasons: tuple[str, ...]
    sentence: str


class ProposalAdmitted(Event, frozen=True, tag=True):
    """D was replaced by a validated proposal; everything else stays (rule 1)."""

    revision: int
    nodes: tuple[Node, ...]
    author: str = ""


class Dispatched(Event, frozen=True, tag=True):
    """A physical attempt was authorized; written before anything is sent (rules 2, 6 and 7)."""

    attempt: Attempt


class Reported(Event, frozen=True, tag=True):
    """What a provider answered, or that it did not: an interaction record, no evidence (rule 3)."""

    attempt: str
    interaction: Interaction
    time: Ns
    detail: str = ""


class Assessed(Event, frozen=True, tag=True):
    """Evidence about an attempt was qualified (rule 3)."""

    attempt: str
    findings: tuple[Finding, ...]


class FactsChecked(Event, frozen=True, tag=True):
    """Current evidence about facts, bound to no attempt: what a decision relied on."""

    findings: tuple[Finding, ...]


class Certified(Event, frozen=True, tag=True):
    """A certificate entered L (rule 4)."""

    certificate: Certificate


class Revoked(Event, frozen=True, tag=True):
    """A certificate can no longer support anything (rule 9); it stays in L as history."""

    certificate: str
    reason: str
    time: Ns


class StateOwed(Event, frozen=True, tag=True):
    """A required state lost its support and entered U_state (rule 9)."""

    condition: Condition
    certificate: str
    time: Ns
    needed_by: tuple[str, ...]


class StateSettled(Event, frozen=True, tag=True):
    """An element left U_state: verified again, or its declared horizon ended (rule 4)."""

    condition: Condition
    reason: str


class PreservationBroken(Event, frozen=True, tag=True):
    """A fact that the task preserves was seen to be otherwise."""

    obligation: str
    time: Ns


class ObservationSpent(Event, frozen=True, tag=True):
    """One observation allowance was consumed (rule 5)."""

    attempt: str  # empty: a current fact, not an attempt


class CancelRequested(Event, frozen=True, tag=True):
    """The provider will be asked to stop; that it does is not assumed (rule X3)."""

    attempt: str
    reason: str


class Restarted(Event, frozen=True, tag=True):
    """A new authority process took the ledger over (rule X1)."""

    generation: int
    time: Ns


class AvailabilityChanged(Event, frozen=True, tag=True):
    """A provider became eligible or ineligible (rules X3 and X4). Empty reason: eligible."""

    provider: str
    reason: str
    time: Ns


class Halted(Event, frozen=True, tag=True):
    """New dispatches are refused until ``Resumed`` (rule X8)."""

    by: str
    reason: str


class Resumed(Event, frozen=True, tag=True):
    """Dispatches may be asked for again (rule X8)."""

    by: str


class Approved(Event, frozen=True, tag=True):
    """A person approved one attempt of a step (rule X12)."""

    approval: Approval


class ApprovalWithdrawn(Event, frozen=True, tag=True):
    """An approval that was not used was taken back (rule X12)."""

    approval: str
    step: str
    by: str
    reason: str
    time: Ns


class Completed(Event, frozen=True, tag=True):
    """Completion was granted on these certificates (rule 9)."""

    time: Ns
    certificates: tuple[str, ...]


class Stopped(Event, frozen=True, tag=True):
    """The episode ended without a completion claim (rule 9)."""

    time: Ns
    by: str
    reason: str
    handed_to: str = ""


AnyEvent = (
    EpisodeStarted | Decided | ProposalAdmitted | Dispatched | Reported | Assessed | FactsChecked | Certified
    | Revoked | StateOwed | StateSettled | PreservationBroken | ObservationSpent | CancelRequested | Restarted
    | AvailabilityChanged | Halted | Resumed | Approved | ApprovalWithdrawn | Completed | Stopped
)  # fmt: skip

_ENCODER = msgspec.json.Encoder(order="deterministic")
_DECODER: msgspec.json.Decoder[AnyEvent] = msgspec.json.Decoder(AnyEvent)


def encode_event(event: AnyEvent) -> bytes:
    """Canonical JSON of one event, with its class name under ``type``."""
    return _ENCODER.encode(event)


def decode_event(data: bytes) -> AnyEvent:
    """The event of ``data``.

    Raises:
        msgspec.DecodeError: not JSON, or not an event of this version (validation errors included).
    """
    return _DECODER.decode(data)
