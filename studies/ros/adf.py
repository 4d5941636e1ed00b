"""ADF-EA through the nodes: the client of ``studies.methods.adf``, with another way to its authority."""

from __future__ import annotations

import json
from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

from adf_ea_ros import msg
from adf_ea_ros.authority.grounding import Step
from adf_ea_ros.authority.model import Interaction
from adf_ea_ros.evidence.types import Observation
from adf_ea_ros.nodes.convert import ruling_of
from adf_ea_ros.runtime.public import Ruling
from studies.device import Sample
from studies.methods.adf import Adf
from studies.methods.base import Setting
from studies.ros.link import Link


class Remote:
    """The requests of an ``AuthorityService`` as service calls and goals, at the time that each is given.

    ``book`` and ``buffers`` are those of the node: the client looks at them to know which fact a step is
    about, and whether the retry hook may ask. Everything that is decided is decided on a message.
    """

    def __init__(self, link: Link) -> None:
        """``link`` leads to the node."""
        self._link = link
        self._running: dict[str, str] = {}
        self.book, self.buffers = link.service.book, link.service.buffers
        self.listeners: list[Any] = []

    def start_episode(self, task: str, planner: str, now: int, _name: str) -> tuple[str, Any]:
        """See ``AuthorityService``; the node makes up the name."""
        self._link.at(now)
        answer = self._link.call("start_episode", task=task, planner=planner)
        return answer.episode, _said(answer.decision)

    def revise(self, episode: str, steps: Iterable[Step], author: str, now: int) -> Any:
        """See ``AuthorityService``."""
        self._link.at(now)
        messages = [
            msg.Step(
                id=s.id, capability=s.capability, after=list(s.after), occurrence=s.occurrence,
                arguments=json.dumps(s.arguments),
            )
            for s in steps
        ]  # fmt: skip
        answer = self._link.call("revise_proposal", episode=episode, steps=messages, author=author)
        return _said(answer.decision)

    def dispatch(self, episode: str, step: str, provider: str, now: int) -> Any:
        """A goal of the capability node, which asks the authority and calls the unit.

        A provider that nobody wraps has no action; the authority is asked about it all the same.
        """
        self._link.at(now)
        if not self._link.offers(provider):
            return _said(self._link.call("admit", episode=episode, step=step, provider=provider).decision)
        said = _told(self._link.execute(episode, step, provider))
        if said.authorized:
            self._running[said.id] = provider
            said.attempt = SimpleNamespace(id=said.id, provider=provider)
        return said

    def report(self, attempt: str, interaction: Interaction, now: int) -> None:
        """The unit answers, or keeps silent past the deadline, and the capability node reports it."""
        self._link.at(now)
        provider = self._running.pop(attempt)
        success = None if interaction is Interaction.LOST else interaction is Interaction.SUCCEEDED
        self._link.answer(provider, attempt, success=success)

    def observe(self, episode: str, step: str, now: int) -> Any:
        """See ``AuthorityService``."""
        self._link.at(now)
        return _said(self._link.call("observe", episode=episode, step=step).decision)

    def claim(self, episode: str, now: int) -> Any:
        """See ``AuthorityService``."""
        self._link.at(now)
        return _said(self._link.call("claim_completion", episode=episode).decision)

    def stop(self, episode: str, by: str, reason: str, now: int) -> Any:
        """See ``AuthorityService``."""
        self._link.at(now)
        return _said(self._link.call("stop_episode", episode=episode, by=by, reason=reason).decision)

    def set_availability(self, provider: str, _reason: str, _now: int) -> None:
        """The unit leaves the graph: the authority is to see that by itself."""
        self._link.withdraw(provider)

    def tick(self, now: int) -> None:
        """Time passes; the node ticks by itself."""
        self._link.at(now)

    def observed(self, sample: Observation, _now: int) -> None:
        """A reading goes out as a message."""
        self._link.publish(
            Sample(
                sample.id, sample.route, sample.source, sample.subject, sample.path, sample.value,
                sample.stamp, sample.received, sample.fields,
            )
        )  # fmt: skip


def through(arm: type[Adf], link: Link) -> type[Adf]:
    """The same client, asking the nodes."""

    class Through(arm):  # type: ignore[misc, valid-type]
        def connect(self, _setting: Setting) -> Any:
            return Remote(link)

        def _take(self, samples: Iterable[Sample]) -> None:
            super()._take(samples)
            link.settle()

    return Through


def _said(message: Any) -> SimpleNamespace:
    return _told(ruling_of(message))


def _told(said: Ruling) -> SimpleNamespace:
    return SimpleNamespace(
        authorized=said.authorized, rules=said.rules, reasons=said.reasons, sentence=said.sentence,
        attempt=None, id=said.attempt,
    )  # fmt: skip
