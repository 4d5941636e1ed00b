"""ADF-EA through the node: the client of ``studies.methods.adf``, with another way to its authority."""

from __future__ import annotations

import json
from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

from adf_ea_ros import msg
from adf_ea_ros.authority.grounding import Step
from adf_ea_ros.authority.model import Interaction
from adf_ea_ros.evidence.types import Observation
from adf_ea_ros.nodes.convert import INTERACTIONS, order_of, ruling_of
from studies.device import Sample
from studies.methods.adf import Adf
from studies.methods.base import Setting
from studies.ros.link import Link


class Remote:
    """The requests of an ``AuthorityService`` as service calls, at the time that each is given.

    ``book`` and ``buffers`` are those of the node: the client looks at them to know which fact a step is
    about, and whether the retry hook may ask. Everything that is decided is decided on a service call.
    """

    def __init__(self, link: Link) -> None:
        """``link`` leads to the node."""
        self._link = link
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
        """See ``AuthorityService``."""
        self._link.at(now)
        answer = self._link.call("admit", episode=episode, step=step, provider=provider)
        said = _said(answer.decision)
        said.attempt = order_of(answer.attempt) if said.authorized else None
        return said

    def report(self, attempt: str, interaction: Interaction, now: int) -> Any:
        """See ``AuthorityService``."""
        self._link.at(now)
        answer = self._link.call("report", attempt=attempt, interaction=INTERACTIONS[interaction])
        return _said(answer.decision)

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
    """The same client, asking the node."""

    def connect(_self: Adf, _setting: Setting) -> Any:
        return Remote(link)

    return type(f"Ros{arm.__name__}", (arm,), {"connect": connect})


def _said(message: Any) -> SimpleNamespace:
    said = ruling_of(message)
    return SimpleNamespace(
        authorized=said.authorized, rules=tuple(said.rules), reasons=tuple(said.reasons),
        sentence=said.sentence, attempt=None,
    )  # fmt: skip
