"""The ROS side of ``adf-ea watch``: listens to an authority's topics, draws with ``cli.watch_view``."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from typing import Any

import rclpy
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from rich.console import Console
from rich.live import Live

from adf_ea_ros.cli.decision_log import DecisionLog
from adf_ea_ros.cli.watch_view import Board, DecisionView, EpisodeView, decision_row
from adf_ea_ros.msg import Decision, Episode
from adf_ea_ros.nodes.support import guard, latched

_KEPT = 200  # decisions and episodes that are remembered
_WAIT = 5.0  # seconds after which silence is worth a word


class Listener:
    """Collects what an authority publishes; ``spin`` does the work of up to ``seconds``."""

    def __init__(
        self, authority: str, *, episode: str = "", on_decision: Callable[[DecisionView], None] | None = None
    ) -> None:
        """``on_decision`` is called once for each decision, in order; ``episode`` leaves out all others."""
        self.decisions = DecisionLog(_KEPT)
        self.episodes: dict[str, EpisodeView] = {}
        self._only, self._told = episode, on_decision
        self._context = Context()
        rclpy.init(context=self._context, signal_handler_options=SignalHandlerOptions.NO, args=[])
        self.node = Node("watch", context=self._context, use_global_arguments=False)
        self.domain = self._context.get_domain_id()
        name = authority.rstrip("/")
        decided = guard(self.node, "decision", self._on_decision)
        changed = guard(self.node, "episode", self._on_episode)
        self.node.create_subscription(Decision, f"{name}/decisions", decided, latched(_KEPT))
        self.node.create_subscription(Episode, f"{name}/episodes", changed, latched(_KEPT))
        self._topic = f"{name}/decisions"
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self.node)

    @property
    def authorities(self) -> int:
        """How many authorities publish there now."""
        return int(self.node.count_publishers(self._topic))

    def spin(self, seconds: float) -> None:
        """Take in what comes within so many seconds."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self._executor.spin_once(timeout_sec=left)

    def close(self) -> None:
        """Take the node off the graph."""
        self._executor.shutdown(timeout_sec=1.0)
        self.node.destroy_node()
        self._context.try_shutdown()

    def _on_decision(self, message: Any) -> None:
        decision = DecisionView.of(message)
        if self._only and decision.episode != self._only:
            return
        if self.decisions.add(decision) and self._told is not None:
            self._told(decision)

    def _on_episode(self, message: Any) -> None:
        if self._only and message.id != self._only:
            return
        self.episodes.pop(message.id, None)
        self.episodes[message.id] = EpisodeView.of(message)
        if len(self.episodes) > _KEPT:
            self.episodes.pop(next(iter(self.episodes)))


def run(
    *,
    authority: str = "/authority",
    episode: str = "",
    plain: bool = False,
    routine: bool = False,
    seconds: float = 0.0,
    console: Console | None = None,
) -> int:
    """Watch until SIGINT or SIGTERM, or for so many seconds; gives the exit code."""
    console = console or Console(highlight=False)
    numbers = (signal.SIGINT, signal.SIGTERM)
    previous = [signal.signal(number, signal.default_int_handler) for number in numbers]
    end = time.monotonic() + seconds if seconds > 0 else float("inf")
    live = not plain and console.is_terminal

    def tell(decision: DecisionView) -> None:
        if not live and (routine or not decision.routine):
            console.print(decision_row(decision))

    listener = None
    try:
        listener = Listener(authority, episode=episode, on_decision=tell)
        if live:
            _live(listener, console, authority, routine, end)
        else:
            _plain(listener, console, authority, end)
    except KeyboardInterrupt:
        pass
    finally:
        if listener is not None:
            listener.close()
        for number, handler in zip(numbers, previous, strict=True):
            signal.signal(number, handler)
    return 0


def _note(listener: Listener, authority: str, since: float) -> str:
    if listener.authorities:
        return f"{authority} in ROS domain {listener.domain}: Ctrl-C ends"
    if time.monotonic() - since < _WAIT:
        return f"looking for {authority} in ROS domain {listener.domain}"
    return f"no authority at {authority} in ROS domain {listener.domain}: is it running? waiting for it"


def _live(listener: Listener, console: Console, authority: str, routine: bool, end: float) -> None:
    since = time.monotonic()
    # Without a scrollback of its own the view would overwrite what the terminal showed before.
    with Live(console=console, screen=True, auto_refresh=False) as live:
        while time.monotonic() < end:
            listener.spin(0.12)
            shown = [d for d in listener.decisions if routine or not d.routine]
            board = Board(tuple(listener.episodes.values()), shown, _note(listener, authority, since))
            live.update(board, refresh=True)


def _plain(listener: Listener, console: Console, authority: str, end: float) -> None:
    since = time.monotonic()
    said = ""
    while time.monotonic() < end:
        listener.spin(0.2)
        note = _note(listener, authority, since)
        if note != said:
            console.print(note, style="dim")
            said = note
