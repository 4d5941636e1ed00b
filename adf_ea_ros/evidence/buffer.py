"""Buffers of observations, one per readback route: fixed memory, cheap to fill, cheap to ask (sections 3.6,
B.2).

Samples are kept per subject, newest last, so that a flood about one subject evicts nothing about another. A
query starts at the newest sample and stops at the first one that was *received* before the period asked
about: our own clock orders receptions, and a sample that is older by its reception cannot be younger by its
stamp (a stamp later than the reception is refused). So a query costs what it returns, however much the
buffer holds.

A buffer refuses what must never count (another node's samples, replays, stamps ahead of our clock) and keeps
count of it. Judging the rest is left to ``qualify``, which repeats those checks, except for the numbering of
messages, which only a buffer sees. Nothing here locks: one executor thread, or a lock of the caller's.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

import msgspec

from adf_ea_ros.contracts.conditions import Ns
from adf_ea_ros.evidence import reasons
from adf_ea_ros.evidence.eligibility import provider_of, same_content
from adf_ea_ros.evidence.qualify import Qualification, qualify
from adf_ea_ros.evidence.types import Context, Gap, Observation, Requirement

CAP = 128
"""How many samples of one subject and route a qualification considers without a choice: the newest. Of what
is older and still in the period, only a few samples at the requirement's least spacing are considered; see
``window``."""

GAPS = 64
"""How many gaps a route remembers. When they are more, the oldest that only explains is forgotten; where all
leave the state unknown, the two oldest become one that spans both."""

PUBLISHERS = 64
"""For how many publishers a route remembers the last sequence number. When they are more, the one that has
been silent for longest is forgotten."""

CONFLICTS = 8
"""How many pairs of contradicting records under one occurrence id a subject remembers: the newest."""


class Window(msgspec.Struct, frozen=True):
    """The answer to a query: newest first, with what is known to be missing around it."""

    samples: list[Observation]
    gaps: list[Gap]
    notes: tuple[str, ...] = ()
    """Reason codes of what this route refused in the period, and ``E.cap`` where the cap was met."""


class Refusals:
    """The refusals for one reason: how many, and when and about what the last one was."""

    __slots__ = ("count", "received", "subject")

    def __init__(self) -> None:
        self.count = 0
        self.received: Ns = -1
        self.subject = ""  # empty: the message gave none

    def concern(self, subject: str, since: Ns) -> bool:
        """Whether the last one came in the period, and may have been about ``subject``."""
        return self.received >= since and self.subject in {subject, ""}


class _Subject:
    """What is kept of one subject."""

    __slots__ = ("conflicts", "pinned", "samples")

    def __init__(self, depth: int) -> None:
        self.samples: deque[Observation] = deque(maxlen=depth)
        self.conflicts: deque[tuple[Observation, Observation]] = deque(maxlen=CONFLICTS)
        self.pinned = False

    @property
    def received(self) -> Ns:
        """When the newest sample came; -1 where there is none."""
        return self.samples[-1].received if self.samples else -1


class _Publisher:
    """Where one publisher is in its numbering."""

    __slots__ = ("received", "sequence")

    def __init__(self, sequence: int, received: Ns) -> None:
        self.sequence = sequence
        self.received = received


class RouteBuffer:
    """The samples of one route. Memory is bounded by ``depth`` samples for each of ``subjects`` subjects.

    Args:
        route: "provider/route".
        depth: samples kept per subject.
        subjects: subjects kept; beyond that the one silent for longest gives way, but never a pinned one.
        skew: how far (ns) a stamp may lie ahead of its reception; the same as ``Context.skew``.
        silence: without a sample for longer than this (ns), the state is unknown; 0: a pause is a pause.
    """

    def __init__(
        self, route: str, *, depth: int = 1000, subjects: int = 64, skew: Ns = 0, silence: Ns = 0
    ) -> None:
        if depth < 1 or subjects < 1:
            raise ValueError("a buffer holds at least one sample of one subject")
        self.route = route
        self.provider = provider_of(route)
        self.latest: Ns = -1
        """When the newest message was received, taken or refused."""
        self._heard: Ns = -1  # when the newest sample that was taken was received
        self.refusals: dict[str, Refusals] = {}
        """What was refused, by reason code."""
        self._depth, self._limit, self._skew, self._silence = depth, subjects, skew, silence
        self._subjects: dict[str, _Subject] = {}
        self._ids: dict[str, Observation] = {}
        self._publishers: dict[str, _Publisher] = {}
        self._gaps: deque[Gap] = deque()

    def __len__(self) -> int:
        return len(self._ids)

    # ---- taking in

    def add(self, sample: Observation) -> str | None:
        """Take in ``sample``. None, or the code of the reason why it was not taken.

        ``E.occurrence`` is the exception: the second content of one occurrence id is kept, beside the
        first, so that every qualification that meets them fails.
        """
        received = sample.received
        if received < self.latest:
            self.reset(received)
        self.latest = received
        if sample.source != self.provider or sample.route != self.route:
            return self._refuse(reasons.SOURCE if sample.route == self.route else reasons.ROUTE, sample)
        known = self._ids.get(sample.id)
        if known is not None:
            if same_content(known, sample):
                return self._refuse(reasons.DUPLICATE, sample)
            self._conflict(known, sample)
            return self._refuse(reasons.OCCURRENCE, sample)
        sequence = sample.sequence
        if sequence >= 0 and not self._in_sequence(sample.publisher or sample.source, sequence, received):
            return self._refuse(reasons.SEQUENCE, sample)
        if sample.stamp - self._skew > received:
            return self._refuse(reasons.FUTURE, sample)
        subject = self._subjects.get(sample.subject)
        if subject is None:
            subject = self._new_subject(sample.subject)
            if subject is None:
                return self._refuse(reasons.FULL, sample)
        samples = subject.samples
        if len(samples) == self._depth:
            del self._ids[samples[0].id]
        if self._silence and received - self._heard > self._silence:
            self._note_silence(sample)
        self._heard = received
        samples.append(sample)
        self._ids[sample.id] = sample
        return None

    def _note_silence(self, sample: Observation) -> None:
        """A sample after a pause: the state is known from its capture on, unless that is older still."""
        if self._heard >= 0:
            end = sample.stamp - 1 if sample.stamp > self._heard else sample.received
            self.note_gap(Gap(self.route, self._heard, end, reasons.SILENT, unknown=True))

    def unreadable(self, code: str, received: Ns, *, publisher: str = "", sequence: int = -1) -> None:
        """Note a message of this route that gave no observation; ``code`` says why.

        It counts in the publisher's numbering: the next message must not look like one after a loss.
        """
        if received < self.latest:
            self.reset(received)
        self.latest = received
        if sequence >= 0:
            self._in_sequence(publisher or self.provider, sequence, received)
        self._count(code, received, "")

    def _refuse(self, code: str, sample: Observation) -> str:
        self._count(code, sample.received, sample.subject)
        return code

    def _count(self, code: str, received: Ns, subject: str) -> None:
        refusals = self.refusals.get(code)
        if refusals is None:
            refusals = self.refusals[code] = Refusals()
        refusals.count += 1
        refusals.received = received
        refusals.subject = subject

    def _conflict(self, known: Observation, sample: Observation) -> None:
        for name in {known.subject, sample.subject}:
            subject = self._subjects.get(name) or self._new_subject(name)
            if subject is not None:
                subject.conflicts.append((known, sample))

    def _in_sequence(self, name: str, sequence: int, received: Ns) -> bool:
        """Note a publisher's sequence number. False for one that is not above the last; a jump is a gap."""
        publisher = self._publishers.get(name)
        if publisher is None:
            if len(self._publishers) == PUBLISHERS:
                del self._publishers[min(self._publishers, key=lambda each: self._publishers[each].received)]
            self._publishers[name] = _Publisher(sequence, received)
            return True
        missing = sequence - publisher.sequence - 1
        if missing < 0:
            return False
        if missing:
            self.note_gap(
                Gap(self.route, publisher.received, received, f"{reasons.LOST}: {missing}", unknown=False)
            )
        publisher.sequence, publisher.received = sequence, received
        return True

    def _new_subject(self, name: str) -> _Subject | None:
        """Room for another subject; nothing where every one that is kept is pinned."""
        if len(self._subjects) == self._limit:
            unpinned = [each for each, subject in self._subjects.items() if not subject.pinned]
            if not unpinned:
                return None
            oldest = min(unpinned, key=lambda each: self._subjects[each].received)
            for sample in self._subjects.pop(oldest).samples:
                del self._ids[sample.id]
        subject = self._subjects[name] = _Subject(self._depth)
        return subject

    def pin(self, subject: str) -> bool:
        """Keep room for ``subject`` until it is unpinned. False where the room is taken by other pinned
        ones."""
        kept = self._subjects.get(subject) or self._new_subject(subject)
        if kept is not None:
            kept.pinned = True
        return kept is not None

    def unpin(self, subject: str) -> None:
        """Let ``subject`` give way to others again."""
        if subject in self._subjects:
            self._subjects[subject].pinned = False

    # ---- what is missing

    def note_gap(self, gap: Gap) -> None:
        """Remember a gap; ``gap.unknown`` makes every sample captured before its end unusable."""
        self._gaps.append(gap)
        if len(self._gaps) <= GAPS:
            return
        for index, old in enumerate(self._gaps):
            if not old.unknown:
                del self._gaps[index]
                return
        first, second = self._gaps.popleft(), self._gaps.popleft()
        start, end = min(first.start, second.start), max(first.end, second.end)
        self._gaps.appendleft(Gap(self.route, start, end, second.reason, unknown=True))

    def reset(self, now: Ns) -> None:
        """The clock went back to ``now``: forget all samples, and take the state until now as unknown.

        Sequence numbers are kept: what is replayed from before the reset is still a replay.
        """
        self._subjects = {
            name: _Subject(self._depth) for name, subject in self._subjects.items() if subject.pinned
        }
        for subject in self._subjects.values():
            subject.pinned = True
        self._ids.clear()
        self._gaps.clear()
        self._gaps.append(Gap(self.route, min(0, now), now, reasons.RESET, unknown=True))
        self.latest = self._heard = now

    def publishers_changed(self) -> None:
        """The graph shows other publishers than before: numbering starts anew.

        For middleware that gives no publisher id per message: without this call, a publisher that was
        restarted is refused until its numbers exceed the old ones.
        """
        self._publishers.clear()

    # ---- asking

    def window(
        self, subject: str, since: Ns, now: Ns, *, stride: Ns = 0, count: int = 1, cap: int = CAP
    ) -> Window:
        """The samples of ``subject`` received from ``since`` to ``now``, newest first, and what is missing.

        At most ``cap`` samples are given as they come. Where the period holds more, and a ``stride`` is
        asked for, up to ``count`` more follow, each the newest that was received at least ``stride`` before
        the last one taken. ``now`` must not lie before the last reception: such a query gets nothing, and
        the note ``E.clock``.
        """
        gaps = [gap for gap in self._gaps if gap.end >= since and gap.start <= now]
        if self._silence and now - self._heard > self._silence:
            gaps.append(Gap(self.route, max(self._heard, 0), now, reasons.SILENT, unknown=True))
        if now < self.latest:
            return Window([], gaps, (reasons.CLOCK,))
        notes = [code for code, last in self.refusals.items() if last.concern(subject, since)]
        kept = self._subjects.get(subject)
        if kept is None:
            return Window([], gaps, tuple(notes))
        chosen: list[Observation] = []
        for sample in reversed(kept.samples):
            if sample.received < since:
                break
            if len(chosen) == cap:
                notes.append(reasons.CAP)
                if stride:
                    _sparse(kept.samples, chosen, since, stride, count)
                break
            chosen.append(sample)
        for pair in kept.conflicts:
            if pair[1].received >= since:
                chosen += pair
        return Window(chosen, gaps, tuple(notes))

    def newest(self, subject: str, path: str, since: Ns = -1) -> Observation | None:
        """The last sample received of ``path`` of ``subject``, unless it came before ``since``.

        The value at the dispatch, for readings that are judged by their change since then.
        """
        kept = self._subjects.get(subject)
        for sample in reversed(kept.samples) if kept is not None else ():
            if sample.received < since:
                return None
            if sample.path == path:
                return sample
        return None


def _sparse(
    samples: deque[Observation], chosen: list[Observation], since: Ns, stride: Ns, count: int
) -> None:
    """Add up to ``count`` samples older than ``chosen``, each at least ``stride`` before the last one added.

    Positions are counted from the newest. A galloping search finds each: its cost grows with the logarithm
    of the distance, and a deque reaches a position from its nearer end.
    """
    size, position = len(samples), len(chosen) - 1
    for _ in range(count):
        limit = chosen[-1].received - stride
        step = 1
        low = position  # received later than the limit
        while low + step < size and samples[-1 - low - step].received > limit:
            low += step
            step *= 2
        high = min(low + step, size)  # received at the limit or before, or past the end
        while high - low > 1:
            middle = (low + high) // 2
            if samples[-1 - middle].received > limit:
                low = middle
            else:
                high = middle
        if high >= size or samples[-1 - high].received < since:
            return
        position = high
        chosen.append(samples[-1 - high])


def qualify_routes(
    requirement: Requirement, context: Context, buffers: Mapping[str, RouteBuffer], now: Ns, cap: int = CAP
) -> Qualification:
    """``qualify`` on the buffers of the requirement's routes, by route name; a route without a buffer has
    no samples.

    ``now`` must be read after the last sample was added.
    """
    since = max(context.after + 1, now - requirement.max_age)
    subject, stride, count = requirement.condition.subject, requirement.spacing_least, requirement.count
    samples: list[Observation] = []
    gaps: list[Gap] = []
    notes: list[str] = []
    for route in requirement.routes:
        buffer = buffers.get(route)
        if buffer is not None:
            window = buffer.window(subject, since, now, stride=stride, count=count, cap=cap)
            samples += window.samples
            gaps += window.gaps
            notes += window.notes
    return qualify(requirement, context, samples, gaps, now, notes=notes)
