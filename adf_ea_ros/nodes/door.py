"""What the drop-in gates of all kinds of interface have in common."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from adf_ea_ros.contracts import gates as native
from adf_ea_ros.contracts.conditions import Value
from adf_ea_ros.contracts.fields import FieldError, get_field, set_field
from adf_ea_ros.contracts.model import Gate, ProviderContract
from adf_ea_ros.nodes.errands import Admission
from adf_ea_ros.nodes.interfaces import interface
from adf_ea_ros.nodes.run import Outcome, Run
from adf_ea_ros.nodes.support import StartFault
from adf_ea_ros.runtime.public import Ruling, refusal
from adf_ea_ros.runtime.standing import Asked

if TYPE_CHECKING:
    from adf_ea_ros.nodes.capability import CapabilityNode

REDUNDANT = frozenset({"R8.redundant", "R8.initially_true"})
"""Reasons of a refusal by which the effect is proven to hold: a gate may call that a success."""


class Door:
    """From a native goal to a ruling, and on to a reply."""

    def __init__(self, node: CapabilityNode, gate: Gate, provider: ProviderContract) -> None:
        """Raises StartFault: the interface is not installed."""
        assert provider.tool is not None, "serve_gates asks for it"
        self.node, self.gate, self.tool = node, gate, provider.tool
        self.type = interface(self.tool.type)
        self.log = node.get_logger().get_child(gate.id)
        self._sources = native.sources(gate, self.tool, node.catalog.capability(self.tool.provides))
        timeout = gate.evidence_timeout
        self._timeout = node.evidence_timeout if timeout is None else timeout

    def _try_replies(self, blank: Callable[[], Any]) -> None:
        """Find out now whether the answers can be written, and not when one is due.

        Raises:
            StartFault: a field of the answer does not take what the gate is to write into it.
        """
        try:
            for verified in (True, False):
                self.reply(blank, None, verified=verified, why="tried at the start")
        except FieldError as error:
            raise StartFault(f"gate {self.gate.id}: reply: {error}") from error

    # -- what a goal means -----------------------------------------------------------------------------

    def blank(self) -> Any:
        """An empty native goal."""
        raise NotImplementedError

    def arguments(self, goal: Any) -> dict[str, Value]:
        """The arguments that a native goal means.

        Raises:
            FieldError: it has none, or says what they cannot carry.
        """
        found = native.read_arguments(goal, self._sources)
        if self.gate.forward == "as_sent":
            field = native.contradicted(goal, self.tool, self.gate.ignored)
            if field:
                raise FieldError(f"{field} is not what the provider's contract fixes")
            return found
        given = self.node.catalog.capability(self.tool.provides).parameters
        defaults = {name: p.default for name, p in given.items() if p.default is not None}
        field = native.excess(
            goal, native.rebuild(self.blank(), self.tool, defaults | found), self.gate.ignored
        )
        if field:
            raise FieldError(f"{field} says what no argument carries")
        return found

    async def admit(self, goal: Any) -> Admission:
        """Ask the authority for a native goal, in the standing task."""
        try:
            arguments = json.dumps(self.arguments(goal))
        except FieldError as error:
            said = refusal("Dispatch", self.gate.id, "X5.bad_request", str(error), self.node.waits.now)
            return self._told(said), None
        asked = Asked(
            task=self.gate.task,
            author=self.node.get_fully_qualified_name(),
            capability=self.tool.provides,
            provider=self.gate.provider,
            arguments=arguments,
            goal=uuid.uuid4().hex[:16],
        )
        ask = partial(self.node.port.admit_goal, asked)
        said, order = await self.node.errands.admit(self.gate.provider, self.gate.id, ask)
        return (said if order is not None else self._told(said)), order

    def redundant(self, said: Ruling) -> bool:
        """Whether a refused goal counts as done: its effect is proven to hold, and the gate says so."""
        return self.gate.redundant == "succeed" and not REDUNDANT.isdisjoint(said.reasons)

    def _told(self, said: Ruling) -> Ruling:
        where = f"decision {said.id}" if said.id else "no decision"
        what = "nothing to do" if self.redundant(said) else "refused"
        self.log.warning(f"{self.gate.name}: {what}, {where} ({', '.join(said.reasons)}): {said.sentence}")
        return said

    async def see_through(self, run: Run, goal: Any) -> None:
        """Carry out an admitted goal until it is verified or time is up."""
        sent = goal if self.gate.forward == "as_sent" else None
        await self.node.errands.see_through(run, self._timeout, sent)
        if run.outcome is not Outcome.VERIFIED:
            said = run.ruling
            self.log.warning(
                f"{self.gate.name}: {run.order.id} ended {run.outcome.value}, {self.gate.provider} answered "
                f"{run.interaction.value}, decision {said.id}: {said.sentence}"
            )

    # -- replies ---------------------------------------------------------------------------------------

    def reply(self, blank: Callable[[], Any], response: Any, *, verified: bool, why: str) -> Any:
        """What the device said, or an empty message, with what the gate writes on top."""
        message = blank() if response is None else response
        reply = self.gate.reply
        values: dict[str, Value] = dict(reply.verified if verified else reply.refused)
        if self.tool.kind == "service" and not reply.refused:
            values.setdefault("success", verified)
        text = reply.text or ("message" if "success" in values and hasattr(message, "message") else "")
        if text and not verified:
            own = get_field(message, text)
            values[text] = f"{why} ({own})" if own else why
        for path, value in values.items():
            set_field(message, path, value)
        return message
