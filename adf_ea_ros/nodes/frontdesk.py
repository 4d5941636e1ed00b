"""The authority's services: messages to the desk and back. A request that fails is answered as a refusal."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec
from rclpy.callback_groups import CallbackGroup
from rclpy.duration import Duration

from adf_ea_ros import msg, srv
from adf_ea_ros.authority.shown import fact_names
from adf_ea_ros.contracts.model import Task
from adf_ea_ros.contracts.view import planner_view
from adf_ea_ros.nodes import convert
from adf_ea_ros.nodes.episodes import episode_msg
from adf_ea_ros.nodes.intake import Intake
from adf_ea_ros.nodes.support import REQUESTS, guard
from adf_ea_ros.runtime.book import latest
from adf_ea_ros.runtime.public import Ruling, refusal
from adf_ea_ros.runtime.standing import Asked

if TYPE_CHECKING:
    from adf_ea_ros.nodes.authority import AuthorityNode


AT_ONCE = {"report", "list_attempts", "set_availability", "halt", "approve"}
"""Services that no planner calls: they are few, and what they bring in must never wait behind a flood."""


class FrontDesk:
    """All services of one authority node, under its private names."""

    def __init__(self, node: AuthorityNode, group: CallbackGroup) -> None:
        """Offer them."""
        self._node, self._desk = node, node.desk
        self.intake = Intake(node, group, node.max_requests)
        services: list[tuple[Any, str, Callable[..., Any]]] = [
            (srv.ListCapabilities, "list_capabilities", self._list_capabilities),
            (srv.StartEpisode, "start_episode", self._start_episode),
            (srv.GetEpisode, "get_episode", self._get_episode),
            (srv.ReviseProposal, "revise_proposal", self._revise_proposal),
            (srv.Admit, "admit", self._admit),
            (srv.AdmitGoal, "admit_goal", self._admit_goal),
            (srv.Report, "report", self._report),
            (srv.ListAttempts, "list_attempts", self._list_attempts),
            (srv.Observe, "observe", self._observe),
            (srv.ClaimCompletion, "claim_completion", self._claim_completion),
            (srv.StopEpisode, "stop_episode", self._stop_episode),
            (srv.Advise, "advise", self._advise),
            (srv.SetAvailability, "set_availability", self._set_availability),
            (srv.Halt, "halt", self._halt),
            (srv.Approve, "approve", self._approve),
        ]
        self.services = [self._offer(kind, name, call, group) for kind, name, call in services]

    def _offer(self, kind: Any, name: str, call: Callable[..., Any], group: CallbackGroup) -> Any:
        """Whatever a planner can ask for waits in line; reports and operators do not."""
        failed = _failed(kind, name)
        if name in AT_ONCE:
            return self._node.create_service(
                kind,
                f"~/{name}",
                guard(self._node, f"service {name}", call, failed),
                qos_profile=REQUESTS,
                callback_group=group,
            )

        def overload(request: Any, why: str) -> Any:
            return _overload(kind, name, request, why, self._desk.now)

        first = self._arrival if name in ("admit", "admit_goal") else None
        return self.intake.offer(kind, name, call, failed, overload, first)

    async def _arrival(self, request: Any) -> None:
        await self._node.presence.arrival(request.provider)

    # -- for planners ----------------------------------------------------------------------------------

    def _list_capabilities(self, request: Any, response: Any) -> Any:
        catalog, now = self._node.catalog, self._desk.now
        response.tasks = [task.id for task in catalog.tasks()]
        response.generation = self._desk.generation
        task: Task | None = None
        if request.task:
            if request.task not in response.tasks:
                return response
            task = catalog.task(request.task)
        service = self._desk.service
        unavailable = service.unavailable if service is not None else {}
        for view in planner_view(catalog, now, task, unavailable=True).capabilities:
            providers = [p.id for p in catalog.bindable_providers(view.id, now) if p.id not in unavailable]
            response.capabilities.append(
                msg.Capability(
                    id=view.id,
                    version=view.version,
                    title=view.title,
                    description=msgspec.json.encode(view).decode(),
                    providers=providers,
                )
            )
        return response

    def _start_episode(self, request: Any, response: Any) -> Any:
        service, most = self._desk.service, self._node.max_episodes
        if service is not None and len(service.book.active()) >= most:
            text = f"{most} episodes are under way already: stop those that are of no more use"
            return _say(response, refusal("Begin", request.task, "X5.overload", text, self._desk.now))
        response.episode, said = self._desk.start_episode(request.task, request.planner)
        response.started = bool(response.episode)
        return _say(response, said)

    def _get_episode(self, request: Any, response: Any) -> Any:
        service = self._desk.service
        if service is None:
            return response
        name = request.episode or self._node.latest or latest(service.book.ledger)
        state = service.book.state(name) if name else None
        if state is not None:
            response.found = True
            response.episode = episode_msg(state, self._desk.now)
        return response

    def _advise(self, request: Any, response: Any) -> Any:
        found = self._desk.advise(request.episode or self._node.latest, request.horizon)
        if isinstance(found, str):
            response.error = found
            return response
        response.found, response.error, response.horizon = True, found.error, found.horizon
        response.advice = [convert.advice_msg(piece) for piece in found.pieces]
        response.open = [*found.open, f"assumed: {found.weights}"]
        response.handoff = msgspec.json.encode(found.handoff).decode()
        return response

    def _revise_proposal(self, request: Any, response: Any) -> Any:
        if len(request.steps) > self._node.max_steps:
            text = f"{len(request.steps)} steps are more than the {self._node.max_steps} of one proposal"
            return _say(response, refusal("Revise", request.author, "X5.overload", text, self._desk.now))
        steps = [convert.step_of(step) for step in request.steps]
        return _say(response, self._desk.revise(request.episode, steps, request.author))

    def _observe(self, request: Any, response: Any) -> Any:
        said = self._desk.observe(request.episode, request.step)
        service = self._desk.service
        state = service.book.state(request.episode) if service is not None else None
        if state is not None:
            node = state.proposal.nodes.get(request.step)
            names = fact_names([node.operation] if node is not None else [])
            found = [state.facts[name] for name in names if name in state.facts]
            attempt = state.attempts.get(said.attempt)
            found += attempt.findings if attempt is not None else ()
            response.facts = [convert.fact_msg(f) for f in found]
        return _say(response, said)

    def _claim_completion(self, request: Any, response: Any) -> Any:
        return _say(response, self._desk.claim(request.episode))

    def _stop_episode(self, request: Any, response: Any) -> Any:
        return _say(response, self._desk.stop(request.episode, request.by, request.reason, request.hand_to))

    # -- for capability nodes --------------------------------------------------------------------------

    def _admit(self, request: Any, response: Any) -> Any:
        said, order = self._desk.admit(request.episode, request.step, request.provider, request.generation)
        if order is not None:
            response.attempt = convert.attempt_msg(order)
        return _say(response, said)

    def _admit_goal(self, request: Any, response: Any) -> Any:
        asked = Asked(**{name: getattr(request, name) for name in Asked.__struct_fields__})
        said, order = self._desk.admit_goal(asked)
        if order is not None:
            response.attempt = convert.attempt_msg(order)
        return _say(response, said)

    def _report(self, request: Any, response: Any) -> Any:
        if request.answer not in convert.ANSWER_OF or request.interaction not in convert.INTERACTION_OF:
            text = f"answer {request.answer} with interaction {request.interaction} means nothing"
            return _say(response, refusal("Report", request.attempt, "X5.bad_request", text, self._desk.now))
        answer, interaction = convert.ANSWER_OF[request.answer], convert.INTERACTION_OF[request.interaction]
        return _say(response, self._desk.report(request.attempt, answer, interaction, request.detail))

    def _list_attempts(self, request: Any, response: Any) -> Any:
        response.attempts = [convert.attempt_msg(o) for o in self._desk.open_attempts(request.provider)]
        response.generation = self._desk.generation
        return response

    # -- for operators ---------------------------------------------------------------------------------

    def _set_availability(self, request: Any, response: Any) -> Any:
        if request.provider not in {p.id for p in self._node.catalog.providers()}:
            text = f"no provider {request.provider!r} is loaded"
            said = [refusal("SetAvailability", request.provider, "X5.bad_request", text, self._desk.now)]
        else:
            said = self._node.overrule(request.provider, request.reason, cancel=request.cancel)
        response.decisions = [convert.decision_msg(each) for each in said]
        return response

    def _halt(self, request: Any, response: Any) -> Any:
        said = self._desk.halt(request.by, request.reason) if request.halt else self._desk.resume(request.by)
        response.decisions = [convert.decision_msg(each) for each in said]
        return response

    def _approve(self, request: Any, response: Any) -> Any:
        """Give an approval, or take one back (rule X12)."""
        named = (request.episode, request.step, request.by, request.reason)
        valid_for = Duration.from_msg(request.valid_for).nanoseconds
        if request.withdraw:
            said, response.approval = self._desk.withdraw(*named)
        elif valid_for < 0:
            text = "valid_for is negative: zero is as long as the contract allows"
            said = refusal("Approve", request.step, "X5.bad_request", text, self._desk.now)
        else:
            said, response.approval = self._desk.approve(*named, valid_for)
        return _say(response, said)


def _say(response: Any, said: Ruling) -> Any:
    response.decision = convert.decision_msg(said)
    return response


def _overload(kind: Any, name: str, request: Any, why: str, now: int) -> Any:
    """The answer where the line is full. Nothing was decided, and nothing is recorded."""
    response = kind.Response()
    if hasattr(response, "decision"):
        response.decision = convert.decision_msg(refusal(name, "", "X5.overload", why, now))
    elif isinstance(response, srv.GetEpisode.Response):
        response.episode.id, response.episode.feedback = request.episode, f"X5.overload: {why}"
    elif hasattr(response, "error"):
        response.error = f"X5.overload: {why}"
    return response


def _failed(kind: Any, name: str) -> Callable[..., Any]:
    """Makes the answer of a request that raised: a refusal where the response has room for one."""

    def failed(*_: Any) -> Any:
        said = convert.decision_msg(
            refusal(
                name, "", "X5.bad_request", f"{name} failed on this request; the authority's log says why"
            )
        )
        response = kind.Response()
        if hasattr(response, "decision"):
            response.decision = said
        elif hasattr(response, "decisions"):
            response.decisions = [said]
        elif hasattr(response, "error"):
            response.error = said.sentence
        return response

    return failed
