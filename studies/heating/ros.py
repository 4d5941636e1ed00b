"""H1 to H4 through the real nodes: rig, authority, capability nodes and planner as the demo starts them.

The same planner, contracts and faults as in one process; every part is a process of its own, on the rig's
clock. What is compared is the sequence of decisions in the authority's ledger.
"""

from __future__ import annotations

import contextlib
import io
import os
import tempfile
from pathlib import Path
from typing import Any

import msgspec
from rich.console import Console

from adf_ea_ros.authority.events import encode_event
from adf_ea_ros.ledger.opening import open_ledger
from adf_ea_ros.nodes.demo.folder import Folder
from adf_ea_ros.nodes.demo.ledger import episode_events
from adf_ea_ros.nodes.demo.run import Demo
from adf_ea_ros.nodes.demo.show import Screen
from adf_ea_ros.nodes.demo.story import Story
from adf_ea_ros.nodes.isolation import DomainLease
from studies.heating.cases import CASES, Case
from studies.heating.decisions import Step, from_events, words
from studies.heating.study import adf
from studies.report.manifest import ROOT
from studies.report.model import Check, Result, Table, Tick

NAME = "heating"
FACTOR = 10.0
"""Logical seconds to a second."""


def told(case: Case, folder: Path) -> tuple[tuple[Step, ...], list[dict[str, Any]]]:
    """One case through the nodes: the sequence of decisions, and the ledger's events."""
    story = Story(name=case.name, title=case.says, expects="", rig=case.rig, recorder_goes=case.recorder_goes)
    screen = Screen(Console(file=io.StringIO(), width=120))
    kept = Folder(case.name, str(folder / case.name))
    demo = Demo(story, screen, kept, ROOT / "config", FACTOR)
    with DomainLease() as domain:
        os.environ.update(domain.environment())
        os.environ["ROS_LOG_DIR"] = str(kept.logs / "ros")
        for name in ("ROS_LOCALHOST_ONLY", "ROS_STATIC_PEERS"):
            os.environ.pop(name, None)
        demo.assured(domain)
    with contextlib.closing(open_ledger(str(kept.ledger), read_only=True)) as ledger:
        events = episode_events(ledger)
    return from_events(events), [msgspec.json.decode(encode_event(event)) for event in events]


def study(tick: Tick) -> Result:
    """Run the cases both ways and compare."""
    result = Result(f"{NAME}-ros", "Heating H1 to H4 through the nodes")
    table = Table("Decisions of the authority", ("through nodes", "in one process"))
    with tempfile.TemporaryDirectory(prefix="adf_ea_heating_") as folder:
        for case in CASES:
            tick(f"{case.name} through nodes", total=len(CASES))
            sequence, events = told(case, Path(folder))
            outcome, _ = adf(case)
            here, there = words(sequence), words(outcome.decisions)
            table.add(case.name, [here, "the same" if here == there else there])
            result.checks.append(Check(f"{case.name}: the same decisions as in one process", here == there))
            result.runs.append(({"study": result.name, "condition": case.name}, events))
    result.tables.append(table)
    return result
