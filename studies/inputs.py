"""Contracts and tasks as plain values, read from their files without any code of the product.

The devices' commands, the published algorithms' predicates and the scorer's rules are all bound from here,
so that every method has the same inputs and the judge has none of the runtime's. Only what the studies use
is read: conditions that ask for one exact value.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from studies import yamls

Value = bool | int | float | str
Arguments = Mapping[str, Value]
SECOND = 1_000_000_000
LIBRARIES = Path(__file__).parent / "libraries"
_UNITS = {"ms": 1_000_000, "s": SECOND, "min": 60 * SECOND, "h": 3600 * SECOND}


class Fact(NamedTuple):
    """One state path of one subject."""

    subject: str
    path: str

    def __str__(self) -> str:
        return f"{self.subject}.{self.path}"


class Wanted(NamedTuple):
    """A fact, the value asked of it, and what may show that it has it."""

    fact: Fact
    value: Value
    routes: tuple[str, ...] = ()
    max_age: int = 0  # ns
    needed: int = 1  # readings in agreement
    match: tuple[tuple[str, Value], ...] = ()
    independent: bool = True  # the source must not be the provider that acted


class Action(NamedTuple):
    """One capability for given arguments."""

    capability: str
    arguments: tuple[tuple[str, Value], ...]
    needs: tuple[Wanted, ...]
    sets: tuple[Wanted, ...]
    providers: tuple[str, ...]
    retries: int
    retry_allowed: bool
    repair_allowed: bool
    rebind: Mapping[str, tuple[str, ...]]

    @property
    def key(self) -> tuple[tuple[Fact, Value], ...]:
        """What the action means: its effects. Aliases share it."""
        return tuple(sorted((wanted.fact, wanted.value) for wanted in self.sets))


class Goal(NamedTuple):
    """One obligation of a task."""

    name: str
    kind: str  # state or preserve
    wanted: Wanted


class Task(NamedTuple):
    """What is to be achieved, and with how much."""

    name: str
    goals: tuple[Goal, ...]
    physical: int
    observation: int


class Library:
    """The contract files of one folder."""

    def __init__(self, folder: Path) -> None:
        """Read every YAML file below ``folder``."""
        self.folder = folder
        self.capabilities: dict[str, Any] = {}
        self.providers: dict[str, Any] = {}
        self._tasks: dict[str, Any] = {}
        for path in sorted(folder.rglob("*.yaml")):
            content = yamls.read(path)
            shelf = {"capability": self.capabilities, "provider": self.providers, "task": self._tasks}
            shelf[content["kind"]][content["id"]] = content
        self._actions: dict[tuple[str, tuple[tuple[str, Value], ...]], Action] = {}

    def providers_of(self, capability: str) -> tuple[str, ...]:
        """The providers of a capability, by name."""
        return tuple(
            name
            for name, p in sorted(self.providers.items())
            if p.get("tool", {}).get("provides") == capability
        )

    def action(self, capability: str, arguments: Arguments) -> Action:
        """What a capability does for these arguments. KeyError where there is none, or an argument is
        missing.
        """
        name = capability, tuple(sorted(arguments.items()))
        if name not in self._actions:
            self._actions[name] = self._action(capability, arguments)
        return self._actions[name]

    def _action(self, capability: str, arguments: Arguments) -> Action:
        spec = self.capabilities[capability]
        for parameter in spec.get("parameters", {}):
            arguments[parameter]
        providers = self.providers_of(capability)
        effects = {name: effect["condition"] for name, effect in spec["effects"].items()}
        requires = spec.get("invocation", {}).get("requires", {})
        rules = spec["interruption"]
        retry = rules.get("retry", {})
        return Action(
            capability,
            tuple(sorted(arguments.items())),
            tuple(
                self._wanted(spec, providers, name, pre["condition"], pre["evidence"], arguments)
                for name, pre in requires.items()
            ),
            tuple(
                self._wanted(spec, providers, name, effects[proof["effect"]], proof, arguments)
                for name, proof in spec["evidence"].items()
            ),
            providers,
            retry.get("limit", 0),
            "retry" in rules["effect_absent"] and retry.get("replay", "never") != "never",
            "repair" in rules["state_lost"],
            {p: tuple(self.providers[p].get("rebinding", {}).get("to", ())) for p in providers},
        )

    def _wanted(
        self, spec: Any, providers: Iterable[str], name: str, condition: Any, proof: Any, arguments: Arguments
    ) -> Wanted:
        routes = [r for p in providers for r in self.providers[p].get("evidence", {}).get(name, ())]
        return Wanted(
            Fact(
                _fill(condition.get("subject") or spec["subject"], arguments),
                _fill(condition["path"], arguments),
            ),
            _value(condition["eq"], arguments),
            tuple(dict.fromkeys(routes)),
            duration(proof["max_age"]),
            proof.get("count", 1),
            tuple(
                sorted((field, _value(bound, arguments)) for field, bound in proof.get("match", {}).items())
            ),
            str(proof["role"]).startswith("INDEPENDENT"),
        )

    def task(self, name: str) -> Task:
        """One task. KeyError where there is none."""
        spec = self._tasks[name]
        goals = tuple(self._goal(goal, what) for goal, what in spec["obligations"].items())
        return Task(name, goals, spec["budgets"]["physical"], spec["budgets"]["observation"])

    def _goal(self, name: str, spec: Any) -> Goal:
        if "effect" in spec:
            reference = spec["effect"]
            action = self.action(reference["capability"], reference.get("arguments", {}))
            contract = self.capabilities[reference["capability"]]
            proof = [p["effect"] for p in contract["evidence"].values()].index(reference["effect"])
            return Goal(name, spec["kind"], action.sets[proof])
        condition, proof = spec["condition"], spec["evidence"]
        wanted = Wanted(
            Fact(condition["subject"], condition["path"]),
            condition["eq"],
            tuple(spec["routes"]),
            duration(proof["max_age"]),
            proof.get("count", 1),
            tuple(sorted(proof.get("match", {}).items())),
            str(proof["role"]).startswith("INDEPENDENT"),
        )
        return Goal(name, spec["kind"], wanted)

    def route(self, path: str) -> str:
        """The first route that reports a state path."""
        for name, provider in sorted(self.providers.items()):
            for route, what in provider.get("routes", {}).items():
                if what["path"] == path:
                    return f"{name}/{route}"
        raise KeyError(path)


def duration(text: str) -> int:
    """Nanoseconds of "20 s"."""
    number, unit = text.split()
    return round(float(number) * _UNITS[unit])


def _value(bound: Any, arguments: Arguments) -> Value:
    return arguments[bound["argument"]] if isinstance(bound, dict) else bound


def _fill(template: str, arguments: Arguments) -> str:
    return re.sub(r"\{(\w+)\}", lambda found: str(arguments[found[1]]), template)
