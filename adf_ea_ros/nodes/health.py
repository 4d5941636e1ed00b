"""Health of the authority on /diagnostics: ledger, outcomes that are owed, budgets, each readback, each
provider.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.qos import QoSCompatibility, QoSProfile, qos_check_compatible

from adf_ea_ros.nodes.readbacks import Readback

if TYPE_CHECKING:
    from adf_ea_ros.nodes.authority import AuthorityNode

OK, WARN, ERROR, STALE = (
    DiagnosticStatus.OK,
    DiagnosticStatus.WARN,
    DiagnosticStatus.ERROR,
    DiagnosticStatus.STALE,
)
SILENT = 20_000_000_000
"""A readback without a new sample for this long (ns of ROS time) is called stale."""


class Health:
    """Publishes once a second."""

    def __init__(self, node: AuthorityNode) -> None:
        """Offer the topic."""
        self._node = node
        self._publisher = node.create_publisher(DiagnosticArray, "/diagnostics", QoSProfile(depth=10))

    def publish(self) -> None:
        """One array with the state of everything."""
        node = self._node
        array = DiagnosticArray()
        array.header.stamp = node.get_clock().now().to_msg()
        array.status = [self._authority(), self._ledger(), *self._episodes()]
        array.status += [self._readback(readback) for readback in node.readbacks]
        array.status += self._providers()
        self._publisher.publish(array)

    def _status(self, name: str, level: bytes, message: str, **values: object) -> Any:
        return DiagnosticStatus(
            name=f"{self._node.get_fully_qualified_name()}: {name}",
            hardware_id=self._node.get_fully_qualified_name(),
            level=level,
            message=message,
            values=[KeyValue(key=key, value=str(value)) for key, value in values.items()],
        )

    def _authority(self) -> Any:
        desk = self._node.desk
        waits = "" if desk.now > 0 else "its clock has not started"
        closed = desk.closed or waits
        return self._status(
            "authority", WARN if closed else OK, closed or "active", generation=desk.generation
        )

    def _ledger(self) -> Any:
        node = self._node
        fault = node.ledger_fault or (node.ledger.mark.fault if node.ledger is not None else "")
        return self._status("ledger", ERROR if fault else OK, fault or "writable", ledger=node.ledger_name)

    def _episodes(self) -> list[Any]:
        service = self._node.service
        found = []
        for name, state in (service.book.active() if service is not None else {}).items():
            unresolved = ", ".join(state.execution)
            spent = state.physical < 1 or state.observation < 1
            message = (
                f"outcome owed: {unresolved}" if unresolved else "a budget is spent" if spent else "under way"
            )
            found.append(
                self._status(
                    f"episode {name}",
                    WARN if unresolved or spent else OK,
                    f"halted by {state.halted}" if state.halted else message,
                    unresolved=len(state.execution),
                    lost_states=len(state.owed),
                    physical=state.physical,
                    observation=state.observation,
                )
            )
        return found

    def _readback(self, readback: Readback) -> Any:
        age = self._node.desk.now - readback.last if readback.last >= 0 else -1
        counts = {code.removeprefix("E."): count for code, count in readback.refused.items()}
        level, message = OK, "fresh"
        if readback.last < 0:
            level, message = WARN, "no usable sample yet"
        elif age > SILENT:
            level, message = STALE, f"no new sample for {age / 1e9:.0f} s"
        if readback.identity.foreign:
            level, message = WARN, f"{readback.identity.foreign} messages from others than the declared node"
        mismatch = self._mismatch(readback)
        if mismatch:
            level, message = ERROR, mismatch
        return self._status(
            f"readback {readback.name}", level, message, received=readback.received, age_ns=age,
            foreign=readback.identity.foreign, **counts,
        )  # fmt: skip

    def _mismatch(self, readback: Readback) -> str:
        """Why messages can never arrive, as far as the offered quality of service says."""
        wanted = readback.qos
        for info in self._node.get_publishers_info_by_topic(readback.route.topic):
            if info.topic_type != readback.route.type:
                route = readback.route
                return f"{route.topic} is published as {info.topic_type}, bound as {route.type}"
            compatibility, reason = qos_check_compatible(info.qos_profile, wanted)
            if compatibility == QoSCompatibility.ERROR:
                return f"{readback.route.topic} can never arrive: {reason.strip()}"
        return ""

    def _providers(self) -> list[Any]:
        found = []
        for provider in self._node.catalog.providers():
            if provider.tool is None:
                continue
            operator = self._node.overruled.get(provider.id)
            reason = operator if operator is not None else self._node.presence.reason(provider.id)
            level = OK if reason == "" else WARN
            message = "not seen yet" if reason is None else reason or "available"
            found.append(self._status(f"provider {provider.id}", level, message, tool=provider.tool.name))
        return found
