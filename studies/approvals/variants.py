"""The product, and the product without one of the responsibilities: each is taken away here, from outside.

Where a rule compares an approval with what it was bound to, a variant shows it one without that bond; where
the order of answers matters, it forgets the earlier one. The product has no switch for any of this.
"""

from __future__ import annotations

from msgspec.structs import replace

from adf_ea_ros.authority import requests as rq
from adf_ea_ros.authority.decide import decide
from adf_ea_ros.authority.decision import Decision
from adf_ea_ros.authority.model import Approval, Interaction, Node
from adf_ea_ros.authority.rules.x12_approval import binding_of
from adf_ea_ros.authority.state import State
from adf_ea_ros.contracts.conditions import Ns
from adf_ea_ros.runtime.service import AuthorityService, void


class Without(AuthorityService):
    """An authority that sees each request's state as ``seen`` shows it."""

    def seen(self, state: State, request: rq.AnyRequest, now: Ns) -> State:  # noqa: ARG002 - for subclasses
        """The state that decides; here: the true one."""
        return state

    def _commit(self, episode: str, state: State, request: rq.AnyRequest, now: Ns) -> Decision:
        return super()._commit(episode, self.seen(state, request, now), request, now)


class _Unbound(Without):
    """Loosens the approval of the step that is asked for."""

    def seen(self, state: State, request: rq.AnyRequest, now: Ns) -> State:
        """The state with that approval loosened."""
        if not isinstance(request, rq.Dispatch):
            return state
        node, given = state.proposal.nodes.get(request.node), state.approvals.get(request.node)
        if node is None or given is None:
            return state
        return replace(state, approvals=state.approvals.set(node.id, self.loose(state, node, given, now)))

    def loose(self, state: State, node: Node, given: Approval, now: Ns) -> Approval:
        """The approval without a bond."""
        raise NotImplementedError


class WithoutBinding(_Unbound):
    """An approval is one of the step's name: whatever that step is by now, and whichever attempt of it."""

    def _commit(self, episode: str, state: State, request: rq.AnyRequest, now: Ns) -> Decision:
        if isinstance(request, rq.Dispatch):
            request = replace(request, replaced=())
        return super()._commit(episode, state, request, now)

    def loose(self, state: State, node: Node, given: Approval, now: Ns) -> Approval:
        """See ``_Unbound``."""
        due = binding_of(state, node, (), now)
        return replace(
            given, key=due.key, fingerprint=due.fingerprint, arguments=due.arguments, number=due.number
        )


class WithoutGeneration(_Unbound):
    """Who may act now is asked; whether that was so without interruption is not."""

    def loose(self, state: State, node: Node, given: Approval, now: Ns) -> Approval:
        """See ``_Unbound``."""
        due = binding_of(state, node, node.operation.bindings, now)
        return replace(given, providers=due.providers, halts=due.halts)


class WithoutConsumption(_Unbound):
    """A dispatch uses no approval up."""

    def loose(self, state: State, node: Node, given: Approval, now: Ns) -> Approval:  # noqa: ARG002
        """See ``_Unbound``."""
        return replace(given, attempt="")


class WithoutBindingAndConsumption(WithoutBinding):
    """Both: each of the two alone still keeps an approval from serving twice."""

    def loose(self, state: State, node: Node, given: Approval, now: Ns) -> Approval:
        """See ``_Unbound``."""
        return replace(super().loose(state, node, given, now), attempt="")


class WithoutMonotone(Without):
    """The last answer counts, whatever was known before."""

    def seen(self, state: State, request: rq.AnyRequest, now: Ns) -> State:  # noqa: ARG002
        """The state in which the attempt has not answered yet."""
        attempt = (
            state.attempts.get(request.attempt) if isinstance(request, rq.Report | rq.Reconcile) else None
        )
        if attempt is None:
            return state
        fresh = replace(attempt, interaction=Interaction.DISPATCHED, accepted=False)
        return replace(state, attempts=state.attempts.set(attempt.id, fresh))


class WithoutRecovery(AuthorityService):
    """An answer that was lost stays lost: no device is asked, and no evidence is looked at for it."""

    def _commit(self, episode: str, state: State, request: rq.AnyRequest, now: Ns) -> Decision:
        if isinstance(request, rq.Reconcile | rq.Report | rq.Assess):
            attempt = state.attempts.get(request.attempt)
            unknown = attempt is not None and (attempt.interaction is Interaction.LOST or attempt.doubtful)
            if isinstance(request, rq.Reconcile) or unknown:
                return void(decide(state, request, now), "nobody looks that up")
        if isinstance(request, rq.Dispatch):
            request = replace(request, assessed=())
        return super()._commit(episode, state, request, now)


VARIANTS: dict[str, type[AuthorityService]] = {
    "everything": AuthorityService,
    "no binding": WithoutBinding,
    "no generation": WithoutGeneration,
    "no consumption": WithoutConsumption,
    "no binding, no consumption": WithoutBindingAndConsumption,
    "no monotone answers": WithoutMonotone,
    "no recovery of unknowns": WithoutRecovery,
}
"""By the name of the column."""
