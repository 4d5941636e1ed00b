"""The view: a tree of episodes, a table of decisions, and the detail of the one that is chosen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ament_index_python.packages import get_package_share_directory
from python_qt_binding import loadUi
from python_qt_binding.QtCore import Signal, Slot
from python_qt_binding.QtWidgets import QHeaderView, QWidget

from adf_ea_ros.cli.decision_log import DecisionLog, Filter
from adf_ea_ros.cli.watch_view import DecisionView
from adf_ea_ros.nodes.names import AUTHORITY
from adf_ea_ros.nodes.rqt import model
from adf_ea_ros.nodes.rqt.table import DecisionTable, fill

ALL = "all episodes"
OUTCOMES: dict[str, bool | None] = {"every decision": None, "granted": True, "not granted": False}
_WIDTHS = {0: 11, 1: 14, 2: 24, 3: 24, 5: 8}
"""Of the columns, in characters; the words take what is left."""

_SLACK = 200  # rows that may be shown beyond what the log keeps


def ui_file() -> Path:
    """Where the layout is: in the source tree, else where the package is installed."""
    source = Path(__file__).resolve().parents[3] / "resource" / "decisions.ui"
    share = Path(get_package_share_directory("adf_ea_ros")) / "resource" / "decisions.ui"
    return source if source.is_file() else share


class DecisionsWidget(QWidget):
    """Shows what it is told by ``decided`` and ``changed``, in the thread of the user interface.

    ``listen_to`` is emitted with the full name of the authority that the user wants to see.
    """

    listen_to = Signal(str)

    def __init__(self, parent: Any = None) -> None:
        """Empty at first; ``listen_to`` comes with the first choice of an authority."""
        super().__init__(parent)
        loadUi(str(ui_file()), self)
        self.setObjectName("Decisions")
        self.log = DecisionLog()
        self.cases = model.Cases()
        self.rows = DecisionTable(self)
        self.table.setModel(self.rows)
        self.table.verticalHeader().hide()
        character = self.fontMetrics().averageCharWidth()
        for column, width in _WIDTHS.items():
            self.table.setColumnWidth(column, width * character)
        self.table.horizontalHeader().setSectionResizeMode(4, QHeaderView.Stretch)
        self.table.verticalHeader().setDefaultSectionSize(round(1.4 * self.fontMetrics().height()))
        self.tree.setColumnWidth(0, 32 * character)
        self.sides.setSizes([380, 720])
        self.right.setSizes([420, 230])
        self.authority.setText(AUTHORITY)
        self.outcome.addItems(list(OUTCOMES))
        self.episode.addItem(ALL)
        self.authority.editingFinished.connect(self._choose)
        self.episode.currentIndexChanged.connect(self._refilter)
        self.outcome.currentIndexChanged.connect(self._refilter)
        self.reason.textChanged.connect(self._refilter)
        self.routine.toggled.connect(self._refilter)
        self.clear.clicked.connect(self.empty)
        self.table.selectionModel().currentRowChanged.connect(self._show_detail)
        self._heard = ""
        self._tell()

    # -- what is told ----------------------------------------------------------------------------------

    @Slot(object)
    def decided(self, decision: DecisionView) -> None:
        """A decision fell."""
        if not self.log.add(decision):
            return
        if self.chosen.admits(decision):
            bar = self.table.verticalScrollBar()
            follows = bar.value() >= bar.maximum()  # who has scrolled back is reading
            self.rows.append(decision)
            if follows:
                self.table.scrollToBottom()
            if self.rows.rowCount() > len(self.log) + _SLACK:
                self._refilter()  # what the log has forgotten goes
        self._tell()

    @Slot(object)
    def changed(self, case: model.Case) -> None:
        """An episode stands otherwise."""
        if self.cases.add(case):
            self._list_episodes()
        fill(self.tree, model.tree(self.cases.listed))
        self._show_detail()
        self._tell()

    # -- what the user wants ---------------------------------------------------------------------------

    @property
    def chosen(self) -> Filter:
        """What the fields above the table say."""
        episode = self.episode.currentText()
        return Filter(
            episode="" if episode in ("", ALL) else episode,
            authorized=OUTCOMES[self.outcome.currentText()],
            reason=self.reason.text().strip(),
            routine=self.routine.isChecked(),
        )

    def listen(self, authority: str) -> None:
        """Turn to this authority, as if the user had typed it."""
        self.authority.setText(authority)
        self._choose()

    @Slot()
    def empty(self) -> None:
        """Forget what was shown."""
        self.log.clear()
        self.cases.clear()
        self.rows.show([])
        self._list_episodes()
        self.tree.clear()
        self.detail.clear()
        self._tell()

    def _choose(self) -> None:
        name = "/" + self.authority.text().strip().strip("/")
        self.authority.setText(name)
        if name not in ("/", self._heard):
            self._heard = name
            self.empty()
            self.listen_to.emit(name)

    def _list_episodes(self) -> None:
        chosen = self.episode.currentText()
        names = [ALL, *self.cases.names]
        self.episode.blockSignals(True)
        self.episode.clear()
        self.episode.addItems(names)
        self.episode.setCurrentIndex(names.index(chosen) if chosen in names else 0)
        self.episode.blockSignals(False)
        if chosen not in names:
            self._refilter()

    def _refilter(self, *_: object) -> None:
        current = self._current()
        self.rows.show(self.log.shown(self.chosen))
        if current is not None and current in self.rows.decisions:
            self.table.selectRow(self.rows.decisions.index(current))
        else:
            self.table.scrollToBottom()
            self._show_detail()
        self._tell()

    def _current(self) -> DecisionView | None:
        index = self.table.currentIndex()
        return self.rows.decisions[index.row()] if index.isValid() else None

    def _show_detail(self, *_: object) -> None:
        decision = self._current()
        text = "" if decision is None else model.detail(decision, self.cases.get(decision.episode))
        if text != self.detail.toPlainText():
            self.detail.setPlainText(text)

    def _tell(self) -> None:
        shown, all_of_them = self.rows.rowCount(), len(self.log)
        waiting = "" if all_of_them else f"; nothing heard yet from {self._heard or 'any authority'}"
        self.status.setText(f"{shown} of {all_of_them} decisions, {len(self.cases.names)} episodes{waiting}")
