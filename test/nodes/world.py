"""The demo rig, an authority and capability nodes as processes, and a planner to talk to them."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

from adf_ea_ros.action import Execute
from adf_ea_ros.msg import Heatings
from builtin_interfaces.msg import Duration
from rcl_interfaces.srv import SetParameters
from rclpy.action import ActionClient
from rclpy.parameter import Parameter

from adf_ea_ros import msg, srv
from adf_ea_ros.nodes.names import execute_action
from adf_ea_ros.nodes.support import latched
from adf_ea_ros.testing.waiting import TimedOut

CONFIG = Path(__file__).parents[2] / "config"
CONTRACTS = [
    *(CONFIG / "contracts" / f"{name}.yaml" for name in ("heat_to", "measure", "record")),
    *(
        CONFIG / "providers" / f"{name}.yaml"
        for name in ("heater_a", "heater_b", "probe", "recorder_a", "recorder_b", "archive")
    ),
]
TASK = CONFIG / "tasks" / "heat_measure_record.yaml"
PLAN = [
    msg.Step(id="heat", capability="heat_to", arguments='{"sample": "s1", "target": 80}'),
    msg.Step(id="measure", capability="measure", arguments='{"sample": "s1"}', after=["heat"]),
    msg.Step(id="record", capability="record", arguments='{"sample": "s1"}', after=["measure"]),
]
REFUSED, VERIFIED, UNVERIFIED, ABSENT = (
    Execute.Result.REFUSED,
    Execute.Result.VERIFIED,
    Execute.Result.UNVERIFIED,
    Execute.Result.ABSENT,
)
RIG = "adf_ea_ros.nodes.sim_rig"
AUTHORITY = "adf_ea_ros.nodes.authority_main"
CAPABILITY = "adf_ea_ros.nodes.capability_main"
COMPOSED = "adf_ea_ros.nodes.composed_main"


def listed(paths):
    return "[" + ",".join(map(str, paths)) + "]"


def ros_args(parameters):
    words = (f"{name.replace('__', '.')}:={value}" for name, value in parameters.items())
    return ["--ros-args", *(part for word in words for part in ("-p", word))]


class Goal:
    """An assured goal on its way."""

    def __init__(self, world, handle):
        self.world, self.handle = world, handle
        self.feedback = []
        self.future = handle.get_result_async()

    def result(self, timeout=60.0):
        response = self.world.watcher.result(self.future, timeout, "result of an assured goal")
        self.status = response.status
        return response.result

    def cancel(self):
        return self.world.watcher.result(self.handle.cancel_goal_async(), what="answer to a cancel request")


ONCE = {
    "start_episode": ("Begin",),
    "admit": ("Dispatch",),
    "observe": ("Observe",),
    "approve": ("Approve", "Withdraw"),
    "stop_episode": ("Stop",),
}
"""What does something else when it is asked twice, and the decisions that show that it was heard."""


class World:
    def __init__(self, start, watcher, folder):
        self.watcher, self.folder = watcher, folder
        self._start, self.processes = start, []
        self.decisions = watcher.collect(msg.Decision, "/authority/decisions", latched(100))
        self.heatings = watcher.collect(Heatings, "/rig/heatings", latched(1))
        self.episode = ""

    def tell(self):
        """Print what happened."""
        for d in self.decisions:
            sign = "+" if d.authorized else "-"
            print(
                d.generation, d.header.stamp.sec, d.request, d.subject, sign, *d.rules, *d.reasons, d.sentence
            )
        for process in self.processes:
            print(process.command[2], process.output)

    # -- processes

    def start(self, *command):
        self.processes.append(self._start(*command))
        return self.processes[-1]

    def rig(self, **parameters):
        return self.start(RIG, *ros_args({"samples": "[s1]", "clock__factor": 20.0, **parameters}))

    def _authority_parameters(self):
        return {
            "contracts": listed(CONTRACTS),
            "tasks": listed([TASK]),
            "ledger": self.folder / "ledger.db",
            "use_sim_time": "true",
        }

    def authority(self, wait=True, **parameters):
        process = self.start(AUTHORITY, *ros_args({**self._authority_parameters(), **parameters}))
        if wait:
            process.wait_for_line("active: generation", 40)
        return process

    def capability(self, wait=True, **parameters):
        given = {"contracts": listed(CONTRACTS), "use_sim_time": "true", "authority_wait": 10.0, **parameters}
        process = self.start(CAPABILITY, *ros_args(given))
        if wait:
            process.wait_for_line("in contact with the authority", 40)
        return process

    def composed(self, **parameters):
        process = self.start(COMPOSED, *ros_args({**self._authority_parameters(), **parameters}))
        process.wait_for_line("active: generation", 40)
        return process

    def set_up(self, composed=False, **rig):
        """Everything, with an episode under way."""
        self.rig(**rig)
        if composed:
            self.composed()
        else:
            self.authority()
            self.capability()
        self.begin()

    def set_parameter(self, node, name, value):
        client = self.watcher.node.create_client(SetParameters, f"{node}/set_parameters")
        self.watcher.until(client.service_is_ready, what=f"parameters of {node}")
        request = SetParameters.Request(parameters=[Parameter(name, value=value).to_parameter_msg()])
        assert self.watcher.result(client.call_async(request)).results[0].successful

    # -- requests

    def call(self, name, **fields):
        kind = {
            "list_capabilities": srv.ListCapabilities,
            "start_episode": srv.StartEpisode,
            "get_episode": srv.GetEpisode,
            "revise_proposal": srv.ReviseProposal,
            "admit": srv.Admit,
            "report": srv.Report,
            "list_attempts": srv.ListAttempts,
            "observe": srv.Observe,
            "claim_completion": srv.ClaimCompletion,
            "stop_episode": srv.StopEpisode,
            "set_availability": srv.SetAvailability,
            "halt": srv.Halt,
            "approve": srv.Approve,
            "advise": srv.Advise,
        }[name]
        client = self.watcher.node.create_client(kind, f"/authority/{name}")
        self.watcher.until(client.service_is_ready, what=f"service {name}")
        try:
            return self.watcher.result(self._answered(client, name, kind.Request(**fields)))
        finally:
            self.watcher.node.destroy_client(client)

    def _answered(self, client, name, request):
        """A killed authority stays in the graph for a while, and what it is asked is lost without a word."""
        for _ in range(3):
            seen = len(self.decisions)
            future = client.call_async(request)
            with suppress(TimedOut):
                self.watcher.until(future.done, 10.0, f"answer of {name}")
                break
            if any(d.request in ONCE.get(name, ()) for d in self.decisions[seen:]):
                break
        return future

    def begin(self, steps=PLAN):
        started = self.call("start_episode", task="heat_measure_record", planner="test")
        assert started.started, started.decision.sentence
        self.episode = started.episode
        said = self.call("revise_proposal", episode=self.episode, steps=steps, author="test").decision
        assert said.authorized, said.sentence

    def goal(self, step, provider, evidence_timeout=0, **fields):
        client = ActionClient(self.watcher.node, Execute, execute_action(provider))
        self.watcher.until(client.server_is_ready, what=f"action of {provider}")
        goal = Execute.Goal(
            episode=fields.get("episode", self.episode),
            step=step,
            provider=fields.get("named", provider),
            evidence_timeout=Duration(sec=evidence_timeout),
        )
        feedback = []
        handle = self.watcher.result(self._sent(client, goal, feedback), what="goal")
        assert handle.accepted
        running = Goal(self, handle)
        running.feedback = feedback
        return running

    def _sent(self, client, goal, feedback):
        """The answer to the goal may get lost while both sides are still discovering each other."""
        for _ in range(4):
            future = client.send_goal_async(goal, lambda m: feedback.append(m.feedback))
            end = time.monotonic() + 5.0
            while not future.done() and time.monotonic() < end:
                self.watcher.spin()
            if future.done():
                break
        return future

    def run(self, step, provider, **fields):
        return self.goal(step, provider, **fields).result()

    def claim(self):
        """Claim completion until the last evidence is in."""
        return self.watcher.until(
            lambda: self.call("claim_completion", episode=self.episode).decision.authorized, what="completion"
        )

    def seen(self, what, **fields):
        """Wait for a decision with these fields, and reason codes."""
        reasons = set(fields.pop("reasons", ()))

        def found():
            return next(
                (
                    d
                    for d in self.decisions
                    if reasons <= set(d.reasons) and all(getattr(d, k) == v for k, v in fields.items())
                ),
                None,
            )

        return self.watcher.until(found, 40, what)

    def logged(self, text):
        """Wait until a process has printed this: what it prints takes its own time."""
        self.watcher.until(lambda: any(text in process.output for process in self.processes), what=text)

    def attempt(self, number=1):
        """The attempt as the authority sees it now."""
        episode = self.call("get_episode", episode=self.episode).episode
        return next((a for a in episode.attempts if a.id == f"{self.episode}.{number}"), None)

    @property
    def heated(self):
        """How often the rig counted a heating."""
        self.watcher.until(lambda: self.heatings, what="count of heatings")
        return self.heatings[-1].total
