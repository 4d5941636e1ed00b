"""Devices of every kind of interface, each with a witness of its own, and their contracts with gates.

An oven and a calculator (actions), a door and a lamp (services), a valve (a command topic).
"""

from __future__ import annotations

import json

from adf_ea_ros.action import Heat
from rclpy.action import ActionServer, CancelResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node
from rclpy.task import Future
from sensor_msgs.msg import Temperature
from std_msgs.msg import Bool, Float64, Header, Int32
from std_srvs.srv import SetBool
from test_msgs.action import Fibonacci
from test_msgs.srv import BasicTypes

from adf_ea_ros.nodes.support import Ticker

OBSERVE = ["observe", "stop"]


def interruption(*, repeats):
    return {
        "effect_absent": ["retry", "stop"] if repeats else OBSERVE,
        "evidence_insufficient": OBSERVE,
        "evidence_conflicting": OBSERVE,
        "outcome_unknown": OBSERVE,
        "provider_unavailable": ["stop"],
        "state_lost": ["repair", "stop"] if repeats else ["stop"],
        **({"retry": {"limit": 1, "replay": "when_absent"}} if repeats else {}),
    }


def promises(kind):
    """A command topic never answers, so that its time is what ends it."""
    if kind == "topic":
        return {"commit_bound": "200 ms"}
    return {"query": kind == "action", "final_on_result": True, "commit_bound": "20 s"}


def document(kind, name, /, **fields):
    return {"spec": "adf_ea_ros/1", "kind": kind, "id": name, "version": "1.0.0", **fields}


def device(name, capability, witness, tool, route, /, *, subject, parameters, condition, event=False, **gate):
    """Capability, provider, witness and gate of one device."""
    tool_name = f"/{name}/{tool.pop('name')}"
    return [
        document(
            "capability",
            capability,
            subject=subject,
            parameters=parameters,
            effects={"done": {"kind": "event" if event else "state", "condition": condition}},
            evidence={"seen": {"effect": "done", "role": "INDEPENDENT_SENSOR", "max_age": "1 s"}},
            interruption=interruption(repeats=not event),
        ),
        document(
            "provider",
            name,
            lifecycle="active",
            node=f"/{name}",
            evidence={"seen": [f"{witness}/{route[0]}"]},
            tool={
                "name": tool_name,
                "provides": capability,
                "deadline": "20 s",
                "promises": promises(tool["kind"]),
                **tool,
            },
        ),
        document(
            "provider",
            witness,
            lifecycle="active",
            node=f"/{witness}",
            routes={route[0]: {"topic": f"/{witness}/{route[0]}", "path": condition["path"], **route[1]}},
        ),
        document(
            "gate",
            f"{name}_gate",
            name=f"/gate/{name}",
            provider=name,
            task="anything",
            **{"redundant": "reject", "evidence_timeout": "2 s", **gate},
        ),
    ]


def around(argument, by, **more):
    return {**more, "gte": {"argument": argument, "plus": -by}, "lte": {"argument": argument, "plus": by}}


DOCUMENTS = [
    document("task", "anything", standing=True, budgets={"physical": 100, "observation": 10}),
    *device(
        "oven",
        "bake",
        "thermometer",
        {
            "kind": "action",
            "name": "heat",
            "type": "adf_ea_ros/action/Heat",
            "arguments": {"sample": "sample", "target": "target"},
        },
        (
            "temperature",
            {
                "type": "sensor_msgs/msg/Temperature",
                "subject": {"field": "header.frame_id"},
                "value": {"field": "temperature"},
                "stamp": "header.stamp",
                "unit": "degC",
            },
        ),
        subject="{sample}",
        parameters={
            "sample": {"type": "string", "pattern": "[a-z0-9]+"},
            "target": {"type": "number", "unit": "degC"},
        },
        condition=around("target", 1, path="temperature", unit="degC"),
    ),
    *device(
        "calculator",
        "compute",
        "printer",
        {
            "kind": "action",
            "name": "fibonacci",
            "type": "test_msgs/action/Fibonacci",
            "arguments": {"order": "order"},
        },
        (
            "computed",
            {"type": "std_msgs/msg/Int32", "subject": {"const": "fibonacci"}, "value": {"field": "data"}},
        ),
        subject="fibonacci",
        parameters={"order": {"type": "integer", "minimum": 1, "maximum": 40}},
        condition={"path": "computed/order", "eq": {"argument": "order"}},
        event=True,
    ),
    *device(
        "door",
        "door_set",
        "contact",
        {"kind": "service", "name": "set", "type": "std_srvs/srv/SetBool", "arguments": {"data": "open"}},
        ("open", {"type": "std_msgs/msg/Bool", "subject": {"const": "door"}, "value": {"field": "data"}}),
        subject="door",
        parameters={"open": {"type": "boolean"}},
        condition={"path": "door/open", "eq": {"argument": "open"}},
        redundant="succeed",
    ),
    *device(
        "lamp",
        "lamp_set",
        "photocell",
        {
            "kind": "service",
            "name": "set",
            "type": "test_msgs/srv/BasicTypes",
            "arguments": {"bool_value": "lit"},
        },
        ("lit", {"type": "std_msgs/msg/Bool", "subject": {"const": "lamp"}, "value": {"field": "data"}}),
        subject="lamp",
        parameters={"lit": {"type": "boolean"}},
        condition={"path": "lamp/lit", "eq": {"argument": "lit"}},
        reply={"verified": {"int32_value": 1}, "refused": {"int32_value": -1}, "text": "string_value"},
    ),
    *device(
        "valve",
        "valve_set",
        "gauge",
        {
            "kind": "topic",
            "name": "command",
            "type": "std_msgs/msg/Float64",
            "arguments": {"data": "position"},
        },
        (
            "position",
            {"type": "std_msgs/msg/Float64", "subject": {"const": "valve"}, "value": {"field": "data"}},
        ),
        subject="valve",
        parameters={"position": {"type": "number", "minimum": 0, "maximum": 1}},
        condition=around("position", 0.01, path="valve/position"),
    ),
]
DOCUMENTS.append(
    document(
        "gate",
        "lamp_as_sent",
        name="/gate/lamp_as_sent",
        provider="lamp",
        task="anything",
        redundant="reject",
        forward="as_sent",
        reply={"refused": {"int32_value": -1}},
    )
)


def write_contracts(path):
    """All of it as one file: YAML takes JSON."""
    path.write_text("\n---\n".join(json.dumps(document) for document in DOCUMENTS))
    return path


class Devices:
    """The devices, in the test's own process: what they do and what they say is set apart."""

    def __init__(self, watcher):
        self.watcher, self.nodes = watcher, []
        self.group = ReentrantCallbackGroup()
        self.works = True
        self.answers = True
        self.carried_out = []
        self.held = {}
        self.ticker = Ticker()
        oven, calculator, door, lamp, valve = map(self._node, ("oven", "calculator", "door", "lamp", "valve"))
        self.thermometer = self._witness("thermometer", Temperature, "temperature")
        self.printer = self._witness("printer", Int32, "computed")
        self.state = {"contact": ("open", Bool, False), "photocell": ("lit", Bool, False)}
        self.state["gauge"] = ("position", Float64, 0.0)
        self.kept = {name: self._witness(name, kind, topic) for name, (topic, kind, _) in self.state.items()}
        self.servers = [
            ActionServer(
                oven,
                Heat,
                "/oven/heat",
                self._heat,
                callback_group=self.group,
                cancel_callback=lambda _: CancelResponse.REJECT,
            ),
            ActionServer(
                calculator, Fibonacci, "/calculator/fibonacci", self._fibonacci, callback_group=self.group
            ),
        ]
        door.create_service(SetBool, "/door/set", self._door, callback_group=self.group)
        lamp.create_service(BasicTypes, "/lamp/set", self._lamp, callback_group=self.group)
        valve.create_subscription(Float64, "/valve/command", self._valve, 10)
        valve.create_timer(0.05, self._publish)

    def _node(self, name):
        self.nodes.append(Node(name, context=self.watcher.context))
        self.watcher._executor.add_node(self.nodes[-1])
        return self.nodes[-1]

    def _witness(self, name, kind, topic):
        return self._node(name).create_publisher(kind, f"/{name}/{topic}", 10)

    def _publish(self):
        self.ticker.tick()
        for name, (_, kind, value) in self.state.items():
            self.kept[name].publish(kind(data=value))

    def _set(self, name, value):
        self.carried_out.append((name, value))
        if self.works:
            topic, kind, _ = self.state[name]
            self.state[name] = (topic, kind, value)
            self._publish()

    async def _heat(self, handle):
        """Ends when the test says so, with the temperature that it says."""
        sample = handle.request.sample
        self.held[sample] = Future()
        reached = await self.held[sample]
        stamp = self.watcher.node.get_clock().now().to_msg()
        self.thermometer.publish(
            Temperature(header=Header(frame_id=sample, stamp=stamp), temperature=reached)
        )
        handle.succeed()
        return Heat.Result(success=True, message=sample, reached=reached)

    async def _fibonacci(self, handle):
        sequence = [0, 1]
        for _ in range(handle.request.order - 1):
            sequence.append(sequence[-1] + sequence[-2])
            handle.publish_feedback(Fibonacci.Feedback(sequence=sequence))
            await self.ticker
        self.carried_out.append(("printer", handle.request.order))
        if self.works:
            self.printer.publish(Int32(data=handle.request.order))
        handle.succeed()
        return Fibonacci.Result(sequence=sequence)

    async def _door(self, request, response):
        self._set("contact", request.data)
        if not self.answers:
            await Future()
        response.success, response.message = True, "clack"
        return response

    def _lamp(self, request, response):
        self._set("photocell", request.bool_value)
        response.float64_value, response.int8_value = 0.25, request.int8_value
        return response

    def _valve(self, message):
        self._set("gauge", message.data)

    def close(self):
        for node in self.nodes:
            self.watcher._executor.remove_node(node)
            node.destroy_node()
