"""The authority as a lifecycle node: services in, decisions out, readbacks seen with its own eyes.

It boots inactive and refuses everything, with an answer, until it is activated. One thread runs all of it:
the ledger has one writer, and budgets are spent under one hand.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.clock import JumpThreshold
from rclpy.duration import Duration
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn

from adf_ea_ros import msg
from adf_ea_ros.authority.state import State
from adf_ea_ros.contracts.catalog import Catalog
from adf_ea_ros.contracts.model import Lifecycle, ProviderContract
from adf_ea_ros.evidence.types import Observation
from adf_ea_ros.ledger.errors import LedgerError
from adf_ea_ros.ledger.opening import open_ledger
from adf_ea_ros.ledger.sql import SqlLedger
from adf_ea_ros.nodes.audit import Audit
from adf_ea_ros.nodes.convert import decision_msg
from adf_ea_ros.nodes.episodes import Episodes
from adf_ea_ros.nodes.frontdesk import FrontDesk
from adf_ea_ros.nodes.health import Health
from adf_ea_ros.nodes.params import catalog, integer, number, texts
from adf_ea_ros.nodes.presence import Presence
from adf_ea_ros.nodes.readbacks import Readback
from adf_ea_ros.nodes.support import SPOKEN, StartFault, declare, guard, keep_clock, latched
from adf_ea_ros.nodes.waiting import Waits
from adf_ea_ros.runtime.book import OFFICE, Book
from adf_ea_ros.runtime.desk import Desk
from adf_ea_ros.runtime.public import Ruling
from adf_ea_ros.runtime.service import AuthorityService
from adf_ea_ros.runtime.standing import LENGTH

DONE, FAILED = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.FAILURE


class AuthorityNode(LifecycleNode):
    """Node ``authority``. ``ledger_fault`` says why the last attempt to open the ledger failed."""

    def __init__(self, name: str = "authority", **options: Any) -> None:
        """Read the parameters and check what they name; open nothing yet.

        Raises:
            StartFault: a parameter, a contract or a task is wrong; with every fault.
        """
        super().__init__(name, **options)
        keep_clock(self)
        self._declare()
        self.catalog: Catalog = catalog(self, [*self._contracts, *self._tasks])
        self._sim_time = bool(self.get_parameter("use_sim_time").value)
        self._check_stamps()
        self.ledger: SqlLedger | None = None
        self.ledger_fault = ""
        self.service: AuthorityService | None = None
        self.overruled: dict[str, str] = {}
        """Providers that an operator made ineligible, with the reason."""
        self.readbacks: list[Readback] = []
        self._active = False
        self.latest = ""
        """The episode that was decided on last."""
        self.desk = Desk(lambda: int(self.get_clock().now().nanoseconds))
        self.desk.standing_length = self._standing
        self.desk.watchers.append(self._tell)
        self.waits = Waits(self)
        self._audit = Audit(self)
        self.presence = Presence(self, self.waits, list(self.catalog.providers()), self._seen)
        self._group = ReentrantCallbackGroup()  # a request that waits for a provider holds up no other
        self._decisions = self.create_publisher(
            msg.Decision, "~/decisions", latched(self._depth), event_callbacks=SPOKEN
        )
        self._episodes = Episodes(self, self._show)
        self.front = FrontDesk(self, self._group)
        self.health = Health(self)
        self._timers_on()

    def _declare(self) -> None:
        self._contracts = texts(self, "contracts", "files and folders with capability and provider contracts")
        self._tasks = texts(self, "tasks", "files and folders with tasks")
        self.ledger_name = declare(
            self,
            "ledger",
            "",
            "SQLite file or postgresql:// URL, one for all robots of a fleet; empty: adf_ea/<full name>.db "
            "under $ROS_HOME or ~/.ros",
        )
        self._mark = declare(
            self, "mark", "", "file of the ledger's high-water mark; empty: beside an SQLite file"
        )
        self.autostart = declare(
            self, "autostart", default=True, description="configure and activate at the start"
        )
        self._tick = number(
            self, "tick_rate", 5.0, 0.1, 20.0, "how often deadlines and facts are checked, Hz"
        )
        self._graph = number(
            self, "graph_rate", 2.0, 0.1, 20.0, "how often the graph is checked for providers, Hz"
        )
        self._show = number(self, "episode_rate", 2.0, 0.1, 20.0, "greatest rate of ~/episodes, Hz")
        self._wait = number(
            self,
            "presence_wait",
            5.0,
            0.0,
            600.0,
            "real seconds in which a provider that was never seen may appear",
        )
        self._depth = integer(
            self, "history", 100, 1, 10000, "messages that ~/decisions keeps for late subscribers"
        )
        self._standing = integer(
            self,
            "standing_length",
            LENGTH,
            1,
            1000000,
            "attempts after which a standing episode goes on in a new one, once nothing in it is open",
        )

        self.max_requests = integer(
            self,
            "max_requests",
            100,
            1,
            10000,
            "requests of planners that may wait at once; more are refused (X5.overload)",
        )
        self.max_episodes = integer(
            self, "max_episodes", 100, 1, 100000, "episodes under way; more are refused (X5.overload)"
        )
        self.max_steps = integer(
            self, "max_steps", 1000, 1, 100000, "steps of one proposal; more are refused (X5.overload)"
        )

    def _check_stamps(self) -> None:
        if not self._sim_time:
            return
        unstamped = [
            f"provider {provider.id}: routes.{name}: needs stamp: under use_sim_time the middleware's time "
            "stamps are wall time"
            for provider in self._witnesses()
            for name, route in provider.routes.items()
            if not route.stamp
        ]
        if unstamped:
            raise StartFault("\n".join(unstamped))

    def _witnesses(self) -> list[ProviderContract]:
        """Providers whose readbacks may count: a draft, or a contract that is over, proves nothing."""
        return [p for p in self.catalog.providers() if p.lifecycle is Lifecycle.ACTIVE]

    def _timers_on(self) -> None:
        # Real time: all of this must go on also while a simulated clock stands.
        self.waits.every(1.0 / self._tick, "tick", self._on_tick)
        self.waits.every(0.05, "held readbacks", self._release)
        self.waits.every(1.0 / self._graph, "graph", self._on_graph)
        self.waits.every(0.05, "episodes", self._episodes.pulse)
        self.waits.every(1.0, "diagnostics", self.health.publish)
        if self._sim_time:
            # Readbacks may overtake the clock on their way: they go on as soon as it has caught up.
            step = JumpThreshold(
                min_forward=Duration(nanoseconds=1),
                min_backward=Duration(nanoseconds=-1),
                on_clock_change=False,
            )
            self._jump = self.get_clock().create_jump_callback(
                step, post_callback=guard(self, "clock", self._on_clock)
            )

    def _on_clock(self, jump: Any) -> None:
        """Simulated time moved."""
        if self.service is not None and jump.delta.nanoseconds < 0:
            self.get_logger().warning("time went backwards: what was seen before counts for nothing now")
            self.service.clock_reset(self.desk.now)
        self._release()

    # -- life ------------------------------------------------------------------------------------------

    def on_configure(self, _state: LifecycleState) -> TransitionCallbackReturn:
        """Open the ledger as its one writer, and subscribe to the readbacks."""
        try:
            path = self.ledger_name or _default_ledger(self.get_fully_qualified_name())
            self.ledger = open_ledger(
                path,
                mark=Path(self._mark) if self._mark else None,
                authority=self.get_fully_qualified_name(),
            )
            generation = self.ledger.open_writer(self.get_fully_qualified_name(), time=self.desk.now)
            book = Book(self.ledger, generation)
            book.load()
        except (LedgerError, OSError) as error:
            self.ledger_fault = str(error)
            self.get_logger().error(f"the ledger cannot be used: {error}")
            self._close_ledger()
            return FAILED
        self.ledger_fault = ""
        self._audit.begin(path, self.ledger, self.ledger.mark.path)
        for remedy in book.remedies:
            self.get_logger().warning(f"ledger: {remedy}")
        self._warn_of_nobody_to_share_with(path)
        self.service = AuthorityService(self.catalog, book)
        self.desk.watch(self.service)
        self.desk.close("it is not active")
        self._subscribe()
        return DONE

    def _warn_of_nobody_to_share_with(self, ledger: str) -> None:
        """A contract that counts on leases does so in vain where no other authority can see them."""
        shared = [c.id for c in self.catalog.capabilities() if c.shared]
        shared += [p.id for p in self.catalog.providers() if p.shared_as]
        if shared and "://" not in ledger:
            self.get_logger().warning(
                f"{', '.join(shared)}: said to be shared, but the ledger is a file of this authority alone: "
                "name one PostgreSQL database for all"
            )

    def _subscribe(self) -> None:
        service = self.service
        assert service is not None

        def take(sample: Observation) -> str | None:
            return service.observed(sample, self.desk.now)

        for provider in self._witnesses():
            for name, route in provider.routes.items():
                full = f"{provider.id}/{name}"
                self.readbacks.append(
                    Readback(
                        self, full, provider, route, take, service.buffers[full], sim_time=self._sim_time
                    )
                )

    def on_activate(self, _state: LifecycleState) -> TransitionCallbackReturn:
        """Take over the active episodes and begin to decide, as soon as the clock runs."""
        self._active = True
        if self.desk.now <= 0:
            self.desk.close("its clock has not started: use_sim_time is set, and nothing comes on /clock")
        self._begin()
        return DONE

    def _begin(self) -> None:
        """Rule X1, once there is a time to write it under."""
        service = self.service
        if not self._active or service is None or self.desk.service is not None or self.desk.now <= 0:
            return
        try:
            service.recover(self.desk.now)
        except LedgerError as error:
            self.ledger_fault = str(error)
            self.desk.close(str(error))
            self._active = False
            self.get_logger().error(f"the ledger cannot be used: {error}")
            return
        for active in service.book.active().values():
            service.unavailable.update(active.unavailable)
            self._episodes.show(active)
        self.desk.open(service)
        self.presence.begin(self._wait)
        self.get_logger().info(
            f"active: generation {service.book.generation}, {len(service.book.active())} episodes under way"
        )

    def on_deactivate(self, _state: LifecycleState) -> TransitionCallbackReturn:
        """Refuse from now on. Evidence is still collected."""
        self._active = False
        self.desk.close("it is not active")
        return DONE

    def on_cleanup(self, _state: LifecycleState) -> TransitionCallbackReturn:
        """Give up the ledger and the readbacks."""
        self._drop()
        return DONE

    def on_shutdown(self, _state: LifecycleState) -> TransitionCallbackReturn:
        """As ``on_cleanup``."""
        self._drop()
        return DONE

    def on_error(self, _state: LifecycleState) -> TransitionCallbackReturn:
        """A transition failed in a way that nobody foresaw: give everything up."""
        self._drop()
        return DONE

    def _drop(self) -> None:
        self._active = False
        self.desk.close("it is not configured")
        for readback in self.readbacks:
            readback.close()
        self.readbacks.clear()
        self.service = None
        self._close_ledger()

    def _close_ledger(self) -> None:
        self._audit.close()
        if self.ledger is not None:
            self.ledger.close()
            self.ledger = None

    def close(self) -> None:
        """At the end of the process: what was decided last is published, the ledger is closed."""
        self._episodes.publish()
        self._drop()

    # -- what is told ----------------------------------------------------------------------------------

    def _tell(self, said: Ruling, after: State) -> None:
        self._decisions.publish(decision_msg(said))
        if said.episode != OFFICE and after.episode:
            self._episodes.show(after)
            self.latest = said.episode

    # -- what happens by itself ------------------------------------------------------------------------

    def _on_tick(self) -> None:
        self._begin()
        if self.desk.service is not None and self.desk.now > 0:
            self.desk.service.tick(self.desk.now)

    def _release(self) -> None:
        for readback in self.readbacks:
            readback.release()

    def _on_graph(self) -> None:
        if self.desk.service is not None:
            self._episodes.tell_latecomers(self.desk.service.book.active())
            self.presence.check()

    def _seen(self, provider: str, reason: str) -> None:
        """The graph says something new of a provider."""
        if provider not in self.overruled:
            self.desk.set_availability(provider, reason)

    def overrule(self, provider: str, reason: str, *, cancel: bool) -> list[Ruling]:
        """An operator's word on a provider: it stands above what the graph shows until it is taken back."""
        if reason:
            self.overruled[provider] = reason
        else:
            self.overruled.pop(provider, None)
            reason = self.presence.reason(provider) or ""
        return self.desk.set_availability(provider, reason, cancel=cancel)


def _default_ledger(name: str) -> str:
    """By the node's full name: ``authority.db``, or ``robot1.authority.db`` in a namespace."""
    folder = Path(os.environ.get("ROS_HOME") or Path.home() / ".ros") / "adf_ea"
    folder.mkdir(parents=True, exist_ok=True)
    return str(folder / f"{name.strip('/').replace('/', '.')}.db")
