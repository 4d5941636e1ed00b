"""The rest of the ledger, looked through while the authority is at work."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from adf_ea_ros.ledger.inspector import Inspector
from adf_ea_ros.ledger.record import SYSTEM
from adf_ea_ros.ledger.sql import SqlLedger
from adf_ea_ros.ledger.store import AUDIT

if TYPE_CHECKING:
    from adf_ea_ros.nodes.authority import AuthorityNode


class Audit:
    """Of one authority: begun with each start that has left records unseen, ended with its result."""

    def __init__(self, node: AuthorityNode) -> None:
        """Nothing is under way."""
        self._node = node
        self._inspector: Inspector | None = None
        node.waits.every(1.0, "audit of the ledger", self.check)

    def begin(self, where: str, ledger: SqlLedger, mark: Path | None) -> None:
        """Look through the ledger, where a start did not do so."""
        started = ledger.head(SYSTEM)  # the record of this start
        if started is not None and started.position > AUDIT:
            self._inspector = Inspector(where, mark, self._node.get_fully_qualified_name())

    def check(self) -> None:
        """Take the result, if it is there: a damaged ledger takes nothing more, so nothing is granted."""
        inspector, ledger = self._inspector, self._node.ledger
        if inspector is None or ledger is None:
            return
        result = inspector.poll()
        if inspector.running:
            return
        self._inspector = None
        if result is None:
            self._node.get_logger().warning(f"the ledger could not be looked through: {inspector.fault}")
        elif result.ok:
            self._node.get_logger().info(f"the ledger is whole: {result.records} records")
        else:
            ledger.condemn(result)
            self._node.ledger_fault = str(result.findings[0])
            self._node.get_logger().error(
                f"the ledger is damaged, and nothing more is granted: {result.findings[0]}; "
                "`adf-ea ledger verify` lists everything"
            )

    def close(self) -> None:
        """The ledger is given up."""
        if self._inspector is not None:
            self._inspector.close()
            self._inspector = None
