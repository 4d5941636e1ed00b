"""The reason codes of the evidence layer: stable names for programs, one sentence each for people.

A code never changes its meaning; a new meaning gets a new code. ``doc/evidence.md`` lists the same codes,
and a test holds the two together.
"""

from __future__ import annotations

# --- why one sample was refused -----------------------------------------------------------------------------
ROUTE = "E.route"
SOURCE = "E.source"
EXECUTOR = "E.executor"
SUBJECT = "E.subject"
PATH = "E.path"
CLOCK = "E.clock"
FUTURE = "E.future"
BEFORE_DISPATCH = "E.before_dispatch"
STALE = "E.stale"
GAP = "E.gap"
GRADE = "E.grade"
NOT_A_VALUE = "E.not_a_value"
NO_BASELINE = "E.no_baseline"
NO_FIELD = "E.no_field"
MISMATCH = "E.mismatch"
DUPLICATE = "E.duplicate"

# --- why a message gave no sample, or a sample was not taken into a buffer ----------------------------------
NO_STAMP = "E.no_stamp"
NO_VALUE = "E.no_value"
UNNAMED = "E.unnamed"
SEQUENCE = "E.sequence"
FULL = "E.full"
LOST = "E.lost"
SILENT = "E.silent"
RESET = "E.reset"

# --- why the eligible samples decided nothing, or what qualifies a decision ---------------------------------
NONE = "E.none"
COUNT = "E.count"
IDENTITY = "E.identity"
CADENCE = "E.cadence"
CONFLICT = "E.conflict"
MIXED = "E.mixed"
OUTRANKED = "E.outranked"
EARLY = "E.early"
CAP = "E.cap"

# --- integrity: the artifacts contradict themselves, and nothing is granted ---------------------------------
OCCURRENCE = "E.occurrence"
ROLE = "E.role"
REQUIREMENT = "E.requirement"

SENTENCES = {
    ROUTE: "the sample came over a route that the requirement does not name",
    SOURCE: "the node that published the sample is not the provider of the route",
    EXECUTOR: "the executing provider published on a route whose source must be independent of it",
    SUBJECT: "the sample speaks of another subject",
    PATH: "the sample speaks of another state path",
    CLOCK: "the sample was received later than the horizon: our clock went back",
    FUTURE: "the sample is stamped later than its reception or the horizon: the source's clock is ahead",
    BEFORE_DISPATCH: "the sample was captured before the dispatch, or in the same instant",
    STALE: "the sample is older than the requirement's greatest age",
    GAP: "the sample was captured before the end of a gap after which the state had to be taken as unknown",
    GRADE: "the sample's grade is below the requirement's",
    NOT_A_VALUE: "the condition cannot judge the value (not finite, or of another type)",
    NO_BASELINE: "a change since the dispatch was asked for, and the value at the dispatch is not known",
    NO_FIELD: "the sample lacks a correlation field that the requirement or the attempt asks for",
    MISMATCH: "a correlation field carries another value: the sample belongs to something else",
    DUPLICATE: "the sample repeats one that was already counted",
    NO_STAMP: "the message carries no capture time, or zero",
    NO_VALUE: "the message carries no value there: field missing, array empty, joint absent, no number",
    UNNAMED: "the value is none of the enumeration's",
    SEQUENCE: "the publisher's sequence number was repeated or went backwards: a replay",
    FULL: "the buffer holds as many pinned subjects as it may",
    LOST: "the publisher's sequence number jumped: messages were lost",
    SILENT: "the route was silent for longer than it may be: the state is unknown",
    RESET: "the clock went back: everything seen before it is unusable",
    NONE: "no sample is eligible",
    COUNT: "fewer samples are eligible than the requirement asks for",
    IDENTITY: "the eligible samples come from fewer identities than the requirement asks for",
    CADENCE: "the eligible samples are not spaced as the requirement asks",
    CONFLICT: "evaluable evidence of the same strength both supports and contradicts the condition",
    MIXED: "the contradicting windows also hold samples that support the condition",
    OUTRANKED: "weaker evidence says otherwise than the strongest",
    EARLY: "the contradicting samples are too early to show that the effect will not come",
    CAP: "older samples of the period were not considered: there are more than the stated limit",
    OCCURRENCE: "one occurrence identity carries two contents",
    ROLE: "the role asks for independence of the executing provider, and a route belongs to it",
    REQUIREMENT: "the requirement is malformed",
}
"""Every code with its sentence."""
