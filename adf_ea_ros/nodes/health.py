"""Health of the authority on /diagnostics: ledger, outcomes that are owed, budgets, each readback, each
provider. What counts as healthy is said in ``runtime.health``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.qos import QoSCompatibility, QoSProfile, qos_check_compatible

from adf_ea_ros.nodes.readbacks import Readback
from adf_ea_ros.nodes.support import SPOKEN
from adf_ea_ros.runtime import health
from adf_ea_ros.runtime.surface import DIAGNOSTICS

if TYPE_CHECKING:
    from adf_ea_ros.nodes.authority import AuthorityNode


class Health:
    """Publishes once a second."""

    def __init__(self, node: AuthorityNode) -> None:
        """Offer the topic."""
        self._node = node
        self._lifetimes = health.lifetimes(node.catalog)
        self._publisher = node.create_publisher(
            DiagnosticArray, DIAGNOSTICS, QoSProfile(depth=10), event_callbacks=SPOKEN
        )

    def publish(self) -> None:
        """One array with the state of everything."""
        array = DiagnosticArray()
        array.header.stamp = self._node.get_clock().now().to_msg()
        array.status = [self._status(line) for line in self._lines()]
        self._publisher.publish(array)

    def _status(self, line: health.Line) -> Any:
        name = self._node.get_fully_qualified_name()
        return DiagnosticStatus(
            name=f"{name}: {line.name}",
            hardware_id=name,
            level=bytes([line.level]),
            message=line.message,
            values=[KeyValue(key=key, value=str(value)) for key, value in line.values.items()],
        )

    def _lines(self) -> Iterator[health.Line]:
        node, now = self._node, self._node.desk.now
        waits = "" if now > 0 else "its clock has not started"
        intake = node.front.intake
        yield health.authority_line(
            node.desk.closed or waits, node.desk.generation, waiting=intake.open, refused=intake.refused
        )
        yield self._ledger()
        if node.service is not None:
            yield from health.lease_lines(node.service.book)
            yield from health.episode_lines(node.service.book, now)
        for readback in node.readbacks:
            yield health.readback_line(self._readback(readback), self._lifetimes.get(readback.name), now)
        for provider in node.catalog.providers():
            if provider.tool is not None:
                said = node.overruled.get(provider.id)
                reason = said if said is not None else node.presence.reason(provider.id)
                yield health.provider_line(provider.id, provider.tool.name, reason)

    def _ledger(self) -> health.Line:
        node, book = self._node, self._node.service.book if self._node.service is not None else None
        fault = node.ledger_fault or (book.fault if book is not None else "")
        if node.ledger is not None and not fault:
            fault = node.ledger.mark.fault
        return health.ledger_line(
            node.ledger_name,
            fault,
            opened=node.ledger is not None,
            remedies=book.remedies if book is not None else (),
        )

    def _readback(self, readback: Readback) -> health.Readback:
        return health.Readback(
            name=readback.name,
            received=readback.received,
            last=readback.last,
            foreign=readback.identity.foreign,
            mismatch=self._mismatch(readback),
            refused=readback.refused,
        )

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
