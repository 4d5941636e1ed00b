"""Rule 1: revision and admission.

Admit(D', S) iff  grounded(D') and acyclic(D')
  and for all n in D': permitted(n, G) and declared(occurrence(n), G)
  and for all n in D', p in Pre(n): Live(p, t) or some ancestor of n in D' intends p
  and for all n in D', m in D' intending p in Pre(n), not Live(p, t): some such m is an ancestor of n
  and for all n in D', e in E(n), preserved f in G about the same fact: e implies f
  and |{n in D' : n still to be dispatched}| <= b_p
  and for all such n: some binding of n is eligible

Effect on S: D := D'. L, U_exec, Z, B and G are untouched. A state requirement that only a dropped,
never dispatched node had ends with it; nothing else leaves U.
"""

from __future__ import annotations

from adf_ea_ros.authority import events as ev
from adf_ea_ros.authority.decision import Outcome, Work, denied, granted
from adf_ea_ros.authority.model import Node
from adf_ea_ros.authority.proposal import ancestors, effects_by_fact, topological
from adf_ea_ros.authority.reasons import Refusal, refuse
from adf_ea_ros.authority.requests import Revise
from adf_ea_ros.authority.rules.eligibility import eligible
from adf_ea_ros.authority.rules.invalidation import absorb, still_needed
from adf_ea_ros.authority.rules.x11_standing import undeclared
from adf_ea_ros.evidence.types import Verdict


def revise(work: Work, request: Revise) -> Outcome:
    """Admit a proposal, or refuse it with every fault that it has."""
    absorb(work, request.view)
    refusals = check(work, request)
    if refusals:
        return denied(*refusals)
    revision = work.state.proposal.revision + 1
    work.emit(ev.ProposalAdmitted(revision, request.nodes, request.author))
    _end_unplanned_needs(work)
    return granted(
        "R1", f"proposal {revision} with {len(request.nodes)} steps is admitted; nothing is authorized yet"
    )


def check(work: Work, request: Revise) -> list[Refusal]:
    """All faults of a proposal. Graph checks wait until the graph is one."""
    nodes = request.nodes
    faults = [refuse("R1.grounding", f"{code}: {text}") for code, text in request.faults]
    names = [node.id for node in nodes]
    faults += [
        refuse("R1.duplicate_node", f"step {name!r} occurs more than once")
        for name in dict.fromkeys(names)
        if names.count(name) > 1
    ]
    faults += [
        refuse(
            "R1.unknown_dependency", f"step {node.id!r} comes after {name!r}, which is not in the proposal"
        )
        for node in nodes
        for name in node.after
        if name not in names
    ]
    if faults:
        return faults
    if len(topological(nodes)) < len(nodes):
        return [refuse("R1.cycle")]
    for node in nodes:
        faults += _permitted(work, node)
    return faults + _supported(work, nodes) + _affordable(work, nodes)


def _permitted(work: Work, node: Node) -> list[Refusal]:
    state, operation = work.state, node.operation
    faults = []
    if state.capabilities and operation.capability not in state.capabilities:
        faults.append(
            refuse(
                "R1.capability_not_permitted",
                f"the task does not permit {operation.capability!r} (step {node.id!r})",
            )
        )
    # An occurrence that the planner invents would be a way around the account of the first one.
    declared = state.occurrences.get(operation.key) == operation.occurrence or undeclared(state, operation)
    if operation.occurrence != "once" and not declared:
        faults.append(
            refuse(
                "R1.occurrence",
                f"the task declares no occurrence {operation.occurrence!r} of step {node.id!r}",
            )
        )
    for effect in operation.effects:
        for goal in state.preserved:
            if effect.condition.fact == goal.condition.fact and not effect.condition.implies(goal.condition):
                faults.append(
                    refuse(
                        "R1.preserved",
                        f"step {node.id!r} would break {goal.id!r}: {goal.condition} must hold",
                    )
                )
    return faults


def _supported(work: Work, nodes: tuple[Node, ...]) -> list[Refusal]:
    by_id = {node.id: node for node in nodes}
    reach, producers = ancestors(nodes), effects_by_fact(nodes)
    faults = []
    for node in nodes:
        key = node.operation.key
        if work.state.established(key) or work.state.pending(key) is not None:
            continue  # sent before this revision: its preconditions belong to its past, or to its retry
        for pre in node.operation.preconditions:
            found = work.finding(pre.requirement.id, pre.condition)
            if found is not None and found.verdict is Verdict.SATISFIED:
                continue
            intending = [
                name
                for name, index in producers.get(pre.condition.fact, ())
                if by_id[name].operation.effects[index].condition.implies(pre.condition) and name != node.id
            ]
            if not intending:
                faults.append(
                    refuse(
                        "R1.unsupported",
                        f"step {node.id!r} needs {pre.condition}, which is not true and no step sets",
                    )
                )
            elif not any(name in reach[node.id] for name in intending):
                faults.append(
                    refuse(
                        "R1.order",
                        f"step {node.id!r} needs {pre.condition} but does not come after {intending[0]!r}",
                    )
                )
    return faults


def _affordable(work: Work, nodes: tuple[Node, ...]) -> list[Refusal]:
    state = work.state
    ahead = [
        n for n in nodes if not state.established(n.operation.key) and state.pending(n.operation.key) is None
    ]
    faults = []
    if len(ahead) > state.physical:
        faults.append(
            refuse(
                "R1.budget",
                f"{len(ahead)} steps are to be dispatched, the physical budget has {state.physical} left",
            )
        )
    for node in ahead:
        why = [eligible(work, binding) for binding in node.operation.bindings]
        if all(why):
            told = "; ".join(fault.text for fault in why if fault) or "no contract binds one"
            faults.append(refuse("R1.no_provider", f"no eligible provider for step {node.id!r}: {told}"))
    return faults


def _end_unplanned_needs(work: Work) -> None:
    for owed in list(work.state.owed.values()):
        if not still_needed(work.state, owed):
            work.emit(ev.StateSettled(owed.condition, "no planned step needs it any more"))
