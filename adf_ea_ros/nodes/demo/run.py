"""Tells a story: starts the processes, lets happen what the story says, shows it, and judges how it ended."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import queue
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from ament_index_python.packages import PackageNotFoundError, get_package_share_directory

from adf_ea_ros.authority import events as ev
from adf_ea_ros.cli.watch_view import DecisionView
from adf_ea_ros.ledger.errors import LedgerError
from adf_ea_ros.ledger.opening import open_ledger
from adf_ea_ros.nodes.demo import direct
from adf_ea_ros.nodes.demo import planner as demo_planner
from adf_ea_ros.nodes.demo.eyes import Eyes
from adf_ea_ros.nodes.demo.folder import Folder, FolderTaken
from adf_ea_ros.nodes.demo.ledger import episode_events, episode_name, episode_records
from adf_ea_ros.nodes.demo.planner_main import READY
from adf_ea_ros.nodes.demo.show import Screen, make_console
from adf_ea_ros.nodes.demo.stage import Child, Ended, Stage
from adf_ea_ros.nodes.demo.story import DEFAULT, STORIES, Check, Story, heatings, verdict
from adf_ea_ros.nodes.isolation import DomainLease, NoDomainLeft
from adf_ea_ros.sim.report import Report

if TYPE_CHECKING:
    from adf_ea_ros.nodes.demo.main import Interrupt

AS_EXPECTED, OTHERWISE, NOT_TOLD, INTERRUPTED = 0, 1, 2, 130
"""Exit codes."""

SAMPLE, TASK = "s1", "heat_measure_record"
CAPABILITIES = {
    "heating": ("heater_a", "heater_b"),
    "measuring": ("probe",),
    "recording": ("recorder_a", "recorder_b"),
}
"""Capability nodes, each a process of its own, and the providers that each wraps."""

_START, _TELL = 45.0, 120.0  # seconds of real time: until all is ready, and for the story


class NotTold(Exception):
    """The story could not be told; the text says why."""


class Stopped(Exception):
    """Somebody asked to stop."""


class Demo:
    """One telling."""

    def __init__(self, story: Story, screen: Screen, folder: Folder, config: Path, factor: float) -> None:
        """``config`` holds contracts/, providers/ and tasks/; ``factor``: logical seconds per second."""
        self.story, self.screen, self.folder = story, screen, folder
        self._config, self._factor = config, factor
        self.stopped: Callable[[], bool] = lambda: False
        self._heating = False  # the heating was dispatched
        self._happened = False  # what the story says has happened

    def direct(self, domain: DomainLease) -> list[Check]:
        """Tell it with a direct action client."""
        screen = self.screen
        screen.head("a direct action client, without assurance")
        report = self.folder.report("direct")
        with Stage(domain, self.folder.logs) as stage:
            stage.start("rig_direct", "adf_ea_ros.nodes.sim_rig", self._rig(report))
            with contextlib.closing(Eyes(SAMPLE, lambda _: None)) as eyes:
                for _ in self._until(lambda: eyes.now > 0, _START, "the rig's clock"):
                    eyes.spin(0.05)
                    stage.check()
                    screen.status("waiting for the rig")
                arguments = ["--sample", SAMPLE]
                client = stage.start("direct", "adf_ea_ros.nodes.demo.direct", arguments, heard=True)
                for _ in self._until(lambda: client.code is not None, _START, "the direct client to end"):
                    eyes.spin(0.05)
                    stage.check("direct")
                    self._relay(client, eyes)
                    self._progress(eyes, "direct client")
                self._relay(client, eyes)
            self.screen.status("ending the processes")
        self.screen.quiet()
        counted = _counts(report)
        claimed = client.code == direct.CLAIMED
        if client.code not in (direct.CLAIMED, direct.FAILED):
            raise Ended(client)
        total = counted.heatings
        hot = abs(counted.temperatures.get(SAMPLE, 0.0) - 80.0) <= 1.0
        screen.note(
            f"the rig counted {total} heating{'' if total == 1 else 's'}; {SAMPLE} is at "
            f"{counted.temperatures.get(SAMPLE, 0.0):.1f} degC; the client "
            f"{'claims success' if claimed else 'claims nothing'}",
            style="bold yellow",
        )
        wrong = total > 1 or (claimed and not hot)
        text = "heated again" if total > 1 else "claimed a false success" if wrong else "did no harm"
        return [Check(f"without assurance, the client {text}; harm was expected", wrong)]

    def assured(self, domain: DomainLease) -> list[Check]:
        """Tell it through the authority."""
        self.screen.head(
            "the same task through the authority" if self.story.direct else "through the authority"
        )
        report = self.folder.report("assured")
        with Stage(domain, self.folder.logs) as stage:
            with contextlib.closing(Eyes(SAMPLE, self._on_decision)) as eyes:
                planner = self._set_up(stage, eyes, report)
                self._carry_out(stage, eyes, planner)
            self.screen.status("ending the processes")
        self.screen.quiet()
        events = self._read_back()
        counted = _counts(report)
        self.screen.head("verdict")
        total = counted.heatings
        each = ", ".join(f"{name} {heatings(counted, name)}" for name in counted.heaters)
        self.screen.note(f"heatings as counted by the rig: {total} ({each})", style="bold")
        return verdict(self.story, events, counted)

    # -- on the way ------------------------------------------------------------------------------------

    def _rig(self, report: Path) -> list[str]:
        given = [
            f"samples:=[{SAMPLE}]",
            f"clock.factor:={self._factor}",
            f"report:={json.dumps(str(report))}",
            *self.story.rig,
        ]
        return ["--ros-args", *(word for parameter in given for word in ("-p", parameter))]

    def _authority(self) -> list[str]:
        given = {"contracts": self._contracts(), "tasks": _files(self._config / "tasks")}
        return _arguments({**given, "ledger": str(self.folder.ledger)})

    def _capability(self, providers: Sequence[str]) -> list[str]:
        return _arguments({"contracts": self._contracts(), "providers": list(providers)})

    def _contracts(self) -> list[str]:
        """The files themselves: folders below hold contracts of other devices."""
        return [*_files(self._config / "contracts"), *_files(self._config / "providers")]

    def _set_up(self, stage: Stage, eyes: Eyes, report: Path) -> Child:
        begun = time.monotonic()
        stage.start("authority", "adf_ea_ros.nodes.authority_main", self._authority())
        stage.start("rig", "adf_ea_ros.nodes.sim_rig", self._rig(report))
        for name, providers in CAPABILITIES.items():
            node = ["-r", f"__node:={name}"]
            stage.start(name, "adf_ea_ros.nodes.capability_main", [*self._capability(providers), *node])
        planner = stage.start("planner", "adf_ea_ros.nodes.demo.planner_main", ["--wait"], heard=True)
        wanted = {provider for providers in CAPABILITIES.values() for provider in providers}
        waits: list[str] = []
        planner_ready = False

        def ready() -> bool:
            nonlocal planner_ready
            stage.check()
            if not planner_ready:
                with contextlib.suppress(queue.Empty):
                    planner_ready = planner.lines.get_nowait() == READY
            waits[:] = [] if eyes.generation else ["the authority"]
            waits.extend(name for name in sorted(wanted) if not eyes.offered(name))
            if not planner_ready:
                waits.append("the planner")
            return not waits

        names = ", ".join(stage.children)
        self.screen.note(f"starting {names}: {len(stage.children)} processes in ROS domain {eyes.domain}")
        self.screen.note("to watch from another terminal:")
        self.screen.command(f"ROS_DOMAIN_ID={eyes.domain} {_adf_ea()} watch")
        for _ in self._until(ready, _START, lambda: f"all to be ready; missing: {', '.join(waits)}"):
            eyes.spin(0.05)
            self.screen.status(f"waiting for {', '.join(waits[:3])}{', ...' if len(waits) > 3 else ''}")
        self.screen.note(f"ready after {time.monotonic() - begun:.1f} s")
        planner.write("go")
        return planner

    def _carry_out(self, stage: Stage, eyes: Eyes, planner: Child) -> None:
        for _ in self._until(lambda: planner.code is not None, _TELL, "the planner to end"):
            self._relay(planner, eyes)
            eyes.spin(0.02)
            stage.check("planner")
            self._let_happen(stage, eyes)
            self._progress(eyes, "planner")
        eyes.spin(0.3)  # the last decisions may still be on their way
        self._relay(planner, eyes)
        if planner.code not in (demo_planner.DONE, demo_planner.GAVE_UP):
            raise Ended(planner)

    def _let_happen(self, stage: Stage, eyes: Eyes) -> None:
        """What the story says happens in mid-heating."""
        if self._happened or not self._heating:
            return
        if self.story.recorder_goes:
            self._happened = True
            eyes.set_parameter("/rig/recorder_a", "fault", "down")
            self.screen.said("demo", "takes recorder_a down", eyes.now)
        if self.story.kill and eyes.heatings:
            self._happened = True
            stage.children["authority"].kill()
            self.screen.said("demo", "kills the authority with SIGKILL while the heater heats", eyes.now)
            stage.start("authority", "adf_ea_ros.nodes.authority_main", self._authority())
            self.screen.said("demo", "starts it again on the same ledger", eyes.now)

    def _on_decision(self, decision: DecisionView) -> None:
        self.screen.decision(decision)
        if decision.request == "Dispatch" and decision.authorized and decision.subject == "heat":
            self._heating = True

    def _relay(self, client: Child, eyes: Eyes) -> None:
        with contextlib.suppress(queue.Empty):
            while True:
                self.screen.said(client.name, client.lines.get_nowait(), eyes.now)

    def _progress(self, eyes: Eyes, who: str) -> None:
        hot = f"{SAMPLE} at {eyes.temperature:.1f} degC" if eyes.temperature is not None else "no reading yet"
        heatings = f"{eyes.heatings} heating{'' if eyes.heatings == 1 else 's'}"
        self.screen.status(f"{eyes.now / 1e9:.1f} s: {hot}, {heatings}, {who} is at work")

    def _until(
        self, condition: Callable[[], bool], seconds: float, what: str | Callable[[], str]
    ) -> Iterator[None]:
        """Go round until the condition holds; raises NotTold after so long, Stopped when asked to stop."""
        end = time.monotonic() + seconds
        while not condition():
            if self.stopped():
                raise Stopped
            if time.monotonic() > end:
                raise NotTold(f"waited {seconds:g} s for {what if isinstance(what, str) else what()}")
            yield

    def _read_back(self) -> list[ev.AnyEvent]:
        """The episode from the ledger file, shown as a timeline."""
        self.screen.head("the episode, read back from the ledger")
        with contextlib.closing(open_ledger(str(self.folder.ledger), read_only=True)) as ledger:
            self.screen.timeline(episode_name(ledger), episode_records(ledger))
            return episode_events(ledger)


def run(arguments: Sequence[str] | None, interrupt: Interrupt) -> int:
    """The demo as a command; gives the exit code."""
    options = _options(arguments)
    console = make_console()
    screen = Screen(console)
    story = STORIES[options.fault]
    try:
        config = _config(options.config)
        folder = Folder(story.name, options.keep)
    except (NotTold, FolderTaken, OSError) as error:
        print(error, file=sys.stderr)
        return NOT_TOLD
    demo = Demo(story, screen, folder, config, options.factor)
    demo.stopped = lambda: interrupt.asked
    code = NOT_TOLD
    try:
        code = _tell(demo, direct=story.direct or options.direct)
    except Stopped:
        code = INTERRUPTED
    except (NotTold, Ended, NoDomainLeft, LedgerError) as error:
        screen.quiet()
        print(f"{error}\nlogs: {folder.logs}", file=sys.stderr)
    finally:
        screen.quiet()
        if code == INTERRUPTED:
            screen.note("stopped; all processes have ended")
            folder.remove()
    return code


def _tell(demo: Demo, *, direct: bool) -> int:
    """Tell the story in a domain of its own, and say how it ended."""
    screen, story = demo.screen, demo.story
    screen.note(f"story {story.name}: {story.title}", style="bold")
    with DomainLease() as domain:
        os.environ.update(domain.environment())  # for the demo's own node
        os.environ["ROS_LOG_DIR"] = str(demo.folder.logs / "ros")
        for name in ("ROS_LOCALHOST_ONLY", "ROS_STATIC_PEERS"):
            os.environ.pop(name, None)
        checks = demo.direct(domain) if direct else []
        checks += demo.assured(domain)
    screen.checks(checks)
    good = all(check.holds for check in checks)
    screen.note(
        f"{'AS EXPECTED' if good else 'NOT AS EXPECTED'}: {story.name}: {story.expects}",
        style="bold green" if good else "bold red",
    )
    _where(screen, demo.folder)
    return AS_EXPECTED if good else OTHERWISE


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    stories = "\n".join(f"  {name:17} {story.title}" for name, story in STORIES.items())
    parser = argparse.ArgumentParser(
        prog="demo",
        description="An assured heating task on a simulated rig, end to end.",
        epilog=f"stories:\n{stories}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--fault", choices=STORIES, default=DEFAULT, metavar="STORY", help=f"default: {DEFAULT}"
    )
    parser.add_argument(
        "--keep", default="", metavar="FOLDER", help="leave ledger and logs in this new folder"
    )
    parser.add_argument(
        "--config", default="", metavar="FOLDER", help="contracts, providers and tasks to use"
    )
    parser.add_argument("--factor", type=float, default=10.0, help="speed of the rig's clock (default: 10)")
    parser.add_argument("--direct", action="store_true", help="tell it first with a direct action client")
    return parser.parse_args(arguments)


def _config(asked: str) -> Path:
    """The folder with contracts, providers and tasks."""
    if asked:
        config = Path(asked).absolute()
    else:
        try:
            config = Path(get_package_share_directory("adf_ea_ros")) / "config"
        except PackageNotFoundError:
            config = Path(__file__).parents[2] / "config"
    missing = [name for name in ("contracts", "providers", "tasks") if not (config / name).is_dir()]
    if missing:
        raise NotTold(f"{config} has no folder {', '.join(missing)}")
    return config


def _files(folder: Path) -> list[str]:
    return [str(path) for path in sorted(folder.glob("*.yaml"))]


def _arguments(given: dict[str, str | Sequence[str]]) -> list[str]:
    """ROS arguments of a node on the rig's clock."""
    words = ["--ros-args", "-p", "use_sim_time:=true"]
    for name, value in given.items():
        words += ["-p", f"{name}:={json.dumps(value)}"]  # JSON is YAML, whatever is in a path
    return words


def _counts(path: Path) -> Report:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Report)
    except (OSError, msgspec.DecodeError) as error:
        raise NotTold(f"the rig left no counts: {error}") from None


def _where(screen: Screen, folder: Folder) -> None:
    """Where ledger and logs are, and what to do with them."""
    command = _adf_ea()
    screen.note(f"ledger and logs remain in {folder.path}")
    screen.command(f"{command} ledger show {folder.ledger}")
    screen.command(f"{command} ledger verify {folder.ledger}")


def _adf_ea() -> str:
    """How the command line is called from the terminal in which the demo was started."""
    venv = os.environ.get("VIRTUAL_ENV", "")
    if shutil.which("adf-ea") is None:
        return "ros2 run adf_ea_ros adf-ea"
    if "ADF_EA_ROS_ENV" in os.environ and venv:  # the environment that `make` made
        return f"{os.path.relpath(Path(venv).parent / 'run')} adf-ea"
    return "adf-ea"
