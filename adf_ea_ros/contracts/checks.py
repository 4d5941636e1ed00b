"""What can be wrong inside one contract, beyond the form that the models check (section 3.2, appendix D).

Each check yields places and messages, so that one reading of a file names everything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter

from adf_ea_ros.contracts.bounds import contradictory
from adf_ea_ros.contracts.conditions import Operator, Value
from adf_ea_ros.contracts.faults import Loc, one_of
from adf_ea_ros.contracts.fields import overlapping
from adf_ea_ros.contracts.model import (
    AnyContract,
    Argument,
    CapabilityContract,
    ConditionTemplate,
    Contract,
    Disposition,
    Effect,
    EvidenceSpec,
    Parameter,
    ProviderContract,
    Replay,
    Route,
    Task,
    placeholders,
)
from adf_ea_ros.contracts.review import review_faults
from adf_ea_ros.contracts.units import format_duration, mismatch, unit_fault

Found = Iterator[tuple[Loc, str]]
_REVERSE_DOMAIN = re.compile(r"[a-z][a-z0-9-]*(\.[a-z0-9][a-z0-9_-]*)+")
_OBSERVE_ONLY = frozenset({Disposition.OBSERVE, Disposition.STOP})
# What each cause may permit. Without qualified negative evidence a second dispatch is never safe (rule R5),
# so the
# causes that leave the outcome open permit observation alone.
PERMITTED: dict[str, frozenset[Disposition]] = {
    "effect_absent": _OBSERVE_ONLY | {Disposition.RETRY, Disposition.REBIND},
    "evidence_insufficient": _OBSERVE_ONLY,
    "evidence_conflicting": _OBSERVE_ONLY,
    "outcome_unknown": _OBSERVE_ONLY,
    "provider_unavailable": _OBSERVE_ONLY | {Disposition.REBIND},
    "state_lost": _OBSERVE_ONLY | {Disposition.REPAIR, Disposition.REBIND},
}
_TYPE_WORD = {"action": "action", "service": "srv", "topic": "msg"}


def check_alone(contract: AnyContract) -> Found:
    """Everything that is wrong with one contract by itself."""
    yield from _common(contract)
    yield from review_faults(contract)
    if isinstance(contract, CapabilityContract):
        yield from _capability(contract)
    elif isinstance(contract, ProviderContract):
        yield from _provider(contract)
    elif isinstance(contract, Task):
        yield from _task(contract)  # a gate says nothing that could be wrong without its provider


def _common(contract: Contract) -> Found:
    for key in contract.extensions:
        if not _REVERSE_DOMAIN.fullmatch(key):
            yield (
                ("extensions", key),
                f"{key[:60]!r} must be a reverse domain name, such as 'org.example.wiring'",
            )


# ----------------------------------------------------------------------------------------------------
# capabilities


def _capability(c: CapabilityContract) -> Found:
    for name, parameter in c.parameters.items():
        yield from _parameter(parameter, ("parameters", name))
    yield from _template(c.subject, c.parameters, ("subject",))
    for name, effect in c.effects.items():
        yield from _effect(effect, c.parameters, ("effects", name))
        if not any(requirement.effect == name for requirement in c.evidence.values()):
            yield (
                ("effects", name),
                "no evidence requirement is for this effect: it could never be established",
            )
    for name, requirement in c.evidence.items():
        if requirement.effect not in c.effects:
            yield (
                ("evidence", name, "effect"),
                f"no effect {requirement.effect!r}{one_of(requirement.effect, c.effects, 'effects')}",
            )
        yield from _evidence(requirement, c.parameters, ("evidence", name))
    for name, precondition in c.invocation.requires.items():
        at = ("invocation", "requires", name)
        if name in c.evidence:
            yield (
                at,
                f"{name!r} is also an evidence requirement: providers map both by id, so the ids must differ",
            )
        yield from check_condition(precondition.condition, c.parameters, (*at, "condition"))
        yield from _evidence(precondition.evidence, c.parameters, (*at, "evidence"))
    yield from _approval(c)
    yield from _interruption(c)


def _approval(c: CapabilityContract) -> Found:
    needed, at = c.invocation.approval, ("invocation", "approval")
    if needed is None:
        return
    if needed.max_age == 0:
        yield (*at, "max_age"), "an approval of age 0 is void at once: give a person's time to act on it"
    for index, name in enumerate(needed.by):
        if name in needed.by[:index]:
            yield (*at, "by", index), f"{name!r} is named twice"


def _parameter(p: Parameter, at: Loc) -> Found:
    numeric = p.type in ("integer", "number")
    for field in ("minimum", "maximum", "unit"):
        if getattr(p, field) not in (None, "") and not numeric:
            yield (*at, field), f"only numbers have a {field}; this parameter is of type {p.type}"
    if fault := unit_fault(p.unit):
        yield (*at, "unit"), fault
    if p.minimum is not None and p.maximum is not None and p.minimum > p.maximum:
        yield (*at, "minimum"), f"minimum {p.minimum:g} is above maximum {p.maximum:g}"
    for index, choice in enumerate(p.choices):
        if fault := value_fault(p, choice, choices=False):
            yield (*at, "choices", index), fault
    if p.default is not None and (fault := value_fault(p, p.default)):
        yield (*at, "default"), fault
    if p.pattern and p.type != "string":
        yield (*at, "pattern"), f"only text has a pattern; this parameter is of type {p.type}"
    if fault := _pattern_fault(p.pattern):
        yield (*at, "pattern"), fault


def _pattern_fault(pattern: str) -> str:
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        return f"not a regular expression: {error}"
    return ""


def value_fault(p: Parameter, value: Value, *, choices: bool = True) -> str:
    """What is wrong with a value of a parameter, or nothing. A boolean is not a number."""
    if not type_fits(p.type, value):
        return f"{value!r} is not of type {p.type}"
    if choices and p.choices and value not in p.choices:
        return f"{value!r} is not one of {', '.join(map(repr, p.choices))}"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if p.minimum is not None and value < p.minimum:
            return f"{value!r} is below the minimum {p.minimum:g}"
        if p.maximum is not None and value > p.maximum:
            return f"{value!r} is above the maximum {p.maximum:g}"
    if (
        isinstance(value, str)
        and p.pattern
        and not _pattern_fault(p.pattern)
        and not re.fullmatch(p.pattern, value)
    ):
        return f"{value!r} does not match {p.pattern}"
    return ""


def type_fits(kind: str, value: object) -> bool:
    """Whether a value is of a parameter's type."""
    if kind == "boolean":
        return isinstance(value, bool)
    if kind == "string":
        return isinstance(value, str)
    return not isinstance(value, bool) and isinstance(value, int if kind == "integer" else (int, float))


def _effect(effect: Effect, parameters: dict[str, Parameter], at: Loc) -> Found:
    yield from check_condition(effect.condition, parameters, (*at, "condition"))
    for index, fact in enumerate(effect.rests_on):
        yield from check_condition(fact, parameters, (*at, "rests_on", index))


def _evidence(spec: EvidenceSpec, parameters: dict[str, Parameter], at: Loc) -> Found:
    if spec.max_age == 0:
        yield (
            (*at, "max_age"),
            "evidence of age 0 never arrives: give the age at which the world may have changed",
        )
    greatest = spec.spacing.greatest
    if greatest is not None and greatest < spec.spacing.least:
        yield (*at, "spacing", "greatest"), f"is less than least, {format_duration(spec.spacing.least)}"
    if spec.spacing.least * (spec.count - 1) > spec.max_age:
        span = format_duration(spec.spacing.least * (spec.count - 1))
        yield (
            (*at, "max_age"),
            f"a window of {spec.count} samples takes at least {span}, so its first sample is always too old",
        )
    for key, bound in spec.match.items():
        if isinstance(bound, Argument):
            yield from _argument(bound, parameters, (*at, "match", key))
            if bound.plus:
                yield (*at, "match", key, "plus"), "a match is exact: plus has no place here"


def _template(text: str, parameters: dict[str, Parameter], at: Loc) -> Found:
    for name in placeholders(text):
        if name not in parameters:
            yield at, f"{{{name}}} is not a parameter{one_of(name, parameters, 'parameters')}"
        elif parameters[name].type not in ("string", "integer"):
            yield at, f"{{{name}}} is {parameters[name].type}; a name is made of text and whole numbers only"
    rest = re.sub(r"\{[a-z][a-z0-9_]*\}", "", text)
    if "{" in rest or "}" in rest:
        yield at, f"{text[:60]!r} has a brace that is not part of a {{parameter}}"
    if not text.strip() or any(c.isspace() for c in text):
        yield at, "must be a name without spaces"


def check_condition(c: ConditionTemplate, parameters: dict[str, Parameter], at: Loc) -> Found:
    """What is wrong with a condition over these parameters."""
    faults = [*_condition(c, parameters, at)]
    yield from faults
    if not faults and contradictory(c, parameters):
        yield at, "no value satisfies these bounds together"


def _condition(c: ConditionTemplate, parameters: dict[str, Parameter], at: Loc) -> Found:
    if c.subject:
        yield from _template(c.subject, parameters, (*at, "subject"))
    yield from _template(c.path, parameters, (*at, "path"))
    if fault := unit_fault(c.unit):
        yield (*at, "unit"), fault
    for op, bound in c.bounds():
        place = (*at, op.value.lower())
        if isinstance(bound, Argument):
            yield from _argument(bound, parameters, place)
            parameter = parameters.get(bound.argument)
            if parameter is None:
                continue
            numeric = parameter.type in ("integer", "number")
            if numeric and (fault := mismatch(c.unit, parameter.unit)):
                yield (*place, "argument"), f"{bound.argument!r} has {fault}"
        else:
            numeric = not isinstance(bound, (bool, str))
        if not numeric and op is not Operator.EQ:
            yield place, "only numbers have an order: use eq for text, true and false"
        if not numeric and c.unit:
            yield (*at, "unit"), "only numbers have a unit"


def _argument(bound: Argument, parameters: dict[str, Parameter], at: Loc) -> Found:
    parameter = parameters.get(bound.argument)
    if parameter is None:
        yield (
            (*at, "argument"),
            f"no parameter {bound.argument!r}{one_of(bound.argument, parameters, 'parameters')}",
        )
    elif bound.plus and parameter.type not in ("integer", "number"):
        yield (*at, "plus"), f"{bound.argument!r} is of type {parameter.type}: only numbers can be added to"


def _interruption(c: CapabilityContract) -> Found:
    rules = c.interruption
    for cause, permitted in PERMITTED.items():
        listed: tuple[Disposition, ...] = getattr(rules, cause)
        for index, disposition in enumerate(listed):
            place = ("interruption", cause, index)
            if disposition not in permitted:
                names = ", ".join(sorted(d.value for d in permitted))
                why = (
                    ""
                    if cause in ("effect_absent", "provider_unavailable", "state_lost")
                    else ": the effect may have happened"
                )
                yield place, f"{disposition.value!r} is not safe here{why} (allowed: {names})"
            if disposition in listed[:index]:
                yield place, f"{disposition.value!r} is listed twice"
    # Another attempt is a retry on whichever provider: the same limit and replay permission govern both.
    again = [d for d in (Disposition.RETRY, Disposition.REBIND) if d in rules.effect_absent]
    if again and (rules.retry.limit == 0 or rules.retry.replay is Replay.NEVER):
        yield (
            ("interruption", "effect_absent"),
            f"permits {again[0].value}, but retry.limit is 0 or retry.replay is never",
        )
    moves = Disposition.REBIND in rules.provider_unavailable
    if not again and not moves and rules.retry.limit > 0:
        yield (
            ("interruption", "retry", "limit"),
            "allows retries, but effect_absent permits neither retry nor rebind",
        )
    once = rules.retry.limit == 0 or rules.retry.replay is Replay.NEVER
    if moves and once and Disposition.REPAIR not in rules.state_lost:
        yield (
            ("interruption", "provider_unavailable"),
            "permits rebind, but neither a retry (retry.limit is 0 or retry.replay is never) nor a repair",
        )
    if Disposition.REBIND in rules.state_lost and Disposition.REPAIR not in rules.state_lost:
        yield (
            ("interruption", "state_lost"),
            "permits rebind without repair: it is a repair that may move to another provider",
        )


# -------------------------------------------------------------------------------------------------------
# providers


def _provider(p: ProviderContract) -> Found:
    if p.tool is None:
        if not p.routes:
            yield (), "a provider has a tool, routes, or both"
        for field in ("evidence", "rebinding", "shared_as"):
            if field in p.model_fields_set:
                yield (field,), "only a provider with a tool has this"
    if p.expires is not None and p.expires <= 0:
        yield ("expires",), "must be a ROS time in seconds after 0"
    for name, route in p.routes.items():
        yield from _route(route, ("routes", name))
    for requirement, routes in p.evidence.items():
        if not routes:
            yield ("evidence", requirement), "must name at least one route"
    if p.id in p.rebinding.to:
        yield ("rebinding", "to", p.rebinding.to.index(p.id)), "a provider cannot be rebound to itself"
    yield from _tool(p)


def _route(route: Route, at: Loc) -> Found:
    if "/msg/" not in route.type:
        yield (*at, "type"), f"a readback is a topic, so its type is package/msg/Name, not {route.type}"
    if fault := unit_fault(route.unit):
        yield (*at, "unit"), fault
    if route.subject.const is not None and not isinstance(route.subject.const, str):
        yield (*at, "subject", "const"), "a subject is text"
    if any(not isinstance(word, str) for word in route.subject.map.values()):
        yield (*at, "subject", "map"), "a subject is text"
    if route.value.const is not None:
        yield (*at, "value", "const"), "a value that never changes proves nothing: name a field"
    if route.derive is not None and route.value.map:
        yield (*at, "derive"), "makes a number of the field itself: leave out value.map, or this"
    if "{" in route.path or "}" in route.path or not route.path or any(c.isspace() for c in route.path):
        yield (*at, "path"), "a route reports one state path: a name without braces and spaces"


def _tool(p: ProviderContract) -> Found:
    tool = p.tool
    if tool is None:
        return
    at: Loc = ("tool",)
    word = _TYPE_WORD[tool.kind]
    if f"/{word}/" not in tool.type:
        yield (*at, "type"), f"the type of a tool of kind {tool.kind} is package/{word}/Name, not {tool.type}"
    fields = (
        [("arguments", f) for f in tool.arguments]
        + [("yaw", f) for f in tool.yaw]
        + [("constants", f) for f in tool.constants]
    )
    if tool.promises.key_field:
        fields.append(("promises", tool.promises.key_field))
    for index, (block, field) in enumerate(fields):
        for other_block, other in fields[:index]:
            if overlapping(field, other):
                place = (*at, block, "key_field") if block == "promises" else (*at, block, field)
                yield place, f"{field!r} is already set by {other_block}.{other}"
    for name in tool.unmapped:
        if name in tool.arguments.values() or name in tool.yaw.values():
            yield (*at, "unmapped"), f"{name!r} is mapped to a field"
    if tool.deadline == 0:
        yield (*at, "deadline"), "must be longer than 0"
    yield from _promises(p)


def _promises(p: ProviderContract) -> Found:
    if p.tool is None:
        return
    at: Loc = ("tool", "promises")
    promises, kind = p.tool.promises, p.tool.kind
    if promises.query and kind != "action":
        yield (
            (*at, "query"),
            f"only an action can be asked for the outcome of a goal by id; this tool is a {kind}",
        )
    if promises.final_on_result and kind == "topic":
        yield (*at, "final_on_result"), "a topic gives no result"
    if promises.key_lifetime and not promises.key_field:
        yield (*at, "key_lifetime"), "needs key_field: the request field that carries the key"
    if promises.key_field and not promises.key_lifetime:
        yield (*at, "key_field"), "needs key_lifetime: how long the provider recognizes a repeated key"


# -----------------------------------------------------------------------------------------------------------
# tasks


def _task(t: Task) -> Found:
    if not t.obligations and not t.standing:
        yield ("obligations",), "a task that is not standing needs at least one obligation"
    for name, obligation in t.obligations.items():
        at: Loc = ("obligations", name)
        for index, other in enumerate(obligation.after):
            if other not in t.obligations:
                yield (
                    (*at, "after", index),
                    f"no obligation {other!r}{one_of(other, t.obligations, 'obligations')}",
                )
            elif other == name:
                yield (*at, "after", index), "an obligation cannot come after itself"
        if obligation.condition is not None:
            yield from check_condition(obligation.condition, {}, (*at, "condition"))
            if not obligation.condition.subject:
                yield (*at, "condition"), "needs a subject: a task has none of its own"
        if obligation.evidence is not None:
            yield from _evidence(obligation.evidence, {}, (*at, "evidence"))
            if obligation.condition is None:
                yield (
                    (*at, "evidence"),
                    "the capability's contract says what proves its effect: leave this out",
                )
        if obligation.routes and obligation.condition is None:
            yield (
                (*at, "routes"),
                "the provider's contract says which routes prove its effect: leave this out",
            )
    for cycle in _cycle(t):
        yield (
            ("obligations", cycle[0], "after"),
            f"the order has a circle: {' after '.join((*cycle, cycle[0]))}",
        )


def _cycle(t: Task) -> Iterator[tuple[str, ...]]:
    """One circle of ``after`` longer than one, if there is any."""
    order = {
        name: [o for o in spec.after if o in t.obligations and o != name]
        for name, spec in t.obligations.items()
    }
    try:
        TopologicalSorter(order).prepare()
    except CycleError as error:
        yield tuple(reversed(error.args[1][1:]))
