"""Small helpers that every node needs: a clean main, guarded callbacks, parameters, QoS and time.

rclpy ends its spin when a callback raises, and leaves a service client waiting for ever; a coroutine that is awaited
nowhere fails in silence. ``guard`` turns both into a logged answer.
"""

from __future__ import annotations

import functools
import inspect
import signal
import sys
import traceback
from collections.abc import Callable, Generator, Iterable, Sequence
from typing import Any, TypeVar

import rclpy
from builtin_interfaces.msg import Time as TimeMsg
from rcl_interfaces.msg import ParameterDescriptor
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.task import Future

from adf_ea_ros.contracts.conditions import Ns

LATCHED = QoSProfile(
    depth=50, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL
)
"""For what a late subscriber must know: decisions, episodes, records."""

READBACK = QoSProfile(depth=100, reliability=ReliabilityPolicy.RELIABLE)
"""For readbacks that are published while somebody listens."""

CLOCK = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
"""For /clock: what rclpy's and rclcpp's own time sources ask for."""

EXIT_OK, EXIT_FAULT, EXIT_USAGE = 0, 1, 2

_NANO = 1_000_000_000
_T = TypeVar("_T", bool, int, float, str, list[str])


class StartFault(Exception):  # noqa: N818 - not a bug of the program: what it was given
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
        StartFault: the value given at the start has another type than the default. A whole number will do where
            a float is wanted.
    """
    descriptor = ParameterDescriptor(description=description, read_only=fixed, dynamic_typing=True)
    if node.has_parameter(name):  # declared from what was given at the start
        node.set_descriptor(name, descriptor)
        value = node.get_parameter(name).value
    else:
        value = node.declare_parameter(name, default, descriptor).value
    if isinstance(default, float) and type(value) is int:
        return float(value)  # type: ignore[return-value]
    if type(value) is not type(default):
        wanted = type(default).__name__
        raise StartFault(f"{node.get_fully_qualified_name()}: parameter {name} is {value!r}, wanted: {wanted}")
    return value  # type: ignore[no-any-return]


def guard(
    node: Node, what: str, callback: Callable[..., Any], failed: Callable[..., Any] = lambda *_: None
) -> Callable[..., Any]:
    """``callback``, but an exception is logged and ``failed``, called with the same arguments, gives the answer.

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


def run(make: Callable[[], Iterable[Node]], args: Sequence[str] | None = None) -> int:
    """The main of a process: init, make the nodes, spin until SIGINT or SIGTERM, close; gives the exit code.

    Each node may have a method ``close()``: it is called before the nodes are destroyed, in reverse order. After a
    signal the ROS context is down by then, so it can write files and close ledgers, but not publish. Faults of the
    configuration (``StartFault``) are printed without a traceback.
    """
    # rclpy turns both signals into the end of spin; before init and after shutdown they end the process quietly.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    nodes: list[Node] = []
    executor = None
    try:
        try:
            rclpy.init(args=list(args) if args is not None else None)
        except RuntimeError as error:  # arguments that rcl cannot parse
            raise StartFault(str(error)) from None
        executor = SingleThreadedExecutor()
        for node in make():
            nodes.append(node)
            executor.add_node(node)
        executor.spin()
    except (KeyboardInterrupt, ExternalShutdownException):
        return EXIT_OK
    except StartFault as fault:
        print(fault, file=sys.stderr)
        return EXIT_USAGE
    finally:
        for node in reversed(nodes):
            close = getattr(node, "close", None)
            if close is not None:
                guard(node, "closing", close)()
        if executor is not None:
            executor.shutdown(timeout_sec=2.0)
        for node in reversed(nodes):
            node.destroy_node()
        rclpy.try_shutdown()
    return EXIT_OK
