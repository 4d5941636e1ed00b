"""What the authority can be asked. Whatever the world has to say comes along as findings, taken at ``now``.

``view`` holds findings about current facts (bound to no attempt), ``assessed`` findings about the attempt
that the request concerns (samples captured after its dispatch). The runtime takes both from the buffers at
the moment of the decision, so that no decision rests on what was true a while ago.
"""

from __future__ import annotations

from enum import Enum

import msgspec

from adf_ea_ros.authority.events import EpisodeStarted
from adf_ea_ros.authority.model import Interaction, Node
from adf_ea_ros.authority.rules.x10_lease import Lease
from adf_ea_ros.contracts.conditions import Condition, Ns, Value
from adf_ea_ros.evidence.types import Finding

Findings = tuple[Finding, ...]


class Request(msgspec.Struct, frozen=True, tag_field="type", tag=True):
    """Base of all requests."""


class Begin(Request, frozen=True, tag=True):
    """Take up a trusted task (rule X5). ``faults`` are grounding faults: (code, text)."""

    start: EpisodeStarted
    planners: tuple[str, ...] = ()  # who may run the task; empty: anyone
    faults: tuple[tuple[str, str], ...] = ()


class Revise(Request, frozen=True, tag=True):
    """Replace the proposal D by these nodes (rule 1). ``faults`` are grounding faults: (code, text)."""

    nodes: tuple[Node, ...]
    faults: tuple[tuple[str, str], ...] = ()
    author: str = ""
    view: Findings = ()


class Dispatch(Request, frozen=True, tag=True):
    """Run the node now, with this provider (rules 2, 6, 7 and 8 decide what that would mean)."""

    node: str
    provider: str
    generation: int = 0  # 0: the caller did not say
    elsewhere: tuple[tuple[str, str, str], ...] = ()  # (subject, path, attempt) open in other episodes
    view: Findings = ()
    assessed: Findings = ()
    baseline: tuple[tuple[str, str, Value], ...] = ()  # (subject, path, value) before it runs
    leases: tuple[Lease, ...] = ()  # held by other authorities
    replaced: tuple[str, ...] = ()  # contracts of the step that are not the loaded ones any more (rule X12)


class Report(Request, frozen=True, tag=True):
    """A provider's answer to an attempt, or the lack of one (rule 3)."""

    attempt: str
    interaction: Interaction
    detail: str = ""


class Assess(Request, frozen=True, tag=True):
    """Evidence about an attempt arrived (rules 3 and 4)."""

    attempt: str
    assessed: Findings
    view: Findings = ()


class Refresh(Request, frozen=True, tag=True):
    """Current facts were checked (rules 4 and 9): invalidation, and restored state."""

    view: Findings


class Observe(Request, frozen=True, tag=True):
    """Spend an observation to reacquire evidence for a node's operation (rule 5)."""

    node: str
    view: Findings = ()
    assessed: Findings = ()


class Claim(Request, frozen=True, tag=True):
    """The planner claims that the task is complete (rule 9)."""

    view: Findings = ()


class Stop(Request, frozen=True, tag=True):
    """End the episode without a claim, or hand it to somebody (rule 9)."""

    by: str
    reason: str
    hand_to: str = ""


class Restart(Request, frozen=True, tag=True):
    """A new authority process has loaded this state (rule X1)."""

    generation: int


class Answer(str, Enum):
    """What a provider says about a goal id after a crash of either side (rule X2)."""

    TERMINAL = "TERMINAL"
    RUNNING = "RUNNING"
    NEVER_ACCEPTED = "NEVER_ACCEPTED"  # unknown to a server that has run since before the dispatch
    CANNOT_TELL = "CANNOT_TELL"  # unknown to a server that restarted, or forgot, or has no ids


class Reconcile(Request, frozen=True, tag=True):
    """The result of asking a provider about a doubtful attempt (rule X2)."""

    attempt: str
    answer: Answer
    interaction: Interaction = Interaction.LOST  # with TERMINAL: which end
    detail: str = ""


class SetAvailability(Request, frozen=True, tag=True):
    """A provider was revoked, expired, drifted or vanished, or is eligible again (rules X3, X4)."""

    provider: str
    reason: str = ""  # empty: eligible
    cancel: bool = False  # also ask its attempts in flight to stop


class Halt(Request, frozen=True, tag=True):
    """Refuse new dispatches and cancel what is in flight (rule X8)."""

    by: str
    reason: str


class Resume(Request, frozen=True, tag=True):
    """Lift a halt (rule X8)."""

    by: str


class Approve(Request, frozen=True, tag=True):
    """A person approves the next attempt of a step, just as it would be sent now (rule X12)."""

    node: str
    by: str
    reason: str = ""
    valid_for: Ns = 0  # 0: as long as the contract allows; never longer
    replaced: tuple[str, ...] = ()  # as for a dispatch


class Withdraw(Request, frozen=True, tag=True):
    """A person takes an approval back that was not used yet (rule X12)."""

    node: str
    by: str
    reason: str = ""


class Attest(Request, frozen=True, tag=True):
    """A person vouches for a fact (rule X9); counts only where the contract names role OPERATOR."""

    by: str
    reason: str
    condition: Condition
    holds: bool
    attempt: str = ""


AnyRequest = (
    Begin | Revise | Dispatch | Report | Assess | Refresh | Observe | Claim | Stop | Restart | Reconcile
    | SetAvailability | Halt | Resume | Attest | Approve | Withdraw
)  # fmt: skip
