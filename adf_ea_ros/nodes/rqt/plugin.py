"""What rqt loads: it listens to an authority on rqt's node, and tells the widget in the widget's thread."""

from __future__ import annotations

import argparse
from typing import Any

from python_qt_binding.QtCore import QObject, Qt, Signal
from rqt_gui_py.plugin import Plugin

from adf_ea_ros.cli.watch_view import DecisionView
from adf_ea_ros.msg import Decision, Episode
from adf_ea_ros.nodes.names import AUTHORITY
from adf_ea_ros.nodes.rqt.model import Case
from adf_ea_ros.nodes.rqt.widget import DecisionsWidget
from adf_ea_ros.nodes.support import guard, latched

_DEPTH = 200  # decisions and episodes that came before the plugin


class Feed(QObject):
    """The subscriptions. Messages come in a thread of the node, signals carry them to the widget's."""

    decided = Signal(object)
    changed = Signal(object)

    def __init__(self, node: Any) -> None:
        """``node`` is spun by somebody else."""
        super().__init__()
        self._node = node
        self._subscriptions: list[Any] = []

    def listen(self, authority: str) -> None:
        """Turn to this authority."""
        self.close()

        def decided(message: Any) -> None:
            self.decided.emit(DecisionView.of(message))

        def changed(message: Any) -> None:
            self.changed.emit(Case.of(message))

        for kind, name, take in ((Decision, "decisions", decided), (Episode, "episodes", changed)):
            taken = guard(self._node, name, take)
            self._subscriptions.append(
                self._node.create_subscription(kind, f"{authority}/{name}", taken, latched(_DEPTH))
            )

    def close(self) -> None:
        """Listen no more."""
        while self._subscriptions:
            self._node.destroy_subscription(self._subscriptions.pop())


class DecisionsPlugin(Plugin):
    """Decisions, episodes and obligations of one authority."""

    def __init__(self, context: Any) -> None:
        """Called by rqt."""
        super().__init__(context)
        self.setObjectName("DecisionsPlugin")
        self.widget = DecisionsWidget()
        if context.serial_number() > 1:
            self.widget.setWindowTitle(f"{self.widget.windowTitle()} ({context.serial_number()})")
        self.feed = Feed(context.node)
        self.feed.decided.connect(self.widget.decided, Qt.QueuedConnection)
        self.feed.changed.connect(self.widget.changed, Qt.QueuedConnection)
        self.widget.listen_to.connect(self.feed.listen)
        context.add_widget(self.widget)
        parser = argparse.ArgumentParser(prog="rqt adf_ea_ros", add_help=False)
        self.add_arguments(parser)
        self._given = parser.parse_known_args(context.argv())[0].authority
        self.widget.listen(self._given or AUTHORITY)

    @staticmethod
    def add_arguments(parser: Any) -> None:
        """What may be said on the command line, for ``rqt --help``."""
        group = parser.add_argument_group("Options for the assured actions plugin")
        group.add_argument(
            "--authority", default="", help=f"name of the authority node (default: {AUTHORITY})"
        )

    def shutdown_plugin(self) -> None:
        """Called by rqt when the plugin is closed."""
        self.feed.close()

    def save_settings(self, _plugin_settings: Any, instance_settings: Any) -> None:
        """Called by rqt."""
        instance_settings.set_value("authority", self.widget.authority.text())
        instance_settings.set_value("outcome", self.widget.outcome.currentText())
        instance_settings.set_value("reason", self.widget.reason.text())

    def restore_settings(self, _plugin_settings: Any, instance_settings: Any) -> None:
        """Called by rqt. A name on the command line goes before the one of last time."""
        self.widget.listen(self._given or str(instance_settings.value("authority", AUTHORITY)))
        self.widget.outcome.setCurrentText(str(instance_settings.value("outcome", "")))
        self.widget.reason.setText(str(instance_settings.value("reason", "")))
