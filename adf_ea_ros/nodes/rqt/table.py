"""Rows of decisions, and branches of episodes, as Qt shows them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from python_qt_binding.QtCore import QAbstractTableModel, QModelIndex, Qt
from python_qt_binding.QtGui import QBrush, QColor
from python_qt_binding.QtWidgets import QTreeWidget, QTreeWidgetItem

from adf_ea_ros.cli.watch_view import DecisionView
from adf_ea_ros.nodes.rqt import model

COLORS = {model.GOOD: "#2e8b57", model.OPEN: "#c77c02", model.BAD: "#d9534f"}
"""Readable on light and on dark."""


class DecisionTable(QAbstractTableModel):
    """The decisions that are shown, oldest first."""

    def __init__(self, parent: Any = None) -> None:
        """Empty at first."""
        super().__init__(parent)
        self.decisions: list[DecisionView] = []

    def show(self, decisions: Sequence[DecisionView]) -> None:
        """Show these instead."""
        self.beginResetModel()
        self.decisions = list(decisions)
        self.endResetModel()

    def append(self, decision: DecisionView) -> None:
        """One more."""
        row = len(self.decisions)
        self.beginInsertRows(QModelIndex(), row, row)
        self.decisions.append(decision)
        self.endInsertRows()

    def rowCount(self, parent: Any = None) -> int:  # noqa: N802, ARG002 - Qt's names
        """See Qt."""
        return len(self.decisions)

    def columnCount(self, parent: Any = None) -> int:  # noqa: N802, ARG002
        """See Qt."""
        return len(model.COLUMNS)

    def headerData(self, section: int, orientation: Any, role: Any = Qt.DisplayRole) -> Any:  # noqa: N802
        """See Qt."""
        if orientation != Qt.Horizontal:
            return None
        if role == Qt.ToolTipRole and section == len(model.COLUMNS) - 1:
            return model.LEFT
        return model.COLUMNS[section] if role == Qt.DisplayRole else None

    def data(self, index: Any, role: Any = Qt.DisplayRole) -> Any:
        """See Qt."""
        decision = self.decisions[index.row()]
        if role in (Qt.DisplayRole, Qt.ToolTipRole):
            return model.cells(decision)[index.column()]
        if role == Qt.ForegroundRole and index.column() == 1:
            return brush(model.standing(decision))
        return None


def brush(standing: str) -> Any:
    """The colour for how something stands; none where there is nothing to say."""
    return QBrush(QColor(COLORS[standing])) if standing in COLORS else None


def fill(widget: QTreeWidget, branches: Sequence[model.Branch]) -> None:
    """Show these branches; what was open or closed stays so, and the view where it was."""
    place = widget.verticalScrollBar().value()
    closed = {path for path, item in _items(widget.invisibleRootItem()) if not item.isExpanded()}
    known = {path for path, _ in _items(widget.invisibleRootItem())}
    widget.clear()
    for branch in branches:
        widget.addTopLevelItem(_item(branch))
    for path, item in _items(widget.invisibleRootItem()):
        # At first only the facts are closed: there can be many.
        item.setExpanded(
            path not in closed if path in known else not path[-1].startswith(("Facts", "Proofs"))
        )
    widget.verticalScrollBar().setValue(place)


def _item(branch: model.Branch) -> Any:
    item = QTreeWidgetItem([branch.text, branch.note])
    item.setToolTip(0, branch.text)
    item.setToolTip(1, branch.note)
    colour = brush(branch.standing)
    if colour is not None:
        item.setForeground(1, colour)
    for below in branch.below:
        item.addChild(_item(below))
    return item


def _items(item: Any, path: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], Any]]:
    """Every item that has others below it, with its place; numbers in titles do not tell places apart."""
    found = []
    for number in range(item.childCount()):
        child = item.child(number)
        if child.childCount():
            place = (*path, child.text(0).partition(" (")[0])
            found += [(place, child), *_items(child, place)]
    return found
