"""The rqt widget and plugin, drawn off screen where Qt and rqt import."""

from __future__ import annotations

import os

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
pytest.importorskip("rclpy", reason="the widget finds its layout as ROS does")
pytest.importorskip(
    "python_qt_binding",
    reason="python_qt_binding does not import: it comes with a ROS distribution",
    exc_type=ImportError,
)

from python_qt_binding.QtCore import QObject, Qt
from python_qt_binding.QtWidgets import QApplication
from words import decision, episode

from adf_ea_ros.cli.decision_log import DecisionLog
from adf_ea_ros.nodes.rqt.model import COLUMNS, Case
from adf_ea_ros.nodes.rqt.widget import ALL, DecisionsWidget


@pytest.fixture(scope="module")
def application():
    return QApplication.instance() or QApplication([])


@pytest.fixture
def widget(application):
    made = DecisionsWidget()
    made.show()
    application.processEvents()
    yield made
    made.close()
    made.deleteLater()


def shown(widget):
    rows, model = range(widget.rows.rowCount()), widget.rows
    return [tuple(model.data(model.index(row, column)) for column in range(len(COLUMNS))) for row in rows]


def test_decisions_are_rows_and_come_once(widget):
    widget.decided(decision(1))
    widget.decided(decision(1))
    widget.decided(decision(2, authorized=True))
    assert [row[1] for row in shown(widget)] == ["REFUSED", "GRANTED"]
    assert widget.status.text() == "2 of 2 decisions, 0 episodes"
    assert widget.rows.headerData(0, Qt.Horizontal) == "Time"
    colours = {
        widget.rows.data(widget.rows.index(row, 1), Qt.ForegroundRole).color().name() for row in (0, 1)
    }
    assert len(colours) == 2


def test_the_fields_above_filter_the_table(widget):
    widget.changed(Case.of(episode("job")))
    widget.changed(Case.of(episode("other")))
    widget.decided(decision(1))
    widget.decided(decision(2, authorized=True, reasons=("R2.first",), episode="other"))
    widget.decided(decision(3, request="Refresh"))
    assert [widget.episode.itemText(n) for n in range(widget.episode.count())] == [ALL, "job", "other"]
    assert len(shown(widget)) == 2
    widget.episode.setCurrentText("other")
    assert [row[3] for row in shown(widget)] == ["R2.first"]
    widget.changed(Case.of(episode("third")))  # a new episode in the list takes nothing away from the choice
    assert widget.episode.currentText() == "other"
    widget.episode.setCurrentIndex(0)
    widget.outcome.setCurrentText("not granted")
    assert [row[1] for row in shown(widget)] == ["REFUSED"]
    widget.decided(decision(4, authorized=True))
    assert len(shown(widget)) == 1
    widget.outcome.setCurrentIndex(0)
    widget.routine.setChecked(True)
    assert len(shown(widget)) == 4
    widget.reason.setText("r2")
    assert len(shown(widget)) == 1


def test_a_chosen_row_is_told_in_full_and_kept_while_more_comes(widget):
    widget.decided(decision(1))
    widget.decided(decision(2, sentence="something else"))
    widget.table.selectRow(0)
    assert widget.detail.toPlainText().startswith("REFUSED: Dispatch heat #1\nattempt #1 is unresolved")
    assert "Owed" not in widget.detail.toPlainText()
    widget.changed(Case.of(episode()))
    assert "\nOwed\n  outcome: #1" in widget.detail.toPlainText()
    widget.decided(decision(3))
    widget.reason.setText("unresolved")
    assert widget.table.currentIndex().row() == 0
    assert "Accepted next" in widget.detail.toPlainText()
    widget.reason.setText("something")
    assert widget.detail.toPlainText() == ""


def test_what_is_forgotten_goes_from_the_table_too(widget):
    widget.log = DecisionLog(kept=10)
    for number in range(500):
        widget.decided(decision(number))
    assert widget.rows.rowCount() <= 10 + 200
    assert widget.rows.decisions[-1].id == "job:499"


def test_the_tree_keeps_what_was_closed(widget):
    widget.changed(Case.of(episode()))
    job = widget.tree.topLevelItem(0)
    groups = {job.child(n).text(0): job.child(n) for n in range(job.childCount())}
    assert groups["Steps (2)"].isExpanded()
    assert not groups["Facts (1)"].isExpanded()
    groups["Steps (2)"].setExpanded(False)
    groups["Facts (1)"].setExpanded(True)
    widget.changed(Case.of(episode(steps=episode().steps[:1])))
    job = widget.tree.topLevelItem(0)
    groups = {job.child(n).text(0): job.child(n) for n in range(job.childCount())}
    assert not groups["Steps (1)"].isExpanded()
    assert groups["Facts (1)"].isExpanded()


def test_another_authority_begins_anew(widget):
    heard = []
    widget.listen_to.connect(heard.append)
    widget.listen("/authority")
    widget.decided(decision(1))
    widget.listen("cell_1/authority/")
    widget.listen("/cell_1/authority")
    assert heard == ["/authority", "/cell_1/authority"]
    assert shown(widget) == []
    assert "nothing heard yet from /cell_1/authority" in widget.status.text()


class Settings(dict):
    def value(self, name, default=None):
        return self.get(name, default)

    def set_value(self, name, value):
        self[name] = value


class Context(QObject):
    """What rqt gives to a plugin."""

    def __init__(self, node, arguments):
        super().__init__()
        self.node, self.arguments, self.shown = node, arguments, []

    def argv(self):
        return self.arguments

    def serial_number(self):
        return 2

    def add_widget(self, widget):
        self.shown.append(widget)


@pytest.mark.ros
def test_the_plugin_listens_on_rqts_node_and_keeps_its_settings(application, watcher):
    pytest.importorskip("rqt_gui_py", reason="rqt_gui_py does not import", exc_type=ImportError)
    from adf_ea_ros.msg import Decision, Episode

    from adf_ea_ros.nodes.rqt.plugin import DecisionsPlugin
    from adf_ea_ros.nodes.support import latched

    context = Context(watcher.node, ["--authority", "/cell/authority"])
    publisher = watcher.node.create_publisher(Decision, "/cell/authority/decisions", latched(5))
    episodes = watcher.node.create_publisher(Episode, "/cell/authority/episodes", latched(5))
    publisher.publish(Decision(id="job:1", episode="job", request="Dispatch"))
    episodes.publish(Episode(id="job", phase="active"))
    plugin = DecisionsPlugin(context)
    try:
        assert context.shown == [plugin.widget]

        def arrived():
            application.processEvents()
            return len(plugin.widget.log) and plugin.widget.cases.names

        watcher.until(arrived, what="what was published before the plugin came")
        assert plugin.widget.windowTitle() == "Assured actions (2)"
        settings = Settings()
        plugin.widget.reason.setText("R6")
        plugin.save_settings(None, settings)
        plugin.widget.reason.clear()
        plugin.restore_settings(None, Settings(settings, authority="/elsewhere"))
        assert plugin.widget.reason.text() == "R6"
        assert plugin.widget.authority.text() == "/cell/authority"  # named on the command line
    finally:
        plugin.shutdown_plugin()
    watcher.until(lambda: not publisher.get_subscription_count(), what="the end of the subscription")
