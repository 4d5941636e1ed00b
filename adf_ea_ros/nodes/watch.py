"""The ROS side of ``adf-ea watch``: listens to an authority's topics, draws with ``cli.watch_view``."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from typing import Any

import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.signals import SignalHandlerOptions
from rich.console import Console
from rich.live import Live

from adf_ea_ros.cli.decision_log import DecisionLog, alike
from adf_ea_ros.cli.watch_board import Board, Trouble, trouble_row, troubles
from adf_ea_ros.cli.watch_view import DecisionView, EpisodeView, clock, decision_row
from adf_ea_ros.msg import Decision, Episode
from adf_ea_ros.nodes.support import guard, latched
from adf_ea_ros.runtime.surface import DECISIONS, DIAGNOSTICS, EPISODES

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
        self.unwell: tuple[Trouble, ...] = ()
        """What /diagnostics said last of the authority."""
        self.met = False
        """Whether it was ever seen."""
        self._only, self._told = episode, on_decision
        self._context = Context()
        rclpy.init(context=self._context, signal_handler_options=SignalHandlerOptions.NO, args=[])
        self.node = Node("watch", context=self._context, use_global_arguments=False)
        self.domain = self._context.get_domain_id()
        self._name = name = authority.rstrip("/")
        decided = guard(self.node, "decision", self._on_decision)
        changed = guard(self.node, "episode", self._on_episode)
        stands = guard(self.node, "diagnostics", self._on_diagnostics)
        self.node.create_subscription(Decision, f"{name}/{DECISIONS}", decided, latched(_KEPT))
        self.node.create_subscription(Episode, f"{name}/{EPISODES}", changed, latched(_KEPT))
        self.node.create_subscription(DiagnosticArray, DIAGNOSTICS, stands, QoSProfile(depth=10))
        self._topic = f"{name}/{DECISIONS}"
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self.node)

    @property
    def authorities(self) -> int:
        """How many authorities publish there now."""
        found = int(self.node.count_publishers(self._topic))
        self.met = self.met or found > 0
        if not found:
            self.unwell = ()  # nobody says how it stands
        return found

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

    def _on_diagnostics(self, message: Any) -> None:
        if any(status.hardware_id == self._name for status in message.status):
            self.unwell = troubles(message, self._name)

    def _on_episode(self, message: Any) -> None:
        if self._only and message.id != self._only:
            return
        self.episodes.pop(message.id, None)
        self.episodes[message.id] = EpisodeView.of(message)
        if len(self.episodes) > _KEPT:
            self.episodes.pop(next(iter(self.episodes)))


class Teller:
    """Prints decisions one below the other; what is said again and again is said once, with its number."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._last: DecisionView | None = None
        self._more = 0

    def decided(self, decision: DecisionView) -> None:
        """A decision fell."""
        if self._last is not None and alike(self._last, decision):
            self._more += 1
        else:
            self.rest()
            self._console.print(decision_row(decision))
        self._last = decision

    def rest(self) -> None:
        """Say how often the last one fell after it was printed."""
        if self._last is not None and self._more:
            times = "once more" if self._more == 1 else f"{self._more} times more"
            self._console.print(f"{'':>21}the same {times}, until {clock(self._last.time)}", style="dim")
        self._more = 0


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

    teller = Teller(console)

    def tell(decision: DecisionView) -> None:
        if not live and (routine or not decision.routine):
            teller.decided(decision)

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
        teller.rest()
        if listener is not None:
            listener.close()
        for number, handler in zip(numbers, previous, strict=True):
            signal.signal(number, handler)
    return 0


def _note(listener: Listener, authority: str, since: float) -> str:
    if listener.authorities:
        return f"{authority} in ROS domain {listener.domain}: Ctrl-C ends"
    if listener.met:
        return f"{authority} has left ROS domain {listener.domain}: waiting for it to come back"
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
            note = _note(listener, authority, since)
            board = Board(tuple(listener.episodes.values()), shown, note, listener.unwell)
            live.update(board, refresh=True)


def _plain(listener: Listener, console: Console, authority: str, end: float) -> None:
    since = time.monotonic()
    said = ""
    known: dict[str, int] = {}
    while time.monotonic() < end:
        listener.spin(0.2)
        note = _note(listener, authority, since)
        if note != said:
            console.print(note, style="dim")
            said = note
        # Messages carry ages that change all the time: what counts is that something turned.
        for trouble in listener.unwell:
            if known.get(trouble.name) != trouble.level:
                console.print(trouble_row(trouble))
        now = {trouble.name: trouble.level for trouble in listener.unwell}
        for name in known.keys() - now.keys() if listener.authorities else ():
            console.print(f"well   {name}", style="dim")
        known = now
