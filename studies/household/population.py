"""Task instances: families of tasks over objects and receptacles, written as task files beside the
contracts.

The paper's populations are scenes of a simulator that is not part of this project; ours are instances of the
same kinds of task on the Boolean device. They are as many, and no more independent of each other, than the
paper's.
"""

from __future__ import annotations

import atexit
import functools
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from studies import yamls
from studies.inputs import LIBRARIES, Fact, Library, Value
from studies.methods import PlanStep

OBSERVATIONS = 4
FAMILIES_OF_TASKS = ("place", "stow", "wash", "light")
OBJECTS = ("cup", "card", "soap", "book", "fork", "plate", "towel", "bottle")
RECEPTACLES = ("cabinet", "box", "drawer", "fridge", "safe")
APPLIANCES = ("lamp", "stove", "toaster", "heater")


class Instance(NamedTuple):
    """One task with its proposal and the state it begins with."""

    name: str
    family: str
    plan: tuple[PlanStep, ...]
    goals: tuple[tuple[str, str], ...]  # step id, effect
    initial: Mapping[Fact, Value]
    physical: int

    @property
    def steps(self) -> tuple[str, ...]:
        """The step ids in the order of the plan."""
        return tuple(step.id for step in self.plan)


def instance(index: int, family: str, physical: int = 8) -> Instance:
    """The ``index``-th task of a family: place (four steps), wash (two), stow (three) or light (two)."""
    thing = f"{OBJECTS[index % len(OBJECTS)]}_{index}"
    receptacle = f"{RECEPTACLES[index % len(RECEPTACLES)]}_{index}"
    one, other = (f"{APPLIANCES[(index + k) % len(APPLIANCES)]}_{index}_{k}" for k in range(2))
    plans = {
        "place": (("open", {"receptacle": receptacle}), ("pickup", {"object": thing}),
                  ("put", {"object": thing, "receptacle": receptacle}),
                  ("close", {"receptacle": receptacle})),
        "stow": (("pickup", {"object": thing}), ("open", {"receptacle": receptacle}),
                 ("put", {"object": thing, "receptacle": receptacle})),
        "wash": (("pickup", {"object": thing}), ("rinse", {"object": thing})),
        "light": (("switch_on", {"appliance": one}), ("switch_on", {"appliance": other})),
    }  # fmt: skip
    goals = {
        "place": (("3_put", "placed"), ("4_close", "closed")),
        "stow": (("3_put", "placed"),),
        "wash": (("2_rinse", "rinsed"),),
        "light": (("1_switch_on", "running"), ("2_switch_on", "running")),
    }
    steps: list[PlanStep] = []
    for number, (capability, arguments) in enumerate(plans[family], 1):
        after = (steps[-1].id,) if steps else ()
        steps.append(PlanStep(f"{number}_{capability}", capability, dict(arguments), after))
    other_receptacle = f"other_{receptacle}"
    initial: dict[Fact, Value] = {
        Fact(receptacle, "open"): False,
        Fact(other_receptacle, "open"): False,
        Fact(thing, "held"): False,
        Fact(thing, "inside"): "nothing",
        Fact(thing, "clean"): False,
        Fact(one, "lit"): False,
        Fact(other, "lit"): False,
    }
    used = {str(value) for step in steps for value in step.arguments.values()} | {other_receptacle}
    kept = {fact: value for fact, value in initial.items() if fact.subject in used}
    return Instance(f"{family}_{index}", family, tuple(steps), goals[family], kept, physical)


def library(instances: tuple[Instance, ...], name: str) -> Library:
    """The household contracts with a task file for each instance, in a folder that goes when the process
    ends.
    """
    return _library(tuple((i.name, i.physical, _obligations(i)) for i in instances), name)


def _obligations(one: Instance) -> str:
    steps = {step.id: step for step in one.plan}
    goals = {
        f"g{step}": {
            "kind": "state",
            "effect": {
                "capability": steps[step].capability,
                "effect": effect,
                "arguments": dict(steps[step].arguments),
            },
        }
        for step, effect in one.goals
    }
    return yamls.dump(goals)


@functools.cache
def _library(tasks: tuple[tuple[str, int, str], ...], name: str) -> Library:
    folder = Path(tempfile.mkdtemp(prefix=f"adf_ea_{name}_"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    shutil.copytree(LIBRARIES / "household", folder, dirs_exist_ok=True)
    (folder / "tasks").mkdir(exist_ok=True)
    for task, physical, obligations in tasks:
        content = {
            "spec": "adf_ea_ros/1", "kind": "task", "id": task, "version": "1.0.0",
            "obligations": yamls.parse(obligations),
            "budgets": {"physical": physical, "observation": OBSERVATIONS},
        }  # fmt: skip
        (folder / "tasks" / f"{task}.yaml").write_text(yamls.dump(content))
    return Library(folder)
