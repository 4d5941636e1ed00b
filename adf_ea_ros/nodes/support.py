"""Small helpers that every node needs: a clean main, guarded callbacks, parameters, QoS and time.

rclpy ends its spin when a callback raises, and leaves a service client waiting for ever; a coroutine that
nobody awaits fails in silence. ``guard`` turns both into a logged answer.
"""

from __future__ import annotations

import ctypes
import functools
import gc
import inspect
import signal
import socket
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import suppress
from typing import Any, TypeVar

import rclpy
from builtin_interfaces.msg import Time as TimeMsg
from rcl_interfaces.msg import ParameterDescriptor, SetParametersResult
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.event_handler import PublisherEventCallbacks, SubscriptionEventCallbacks
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Future
from typing_extensions import Self

from adf_ea_ros.contracts.conditions import Ns


def latched(depth: int) -> QoSProfile:
    """Reliable, and the last ``depth`` messages of a publisher reach whoever subscribes later."""
    return QoSProfile(
        depth=depth, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL
    )


LATCHED = latched(50)
"""For what a late subscriber must know: decisions, episodes."""

READBACK = QoSProfile(depth=100, reliability=ReliabilityPolicy.RELIABLE)
"""For readbacks that are published while somebody listens."""

REQUESTS = QoSProfile(depth=4000)
"""For what planners call. The middleware keeps so many requests of one service that were not taken yet, and
drops the oldest beyond that without a word. rclpy's own depth of 10 loses most of a hundred sent at once."""

GOALS = {f"{name}_service_qos_profile": REQUESTS for name in ("goal", "result", "cancel")}
"""The same for the three services of an action server."""

PHASES = QoSProfile(depth=100)
"""For the feedback of ``Execute``: what is said once must not be lost among what devices repeat."""

SPOKEN = PublisherEventCallbacks(use_default_callbacks=False)
HEARD = SubscriptionEventCallbacks(use_default_callbacks=False)
"""For topics of our own, whose QoS both ends know. rclpy watches two more things for each publisher and
subscription otherwise, and looks at all of them whenever anything happens."""

CLOCK = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
"""For /clock: what rclpy's and rclcpp's own time sources ask for."""

EXIT_OK, EXIT_FAULT, EXIT_USAGE = 0, 1, 2

_NANO = 1_000_000_000
_SAME_SIGNAL = 1.0  # seconds
_M_MMAP_THRESHOLD, _LARGE = -3, 256 * 1024  # of <malloc.h>; bytes
_IN_A_ROW = 20  # failures of the executor itself, without a success between them, that end the process
_T = TypeVar("_T", bool, int, float, str, list[str])


class StartFault(Exception):
    """The node cannot start as it was configured; the text says what to change."""


def to_msg(time: Ns) -> Any:
    """A builtin_interfaces/Time of nanoseconds."""
    return TimeMsg(sec=time // _NANO, nanosec=time % _NANO)


def from_msg(time: Any) -> Ns:
    """Nanoseconds of a builtin_interfaces/Time."""
    return int(time.sec) * _NANO + int(time.nanosec)


def declare(node: Node, name: str, default: _T, description: str, *, fixed: bool = True) -> _T:
    """Declare a parameter and give its value; ``fixed`` ones cannot change after the start.

    Raises:
        StartFault: the value given at the start has another type than the default. (A whole number will do
            where a float is wanted.)
    """
    descriptor = ParameterDescriptor(description=description, read_only=fixed, dynamic_typing=True)
    if node.has_parameter(name):  # declared from what was given at the start
        node.set_descriptor(name, descriptor)
        value: Any = node.get_parameter(name).value
    else:
        value = node.declare_parameter(name, default, descriptor).value
    if type(default) is float and type(value) is int:
        value = float(value)
    if type(value) is not type(default):
        wanted = type(default).__name__
        raise StartFault(
            f"{node.get_fully_qualified_name()}: parameter {name} is {value!r}, wanted: {wanted}"
        )
    return value


def guard(
    node: Node, what: str, callback: Callable[..., Any], failed: Callable[..., Any] = lambda *_: None
) -> Callable[..., Any]:
    """``callback``, but an exception is logged, and ``failed``, called with the same arguments, answers.

    Args:
        what: names the callback in the log.
        failed: makes the answer of a failed call; must not raise.
    """

    def log() -> None:
        node.get_logger().error(f"{what} failed:\n{traceback.format_exc()}")

    if inspect.iscoroutinefunction(callback):

        @functools.wraps(callback)
        async def guarded_coroutine(*args: Any) -> Any:
            try:
                return await callback(*args)
            except Exception:  # noqa: BLE001 - that is what a guard is for
                log()
                return failed(*args)

        return guarded_coroutine

    @functools.wraps(callback)
    def guarded(*args: Any) -> Any:
        try:
            return callback(*args)
        except Exception:  # noqa: BLE001 - that is what a guard is for
            log()
            return failed(*args)

    return guarded


def overrides(source: Node, prefix: str) -> list[Parameter]:
    """The parameters given to ``source`` as ``prefix.NAME``, as overrides for a node that declares ``NAME``.

    ``source`` must declare its parameters from what it is given.
    """
    given = source.get_parameters_by_prefix(prefix)
    return [Parameter(name, value=parameter.value) for name, parameter in given.items()]


def keep_clock(node: Node) -> None:
    """Refuse that ``use_sim_time`` is changed while the node runs.

    Deadlines and the age of evidence are measured with one clock from start to end: whoever could turn
    a node over to /clock could make old evidence fresh.
    """

    def check(parameters: list[Parameter]) -> Any:
        now = node.get_parameter("use_sim_time").value
        if any(p.name == "use_sim_time" and p.value != now for p in parameters):
            return SetParametersResult(successful=False, reason="use_sim_time is fixed after the start")
        return SetParametersResult(successful=True)

    def refuse(_: list[Parameter]) -> Any:
        return SetParametersResult(successful=False, reason="failed; see the log")

    # The last callback to be added is asked first, and a refusal keeps the others from being asked.
    node.add_on_set_parameters_callback(guard(node, "parameters", check, refuse))


class Ticker:
    """Lets coroutines of one executor wait for the next tick of something, such as a simulated clock."""

    def __init__(self) -> None:
        self._next: Future = Future()

    def __await__(self) -> Generator[Any, None, None]:
        yield from self._next.__await__()

    def tick(self) -> None:
        """Wake everyone who waits."""
        reached, self._next = self._next, Future()
        reached.set_result(None)


class _Stop:
    """Turns SIGINT and SIGTERM into the end of a spin loop, between two callbacks; a context manager.

    rclpy's own handlers shut the context down at once, in the middle of whatever callback is running, and
    every publisher and wait set that is used after that raises. Here the nodes stay whole until they are
    closed. A signal that comes a while after the first one ends the process on the spot. At once it is the
    same Ctrl-C: the terminal tells every process, and ``ros2 launch`` tells its own once more.
    """

    def __init__(self) -> None:
        self.requested = False
        self.wake: Callable[[], object] = lambda: None  # makes the loop look again; called by another thread
        self._first: float | None = None
        self._reader, self._writer = socket.socketpair()
        self._writer.setblocking(False)

    def __enter__(self) -> Self:
        # The spin loop waits inside C code, where Python's handlers do not run; the wake-up descriptor does.
        threading.Thread(target=self._watch, daemon=True).start()
        signal.set_wakeup_fd(self._writer.fileno(), warn_on_full_buffer=False)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._on_signal)
        return self

    def __exit__(self, *_: object) -> None:
        signal.set_wakeup_fd(-1)
        self._writer.close()

    def _on_signal(self, number: int, _frame: object) -> None:
        now = time.monotonic()
        if self._first is None:
            self._first = now
        elif now - self._first > _SAME_SIGNAL:
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)

    def _watch(self) -> None:
        while self._reader.recv(1):
            self.requested = True
            self.wake()


def give_memory_back() -> None:
    """Have the C library take large blocks from the system alone, and give them back when they are freed.

    Left to itself it learns from the first large block that is freed (a checkpoint, which holds a whole state
    for a moment) to keep such blocks in its heap, where they stay for good.
    """
    with suppress(OSError, AttributeError):  # another C library: it does as it does
        ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, _LARGE)


def set_started_apart() -> None:
    """Keep what exists now, which stays for good, out of every later garbage collection.

    Modules, contracts and message types are some hundred thousand objects: a full collection looked at each
    of them, and held up whatever goal was under way for 30 to 50 ms.
    """
    gc.collect()
    gc.freeze()


def run(make: Callable[[], Iterable[Node]], args: Sequence[str] | None = None) -> int:
    """The main of a process: init, make the nodes, spin until SIGINT or SIGTERM, close; gives the exit code.

    Each node may have a method ``close()``: it is called in reverse order, while all nodes can still publish
    (what must arrive: ``publisher.wait_for_all_acked``, as the publisher goes right after).
    Faults of the configuration (``StartFault``) are printed without a traceback.
    """
    give_memory_back()
    with _Stop() as stop:
        try:
            rclpy.init(
                args=None if args is None else list(args), signal_handler_options=SignalHandlerOptions.NO
            )
        except RuntimeError as error:  # arguments that rcl cannot parse
            print(error, file=sys.stderr)
            return EXIT_USAGE
        executor = SingleThreadedExecutor()
        nodes: list[Node] = []
        try:
            for node in make():
                nodes.append(node)
                executor.add_node(node)
            # Executor.wake() does not make spin_once() return; a guard condition of a node does. It has a
            # group of its own: a coroutine that waits in the default group would keep it from being seen.
            group = ReentrantCallbackGroup()
            stop.wake = nodes[0].create_guard_condition(lambda: None, callback_group=group).trigger
            set_started_apart()
            failures = 0
            while not stop.requested:
                try:
                    executor.spin_once()
                    failures = 0
                except ExternalShutdownException:
                    raise
                except Exception:
                    # Not of a callback, those are guarded: of what rclpy does around one, such as a reply to
                    # somebody who has gone. It concerns one exchange, and the others must go on.
                    failures += 1
                    if failures > _IN_A_ROW:
                        raise
                    nodes[0].get_logger().error(f"outside a callback:\n{traceback.format_exc()}")
        except ExternalShutdownException:
            return EXIT_OK
        except StartFault as fault:
            print(fault, file=sys.stderr)
            return EXIT_USAGE
        finally:
            for node in reversed(nodes):
                _close(getattr(node, "close", None))
            stop.wake = lambda: None
            # A goal or request that came with the signal may have left a coroutine that never got to run.
            warnings.filterwarnings("ignore", r"coroutine .* was never awaited", RuntimeWarning)
            executor.shutdown(timeout_sec=2.0)
            for node in reversed(nodes):
                node.destroy_node()
            rclpy.try_shutdown()
    return EXIT_OK


def _close(close: Callable[[], object] | None) -> None:
    """Close, and let a failure keep nobody else from closing."""
    try:
        if close is not None:
            close()
    except Exception:  # noqa: BLE001
        traceback.print_exc()
