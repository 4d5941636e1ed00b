"""The studies in their form through the nodes: which runs each of them makes both ways."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator

from studies.ablations.study import ARMS as ABLATED
from studies.ablations.study import cases as ablated
from studies.comparison.run import boolean, conditions
from studies.composed.study import case_library
from studies.composed.study import cases as composed_cases
from studies.compositions.study import FILE
from studies.contrasts.pairs import ARMS as EDITS
from studies.contrasts.pairs import PAIRS
from studies.contrasts.study import PlainAdf
from studies.controls.interfaces import INTERFACES
from studies.controls.study import ControlledAdf, contracts, converse
from studies.controls.study import cases as controlled
from studies.household.population import library
from studies.household.replay import ReplayAdf
from studies.lifecycle.cases import cases as lifecycle_cases
from studies.methods import Adf
from studies.report.model import Result, Tick
from studies.ros.compare import Item, compare
from studies.scaling.study import condition as sized
from studies.scaling.study import contracts as stages
from studies.scaling.study import units
from studies.variants import variant


def _comparison() -> Iterator[Item]:
    for condition in conditions():
        yield Item("all conditions", boolean(), condition, Adf)


def _compositions() -> Iterator[Item]:
    for condition in conditions(FILE):
        yield Item("all compositions", boolean(), condition, Adf)


def _lifecycle() -> Iterator[Item]:
    cases = lifecycle_cases()
    made = library(tuple(case.instance for case in cases), "lifecycle")
    for case in cases:
        yield Item(case.kind, made, case.condition, ReplayAdf)


def _composed() -> Iterator[Item]:
    for case in composed_cases():
        yield Item(case.kind, case_library(), case.condition, ReplayAdf)


def _contrasts() -> Iterator[Item]:
    for arm, edit in EDITS.items():
        for pair in PAIRS:
            made = variant(pair.library, edit(pair))
            for which, history in (("granted", pair.granted), ("refused", pair.refused)):
                yield Item(arm, made, pair.condition(history, which), PlainAdf)


def _controls() -> Iterator[Item]:
    for interface in INTERFACES:
        for case in controlled():
            run = functools.partial(converse, case=case, interface=interface())
            yield Item(interface.name, contracts(case.retry), case.condition, ControlledAdf, run)


def _scaling() -> Iterator[Item]:
    for unit in units():
        yield Item(f"{unit.dimension} {unit.size}", stages(), sized(unit), ReplayAdf)


def _ablations() -> Iterator[Item]:
    cases = ablated()
    made = library(tuple(case.instance for case in cases), "ablations")
    for arm, method in ABLATED.items():
        if issubclass(method, Adf):
            for case in cases:
                yield Item(arm, made, case.condition, method)


FORMS: dict[str, tuple[str, Callable[[], Iterator[Item]]]] = {
    "comparison": ("Controlled comparison", _comparison),
    "compositions": ("Compositions", _compositions),
    "lifecycle": ("Lifecycle", _lifecycle),
    "composed": ("Composed faults", _composed),
    "contrasts": ("Paired contrasts", _contrasts),
    "controls": ("Recovery-policy controls", _controls),
    "scaling": ("Depth and width", _scaling),
    "ablations": ("Component ablations", _ablations),
}


def form(name: str) -> Callable[[Tick], Result]:
    """The study ``name`` through the nodes."""
    title, items = FORMS[name]
    return lambda tick: compare(name, title, list(items()), tick)
