"""The pairs: two histories that one part of a contract tells apart, the edit that weakens it, and one that
is none.

Each pair asks one question. The first history must be granted what the second is refused. ``prepare`` brings
the frozen contracts to the pair's own form, the same for all three arms; ``weaken`` takes the tested part
away; ``sham`` edits something that must not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from studies.comparison.run import EMPTY, FIELDS, Condition
from studies.device import Rule
from studies.inputs import Fact, Value
from studies.methods import Request, stream
from studies.variants import Edit

Contracts = dict[str, dict[str, Any]]
Raw = list[dict[str, Any]]
JOB = {"job": "job_1"}
CHAIN: Raw = [{"propose": ["prepare_a", "process_a", "finish_a"]}]
DONE: Raw = [*CHAIN, {"run": "prepare_a"}, {"run": "process_a"}, {"run": "finish_a"}]
CUP = {"object": "cup", "receptacle": "box"}
HOUSE: dict[Fact, Value] = {
    Fact("box", "open"): False,
    Fact("pantry", "open"): True,
    Fact("cup", "held"): False,
    Fact("cup", "inside"): "nothing",
}


class History(NamedTuple):
    """Requests and faults. What is decided about the last request is the question."""

    stream: tuple[Request, ...]
    faults: tuple[Rule, ...] = ()
    initial: Mapping[Fact, Value] = EMPTY


class Pair(NamedTuple):
    """One contrast."""

    name: str
    block: str
    question: str
    granted: History
    refused: History
    weaken: Edit
    sham: Edit
    prepare: Edit = lambda _: None
    library: str = "boolean"
    task: str = "a_chain"
    fields: Mapping[str, Value] = FIELDS

    def condition(self, history: History, name: str) -> Condition:
        """A history as a condition."""
        return Condition(
            f"{self.name}-{name}", self.question, self.task, (), history.stream, history.faults,
            history.initial, self.fields,
        )  # fmt: skip


def _boolean(raw: Raw, *faults: Rule, **initial: bool) -> History:
    state = EMPTY | {Fact("branch_a", path): value for path, value in initial.items()}
    return History(stream(raw, JOB), faults, state)


def _house(raw: Raw, *faults: Rule) -> History:
    return History(stream(raw, {}), faults, HOUSE)


def _at(path: str, value: Any) -> Edit:
    """Set a value at ``kind/id:field.field``, or take the field away where the value is None."""
    name, _, rest = path.partition(":")
    *fields, last = rest.split(".")

    def edit(contracts: Contracts) -> None:
        at: Any = contracts[name]
        for field in fields:
            at = at.setdefault(field, {})
        if value is None:
            at.pop(last)
        else:
            at[last] = value

    return edit


def _all(*edits: Edit) -> Edit:
    def edit(contracts: Contracts) -> None:
        for each in edits:
            each(contracts)

    return edit


def _only(task: str) -> Edit:
    """Leave the other tasks out: an edited contract need not fit them."""

    def edit(contracts: Contracts) -> None:
        for name in [n for n in contracts if n.startswith("task/") and n != f"task/{task}"]:
            del contracts[name]

    return edit


def _house_tasks(contracts: Contracts) -> None:
    goals = {"put": ("placed", CUP), "open": ("opened", {"receptacle": "box"})}
    for capability, (effect, arguments) in goals.items():
        goal = {"capability": capability, "effect": effect, "arguments": arguments}
        contracts[f"task/{capability}_it"] = {
            "spec": "adf_ea_ros/1", "kind": "task", "id": f"{capability}_it", "version": "1.0.0",
            "obligations": {"goal": {"kind": "state", "effect": goal}},
            "budgets": {"physical": 8, "observation": 4},
        }  # fmt: skip


def _observed_once(contracts: Contracts) -> None:
    contracts["capability/process_a"]["interruption"]["observations"] = 1


ONLY_PROCESS: Raw = [{"propose": ["process_a"]}, {"run": "process_a"}]
SILENT_A = Rule(call="prepare_b", fact="branch_a.prepared", evidence="missing")
LATE: Raw = [{"propose": [["process_a"], ["prepare_b"]]}, {"run": "prepare_b"}, {"run": "process_a"}]
CLAIMED: Raw = [*DONE, {"claim": None}]
PLACE: Raw = [
    {"propose": [
        {"id": "open", "arguments": {"receptacle": "box"}}, {"id": "pickup", "arguments": {"object": "cup"}},
        {"id": "put", "arguments": CUP},
    ]},
    {"run": "open"}, {"run": "pickup"}, {"run": "put"}, {"claim": None},
]  # fmt: skip
OPEN: Raw = [
    {"propose": [{"id": "open", "arguments": {"receptacle": "box"}}]},
    {"run": "open"},
    {"claim": None},
]
TRIED: Raw = [*CHAIN, {"run": "prepare_a"}, {"run": "process_a"}]
NEVER = Rule(call="process_a", nth=0, suppressed=True)
UNSEEN = (
    Rule(call="process_a", evidence="missing"),
    Rule(observe="branch_a.processed", nth=0, evidence="missing"),
)
FINISHED = "capability/finish_a:evidence.finished_seen"
LOST = Rule(call="prepare_a", sets={"branch_a.prepared": False})

PAIRS = (
    Pair(
        "precondition",
        "Invocation",
        "is processing dispatched where the branch is not prepared?",
        _boolean(ONLY_PROCESS, prepared=True),
        _boolean([{"propose": [["prepare_a"], ["process_a"]]}, {"run": "process_a"}]),
        weaken=_all(
            _at("capability/process_a:invocation", None),
            _at("provider/process_a_unit:evidence.prepared", None),
        ),
        sham=_at("capability/process_a:title", "Another title"),
        prepare=_at("capability/prepare_a:title", "As frozen"),
    ),
    Pair(
        "argument",
        "Invocation",
        "is a step with an argument outside its pattern admitted?",
        _boolean(CHAIN),
        _boolean([{"propose": [{"id": "prepare_a", "arguments": {"job": "Job 1!"}}]}]),
        weaken=_at("capability/prepare_a:parameters.job.pattern", None),
        sham=_at("capability/prepare_a:parameters.job.description", "Another description."),
    ),
    Pair(
        "precondition_age",
        "Invocation",
        "is a step dispatched on a precondition that was last seen long ago?",
        _boolean(LATE, prepared=True),
        _boolean(LATE, SILENT_A, prepared=True),
        weaken=_at("capability/process_a:invocation.requires.prepared.evidence.max_age", "10 min"),
        sham=_at("capability/process_a:extensions", {"org.example.note": "nothing"}),
    ),
    Pair(
        "effect_value",
        "Effect",
        "is the claim granted where the object is somewhere else?",
        _house(PLACE),
        _house(PLACE, Rule(call="put", suppressed=True, sets={"cup.inside": "pantry"})),
        weaken=_all(
            _at("capability/put:effects.placed.condition", {"path": "held", "eq": True}),
            _at("provider/put_skill:evidence.placed_seen", ["camera/held"]),
        ),
        sham=_at("capability/put:version", "1.0.1"),
        prepare=_house_tasks,
        library="household",
        task="put_it",
        fields={},
    ),
    Pair(
        "effect_subject",
        "Effect",
        "is the claim granted where another receptacle is open?",
        _house(OPEN),
        _house(OPEN, Rule(call="open", suppressed=True)),
        weaken=_at(
            "capability/open:effects.opened.condition", {"subject": "pantry", "path": "open", "eq": True}
        ),
        sham=_at("capability/open:description", "Another description."),
        prepare=_house_tasks,
        library="household",
        task="open_it",
        fields={},
    ),
    Pair(
        "effect_kind",
        "Effect",
        "is an event that has happened repeated, once its reading is gone?",
        _boolean(DONE),
        _boolean(
            [
                {"propose": [["prepare_a", "process_a", "finish_a"], ["prepare_b"]]},
                *DONE[1:],
                {"run": "prepare_b"},
                {"run": "finish_a"},
            ],
            Rule(call="prepare_b", sets={"branch_a.finished": False}),
        ),
        weaken=_all(
            _at("capability/finish_a:effects.finished.kind", "state"),
            _at("task/a_chain:obligations.a_finished.kind", "state"),
        ),
        sham=_at("provider/finish_a_unit:title", "Another title"),
        prepare=_all(
            _at("capability/finish_a:effects.finished.kind", "event"),
            _at("task/a_chain:obligations.a_finished.kind", "event"),
        ),
    ),
    Pair(
        "evidence_age",
        "Evidence",
        "is the claim granted on a reading that has grown old?",
        _boolean(CLAIMED),
        _boolean(CLAIMED, Rule(call="finish_a", evidence="once")),
        weaken=_at(f"{FINISHED}.max_age", "10 min"),
        sham=_at("capability/finish_b:evidence.finished_seen.max_age", "10 min"),
    ),
    Pair(
        "evidence_count",
        "Evidence",
        "is the claim granted on one reading where two are asked for?",
        _boolean(CLAIMED),
        _boolean(CLAIMED, Rule(call="finish_a", evidence="once")),
        weaken=_at(f"{FINISHED}.count", 1),
        sham=_at("capability/process_a:evidence.processed_seen.count", 1),
        prepare=_all(
            _at(f"{FINISHED}.count", 2),
            _at(f"{FINISHED}.distinct", False),
            _at(f"{FINISHED}.max_age", "10 min"),
        ),
    ),
    Pair(
        "evidence_correlation",
        "Evidence",
        "is the claim granted on readings of another job?",
        _boolean(CLAIMED),
        _boolean(CLAIMED, Rule(call="finish_a", evidence="wrong_correlation")),
        weaken=_at(f"{FINISHED}.match", None),
        sham=_at("provider/monitor:title", "Another title"),
    ),
    Pair(
        "retry_limit",
        "Interruption",
        "is a second retry dispatched?",
        _boolean([*TRIED, {"run": "process_a"}], NEVER),
        _boolean([*TRIED, {"run": "process_a"}, {"run": "process_a"}], NEVER),
        weaken=_at("capability/process_a:interruption.retry.limit", 5),
        sham=_at("capability/process_a:interruption.effect_absent", ["stop", "rebind", "retry"]),
    ),
    Pair(
        "observation_limit",
        "Interruption",
        "is a second observation granted?",
        _boolean([*TRIED, {"observe": "process_a"}], *UNSEEN),
        _boolean([*TRIED, {"observe": "process_a"}, {"observe": "process_a"}], *UNSEEN),
        weaken=_at("capability/process_a:interruption.observations", 10),
        sham=_at("capability/process_a:interruption.outcome_unknown", ["stop", "observe"]),
        prepare=_observed_once,
    ),
    Pair(
        "repair",
        "Interruption",
        "is a lost state repaired where the contract does not say so?",
        _boolean(
            [*CHAIN, {"run": "prepare_a"}, {"run": "prepare_a"}], Rule(call="prepare_a", suppressed=True)
        ),
        _boolean([*CHAIN, {"run": "prepare_a"}, {"run": "prepare_a"}], LOST),
        weaken=_at("capability/prepare_a:interruption.state_lost", ["repair", "stop"]),
        sham=_at("capability/prepare_a:title", "Another title"),
        prepare=_at("capability/prepare_a:interruption.state_lost", ["stop"]),
    ),
)
"""All twelve, three for each block."""

ARMS: dict[str, Callable[[Pair], Edit]] = {
    "Intact": lambda pair: _all(_only(pair.task), pair.prepare),
    "Target weakened": lambda pair: _all(_only(pair.task), pair.prepare, pair.weaken),
    "Sham mutation": lambda pair: _all(_only(pair.task), pair.prepare, pair.sham),
}
