"""Drop-in gates: the hardware's own action, service or command topic under another name, for clients that
know nothing of all this. They get a success only for a verified effect.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rclpy.qos import QoSProfile

from adf_ea_ros.contracts.against_interfaces import check_interfaces
from adf_ea_ros.contracts.catalog import Catalog, check_catalog
from adf_ea_ros.contracts.faults import ContractError
from adf_ea_ros.contracts.loader import read_files
from adf_ea_ros.contracts.model import Gate, ProviderContract
from adf_ea_ros.nodes.door import Door
from adf_ea_ros.nodes.gated_action import ActionDoor
from adf_ea_ros.nodes.run import Outcome
from adf_ea_ros.nodes.support import StartFault, guard

if TYPE_CHECKING:
    from adf_ea_ros.nodes.capability import CapabilityNode

_PENDING = QoSProfile(depth=1000)
"""Requests and commands that may wait to be taken; more are lost in the middleware, without a word."""


def serve_gates(node: CapabilityNode, contracts: list[str], files: list[str]) -> list[Door]:
    """The gates in these files of the providers that a node wraps, open for goals.

    Raises:
        StartFault: with every fault of every file; or an interface is not installed.
    """
    kinds: dict[str, Callable[..., Door]] = {"action": ActionDoor, "service": ServiceDoor, "topic": TopicDoor}
    doors = []
    for gate in _load(contracts, files) if files else ():
        provider = node.providers.get(gate.provider)
        if provider is not None and provider.tool is not None:
            doors.append(kinds[provider.tool.kind](node, gate, provider))
    return doors


def _load(contracts: list[str], files: list[str]) -> Iterable[Gate]:
    loaded = read_files([Path(path).expanduser() for path in [*contracts, *files]])
    faults = check_catalog(loaded)
    if not faults:
        own = {document.file for document in loaded.documents if isinstance(document.contract, Gate)}
        faults = [fault for fault in check_interfaces(loaded.documents)[0] if fault.file in own]
    if faults:
        raise StartFault(str(ContractError(faults)))
    return Catalog(loaded.contracts).gates()


class ServiceDoor(Door):
    """A gated service: the reply is held until the effect is verified, or time is up."""

    def __init__(self, node: CapabilityNode, gate: Gate, provider: ProviderContract) -> None:
        """Open for requests. Raises StartFault as ``Door``."""
        super().__init__(node, gate, provider)
        self._try_replies(self.type.Response)
        self._server = node.create_service(
            self.type,
            gate.name,
            guard(node, f"request on {gate.name}", self._serve, self._broken),
            qos_profile=_PENDING,
            callback_group=node.group,
        )

    def blank(self) -> Any:
        """See ``Door``."""
        return self.type.Request()

    async def _serve(self, request: Any, _response: Any) -> Any:
        if self.node.errands.full():
            return self._answer(None, verified=False, why="too many goals are in progress")
        said, order = await self.admit(request)
        if order is None:
            return self._answer(None, verified=self.redundant(said), why=said.sentence)
        run = self.node.errands.begin(order, said)
        await self.see_through(run, request)
        verified = run.outcome is Outcome.VERIFIED
        return self._answer(run.response, verified=verified, why=f"not verified: {run.ruling.sentence}")

    def _answer(self, response: Any, *, verified: bool, why: str) -> Any:
        return self.reply(self.type.Response, response, verified=verified, why=why)

    def _broken(self, _request: Any, _response: Any) -> Any:
        return self._answer(None, verified=False, why="the gate failed on this request; its log says why")


class TopicDoor(Door):
    """A gated command topic: what is not admitted goes nowhere."""

    def __init__(self, node: CapabilityNode, gate: Gate, provider: ProviderContract) -> None:
        """Open for commands. Raises StartFault as ``Door``."""
        super().__init__(node, gate, provider)
        self._subscription = node.create_subscription(
            self.type,
            gate.name,
            guard(node, f"command on {gate.name}", self._take),
            _PENDING,
            callback_group=node.group,
        )

    def blank(self) -> Any:
        """See ``Door``."""
        return self.type()

    async def _take(self, message: Any) -> None:
        if self.node.errands.full():
            return
        said, order = await self.admit(message)
        if order is not None:
            await self.see_through(self.node.errands.begin(order, said), message)
