"""What a planner may see of the catalog (section 3.2): what can be asked for, what it needs and brings about.

Providers, routes, nodes and topics are not in it: a planner cannot choose by them, and text in them would
reach
a language model. One model; ``as_json``, ``as_markdown`` and ``as_mcp_tools`` are spellings of it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import msgspec

from adf_ea_ros.contracts.catalog import Catalog
from adf_ea_ros.contracts.checks import PERMITTED
from adf_ea_ros.contracts.conditions import Ns, Value
from adf_ea_ros.contracts.model import (
    Approval,
    Argument,
    Bound,
    CapabilityContract,
    ConditionTemplate,
    EvidenceSpec,
    Interruption,
    Parameter,
    ProviderContract,
    Task,
)
from adf_ea_ros.contracts.units import format_duration

_SIGNS = {"EQ": "is", "GT": ">", "GTE": ">=", "LT": "<", "LTE": "<="}


class ParameterView(msgspec.Struct, frozen=True, omit_defaults=True):
    """One argument that a planner gives."""

    name: str
    type: str
    description: str = ""
    unit: str = ""
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[Value, ...] = ()
    default: Value | None = None
    pattern: str = ""


class FactView(msgspec.Struct, frozen=True):
    """A precondition or an effect: what is the case, in one line, and what counts as proof."""

    id: str
    kind: str  # "requires", "state" or "event"
    subject: str
    path: str
    statement: str
    evidence: tuple[str, ...]


class CapabilityView(msgspec.Struct, frozen=True, omit_defaults=True):
    """One capability."""

    id: str
    version: str
    title: str
    description: str
    available: bool  # some provider may be bound now
    parameters: tuple[ParameterView, ...]
    requires: tuple[FactView, ...]
    effects: tuple[FactView, ...]
    recovery: dict[str, tuple[str, ...]]
    approval: str = ""  # whose approval each run needs, in words; empty: nobody's


class ObligationView(msgspec.Struct, frozen=True):
    """One thing that a task asks for."""

    id: str
    kind: str
    statement: str
    after: tuple[str, ...]
    capability: str = ""
    arguments: dict[str, Value] = {}


class PlannerView(msgspec.Struct, frozen=True):
    """Everything that a planner may know before it proposes."""

    capabilities: tuple[CapabilityView, ...]
    task: str = ""
    obligations: tuple[ObligationView, ...] = ()
    budgets: dict[str, int] = {}


def planner_view(
    catalog: Catalog, now: Ns, task: Task | None = None, *, unavailable: bool = False
) -> PlannerView:
    """The view at a ROS time; of one task, only with the capabilities that it may use.

    ``unavailable`` keeps capabilities that no provider can be bound to now.
    """
    allowed = set(task.capabilities) if task is not None and task.capabilities else None
    shown = []
    for contract in catalog.capabilities():
        usable = not catalog.obstacle("capability", contract.id, now)
        providers = catalog.bindable_providers(contract.id, now) if usable else ()
        if (providers or unavailable) and (allowed is None or contract.id in allowed):
            shown.append(_capability(contract, providers))
    if task is None:
        return PlannerView(tuple(shown))
    budgets = {"physical": task.budgets.physical, "observation": task.budgets.observation}
    return PlannerView(tuple(shown), task.id, tuple(_obligations(catalog, task)), budgets)


def _capability(c: CapabilityContract, providers: Sequence[ProviderContract]) -> CapabilityView:
    requires = tuple(
        _fact(name, "requires", p.condition, c.subject, [p.evidence])
        for name, p in c.invocation.requires.items()
    )
    effects = tuple(
        _fact(
            name, e.kind.value, e.condition, c.subject, [r for r in c.evidence.values() if r.effect == name]
        )
        for name, e in c.effects.items()
    )
    parameters = tuple(_parameter(name, p, _served(name, providers)) for name, p in c.parameters.items())
    recovery = _recovery(c.interruption)
    title, available = c.title or c.id, bool(providers)
    approval = _approval(c.invocation.approval)
    return CapabilityView(
        c.id, c.version, title, c.description, available, parameters, requires, effects, recovery, approval
    )


def _approval(needed: Approval | None) -> str:
    """Who has to approve each run, and how soon it has to follow (rule X12)."""
    if needed is None:
        return ""
    who = " or ".join(needed.by) or "a person"
    return f"{who}, at most {format_duration(needed.max_age)} before it runs; never by who planned it"


def _served(name: str, providers: Sequence[ProviderContract]) -> tuple[Value, ...]:
    """The values of a parameter that some provider serves; empty where one serves them all."""
    accepted = [p.tool.accepts.get(name) for p in providers if p.tool is not None]
    if None in accepted:
        return ()
    return tuple(dict.fromkeys(value for values in accepted for value in values or ()))


def _parameter(name: str, p: Parameter, served: tuple[Value, ...]) -> ParameterView:
    choices = tuple(c for c in p.choices if c in served) if p.choices and served else p.choices or served
    return ParameterView(
        name, p.type, p.description, p.unit, p.minimum, p.maximum, choices, p.default, p.pattern
    )


def _fact(name: str, kind: str, c: ConditionTemplate, subject: str, evidence: list[Any]) -> FactView:
    about = c.subject or subject
    return FactView(name, kind, about, c.path, statement(c, about), tuple(map(_proof, evidence)))


def statement(condition: ConditionTemplate, subject: str) -> str:
    """A condition in one line: ``{sample}: temperature >= target - 1 and <= target + 1 degC``."""
    in_order = sorted(condition.bounds(), key=lambda clause: list(_SIGNS).index(clause[0].value))
    bounds = " and ".join(f"{_SIGNS[op.value]} {_bound(bound)}" for op, bound in in_order)
    return f"{subject}: {condition.path} {bounds}" + (f" {condition.unit}" if condition.unit else "")


def _bound(bound: Bound) -> str:
    if not isinstance(bound, Argument):
        return json.dumps(bound)
    if not bound.plus:
        return bound.argument
    return f"{bound.argument} {'+' if bound.plus > 0 else '-'} {abs(bound.plus):g}"


def _proof(spec: EvidenceSpec) -> str:
    """What counts as proof, in one line, without saying where it comes from."""
    who = spec.role.value.lower().replace("_", " ")
    many = f"{spec.count} samples" if spec.count > 1 else "1 sample"
    return f"{many} by {who}, at most {format_duration(spec.max_age)} old"


def _recovery(rules: Interruption) -> dict[str, tuple[str, ...]]:
    return {cause: tuple(d.value for d in getattr(rules, cause)) for cause in PERMITTED}


def _obligations(catalog: Catalog, task: Task) -> list[ObligationView]:
    shown = []
    for name, spec in task.obligations.items():
        if spec.effect is not None:
            contract = catalog.capability(spec.effect.capability)
            template = contract.effects[spec.effect.effect].condition
            line = statement(template, template.subject or contract.subject)
            shown.append(
                ObligationView(
                    name,
                    spec.kind.value,
                    line,
                    spec.after,
                    spec.effect.capability,
                    dict(spec.effect.arguments),
                )
            )
        elif spec.condition is not None:
            line = statement(spec.condition, spec.condition.subject)
            shown.append(ObligationView(name, spec.kind.value, line, spec.after))
    return shown


# -------------------------------------------------------------------------------------------------------
# spellings


def as_json(view: PlannerView) -> str:
    """The view as indented JSON."""
    return msgspec.json.format(msgspec.json.encode(view), indent=2).decode()


def as_mcp_tools(view: PlannerView) -> list[dict[str, Any]]:
    """The capabilities as tools of the Model Context Protocol (``tools/list``).

    None is announced as read-only or idempotent: that is for the authority to decide, request by request.
    """
    return [
        {
            "name": c.id,
            "title": c.title,
            "description": _tool_text(c),
            "inputSchema": {
                "type": "object",
                "properties": {p.name: _property(p) for p in c.parameters},
                "required": [p.name for p in c.parameters if p.default is None],
                "additionalProperties": False,
            },
            "annotations": {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": False},
        }
        for c in view.capabilities
    ]


def _tool_text(c: CapabilityView) -> str:
    lines = [c.description or c.title]
    lines += [f"Requires {fact.statement}." for fact in c.requires]
    lines += [
        f"{'Brings about' if fact.kind == 'state' else 'Is an event:'} {fact.statement}."
        for fact in c.effects
    ]
    lines += [f"Each run needs an approval of its own: by {c.approval}."] if c.approval else []
    lines.append("An accepted call is no proof of these effects: ask for the episode's state.")
    return "\n".join(lines)


def _property(p: ParameterView) -> dict[str, Any]:
    words = " ".join(filter(None, [p.description, f"In {p.unit}." if p.unit else ""]))
    fields = {
        "type": p.type,
        "description": words or None,
        "minimum": p.minimum,
        "maximum": p.maximum,
        "enum": list(p.choices) or None,
        "default": p.default,
        "pattern": f"^(?:{p.pattern})$" if p.pattern else None,
    }
    return {key: value for key, value in fields.items() if value is not None}


def as_markdown(view: PlannerView) -> str:
    """The view as one page."""
    lines = [f"# Task {view.task}" if view.task else "# Capabilities", ""]
    if view.obligations:
        lines += ["| obligation | kind | what must hold | after |", "|---|---|---|---|"]
        for o in view.obligations:
            given = ", ".join(f"{name} = {json.dumps(value)}" for name, value in o.arguments.items())
            lines.append(
                _row(o.id, o.kind, o.statement + (f" ({given})" if given else ""), ", ".join(o.after))
            )
        lines += [
            "",
            f"Budgets: {view.budgets['physical']} physical, {view.budgets['observation']} observation.",
            "",
        ]
    for c in view.capabilities:
        lines += [f"## {c.title} (`{c.id}` {c.version}{'' if c.available else ', not available'})", ""]
        lines += [c.description, ""] if c.description else []
        if c.parameters:
            lines += ["| argument | type | range | meaning |", "|---|---|---|---|"]
            lines += [_row(f"`{p.name}`", p.type, _range(p), p.description) for p in c.parameters] + [""]
        for fact in (*c.requires, *c.effects):
            verb = {"requires": "Requires", "state": "Brings about"}.get(fact.kind, "Event")
            lines.append(f"- {verb} **{fact.id}**: {fact.statement} (proof: {'; '.join(fact.evidence)})")
        lines += [f"- Needs approval: by {c.approval}"] if c.approval else []
        lines += [f"- If {cause.replace('_', ' ')}: {', '.join(d)}" for cause, d in c.recovery.items()] + [""]
    return "\n".join(lines)


def _range(p: ParameterView) -> str:
    if p.choices:
        return ", ".join(map(str, p.choices))
    low = "" if p.minimum is None else f"{p.minimum:g}"
    high = "" if p.maximum is None else f"{p.maximum:g}"
    span = (
        f"{low} to {high}"
        if low and high
        else f"at least {low}"
        if low
        else f"at most {high}"
        if high
        else ""
    )
    return f"{span} {p.unit}".strip()


def _row(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"
