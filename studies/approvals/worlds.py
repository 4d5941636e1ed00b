"""The worlds: what happens in each, and what it should come to, by the rule's definition and not its code.

Legal ones are to end with the valve open, by so many effects, and a completion that is granted. In the others
something is asked for that nobody allowed: whatever was sent lawfully may stay, and no more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from adf_ea_ros.authority.grounding import Step
from adf_ea_ros.authority.model import Interaction
from adf_ea_ros.authority.requests import Answer
from studies.approvals.bench import Bench


class World(NamedTuple):
    """``effects``: how many there should be. ``about``: the responsibility that it tries, in a word."""

    name: str
    about: str
    legal: bool
    effects: int
    run: Callable[[Bench], None]


WORLDS: list[World] = []


def world(name: str, about: str, *, legal: bool, effects: int) -> Callable[[Callable[[Bench], None]], object]:
    """Register a world."""

    def keep(run: Callable[[Bench], None]) -> object:
        WORLDS.append(World(name, about, legal, effects, run))
        return run

    return keep


# -- legal ---------------------------------------------------------------------------------------------------


@world("approved, sent, proven", "use", legal=True, effects=1)
def _(w: Bench) -> None:
    w.approve()
    w.through(w.send())


@world("the spare is revoked and granted again", "generation", legal=True, effects=1)
def _(w: Bench) -> None:
    w.approve()
    w.revoke("valve_b")
    w.through(w.send())


@world("another step is planned beside", "binding", legal=True, effects=1)
def _(w: Bench) -> None:
    w.approve()
    w.plan("planner", Step("purge", "purge", {"line": "l1"}))
    w.through(w.send())


@world("the plan comes again, the same", "binding", legal=True, effects=1)
def _(w: Bench) -> None:
    w.approve()
    w.plan()
    w.through(w.send())


@world("a second approval in place of the first", "consumption", legal=True, effects=1)
def _(w: Bench) -> None:
    w.approve()
    w.look(300)
    w.approve("bob")
    w.look(400)
    w.through(w.send())


@world("a retry with an approval of its own", "consumption", legal=True, effects=1)
def _(w: Bench) -> None:
    w.approve()
    w.answer(w.send(), Interaction.REJECTED)
    w.look(2)
    w.approve()
    w.through(w.send())


@world("a repair with an approval of its own", "consumption", legal=True, effects=2)
def _(w: Bench) -> None:
    w.approve()
    w.through(w.send())
    w.close_valve()
    w.approve()
    w.through(w.send())


@world("the authority dies between approval and dispatch", "durability", legal=True, effects=1)
def _(w: Bench) -> None:
    w.approve()
    w.crash()
    w.look()
    w.through(w.send())


@world("the answer comes twice", "reconciliation", legal=True, effects=1)
def _(w: Bench) -> None:
    w.approve()
    sent = w.send()
    w.through(sent)
    w.answer(sent, Interaction.SUCCEEDED)


@world("an early answer comes after the last one", "reconciliation", legal=True, effects=1)
def _(w: Bench) -> None:
    w.approve()
    sent = w.send()
    w.look()
    w.act(sent)
    w.answer(sent, Interaction.SUCCEEDED)
    w.answer(sent, Interaction.ACCEPTED)
    w.look(2)


@world("a loss is reported after a refusal", "reconciliation", legal=True, effects=1)
def _(w: Bench) -> None:
    w.approve()
    sent = w.send()
    w.answer(sent, Interaction.REJECTED)
    w.answer(sent, Interaction.LOST)
    w.look(2)
    w.approve()
    w.through(w.send())


@world("the answer is lost, and asked for", "recovery", legal=True, effects=1)
def _(w: Bench) -> None:
    w.approve()
    sent = w.send()
    w.look()
    w.act(sent)
    w.answer(sent, Interaction.LOST)
    w.look(2)
    w.ask_device(sent, Answer.TERMINAL, Interaction.SUCCEEDED)
    w.look()


@world("the request is lost, and known to be", "recovery", legal=True, effects=1)
def _(w: Bench) -> None:
    w.approve()
    sent = w.send()
    w.answer(sent, Interaction.LOST)
    w.look(2)
    w.ask_device(sent, Answer.NEVER_ACCEPTED)
    w.look()
    w.approve()
    w.through(w.send())


@world("the authority dies while it runs", "recovery", legal=True, effects=1)
def _(w: Bench) -> None:
    w.approve()
    sent = w.send()
    w.crash()
    w.act(sent)
    w.look()
    w.ask_device(sent, Answer.TERMINAL, Interaction.SUCCEEDED)
    w.look(2)


# -- not allowed ---------------------------------------------------------------------------------------------


@world("nobody approved it", "use", legal=False, effects=0)
def _(w: Bench) -> None:
    w.through(w.send())


@world("the planner approves its own step", "who", legal=False, effects=0)
def _(w: Bench) -> None:
    w.approve("planner")
    w.through(w.send())


@world("a stranger approves", "who", legal=False, effects=0)
def _(w: Bench) -> None:
    w.approve("eve")
    w.through(w.send())


@world("the approval is over", "time", legal=False, effects=0)
def _(w: Bench) -> None:
    w.approve(seconds=5)
    w.look(6)
    w.through(w.send())


@world("the approval was withdrawn", "time", legal=False, effects=0)
def _(w: Bench) -> None:
    w.approve()
    w.withdraw()
    w.through(w.send())


@world("approved in another episode", "binding", legal=False, effects=0)
def _(w: Bench) -> None:
    w.approve()
    w.begin()
    w.through(w.send())


@world("other arguments under the same step", "binding", legal=False, effects=0)
def _(w: Bench) -> None:
    w.approve()
    w.plan(speed=100)
    w.through(w.send())


@world("another valve under the same step", "binding", legal=False, effects=0)
def _(w: Bench) -> None:
    w.approve()
    w.plan(valve="v2")
    w.through(w.send())


@world("another contract since", "binding", legal=False, effects=0)
def _(w: Bench) -> None:
    w.approve()
    w.crash(contract=True)
    w.look()
    w.plan()
    w.through(w.send())


@world("another contract since, and the old plan", "binding", legal=False, effects=0)
def _(w: Bench) -> None:
    w.approve()
    w.crash(contract=True)
    w.look()
    w.through(w.send())


@world("the provider was revoked and granted again", "generation", legal=False, effects=0)
def _(w: Bench) -> None:
    w.approve()
    w.revoke("valve_a")
    w.through(w.send())


@world("halted and resumed", "generation", legal=False, effects=0)
def _(w: Bench) -> None:
    w.approve()
    w.halt()
    w.through(w.send())


@world("a retry under a used approval", "consumption", legal=False, effects=0)
def _(w: Bench) -> None:
    w.approve()
    w.answer(w.send(), Interaction.REJECTED)
    w.look(2)
    w.through(w.send())


@world("a repair under a used approval", "consumption", legal=False, effects=1)
def _(w: Bench) -> None:
    w.approve()
    w.through(w.send())
    w.close_valve()
    w.through(w.send())


@world("the request comes twice", "consumption", legal=False, effects=1)
def _(w: Bench) -> None:
    w.approve()
    first, second = w.send(), w.send()
    w.through(first)
    w.through(second)


@world("a refusal is reported of what runs", "reconciliation", legal=False, effects=1)
def _(w: Bench) -> None:
    w.approve()
    first = w.send()
    w.answer(first, Interaction.ACCEPTED)
    w.look(2)
    w.answer(first, Interaction.REJECTED)
    w.look()
    w.approve()
    second = w.send()
    w.act(first)
    w.act(second)
    w.answer(first, Interaction.SUCCEEDED)
    w.look(2)
