"""Every callback that a node hands to rclpy is guarded: whatever it is called by, it cannot end the node."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

NODES = Path(__file__).parents[2] / "adf_ea_ros" / "nodes"

# Which arguments are callbacks: positions counted from 0, and keywords.
CALLBACKS = {
    "create_subscription": ({2}, {"callback"}),
    "create_timer": ({1}, {"callback"}),
    "create_service": ({2}, {"callback"}),
    "create_guard_condition": ({0}, {"callback"}),
    "create_jump_callback": (set(), {"pre_callback", "post_callback"}),
    "create_task": ({0}, set()),
    "add_done_callback": ({0}, set()),
    "add_on_set_parameters_callback": ({0}, set()),
    "send_goal_async": ({1}, {"feedback_callback"}),
    "ActionServer": (
        {3},
        {"execute_callback", "goal_callback", "cancel_callback", "handle_accepted_callback"},
    ),
    "SubscriptionEventCallbacks": (set(), {"deadline", "liveliness", "matched", "incompatible_qos"}),
    "PublisherEventCallbacks": (set(), {"deadline", "liveliness", "matched", "incompatible_qos"}),
}
HARMLESS = {
    "support.py:create_guard_condition",  # does nothing: it is there to wake the executor
    "intake.py:create_service",  # what it does itself cannot fail; what it calls is guarded
    "client_async.py:create_timer",  # a planner's side: its two callbacks look and wake
    "client_async.py:add_done_callback",
    "client_async.py:send_goal_async",  # None, or guarded where it is made
    "sim_probe.py:ActionServer",  # its cancel callback is a constant
    "client.py:create_task",  # ``_forward`` and ``_settle`` hand every exception to the caller
}
"""FILE:FUNCTION of the callbacks that need no guard."""
FILES = sorted(path for path in NODES.rglob("*.py") if "demo" not in path.parts and "rqt" not in path.parts)


def unguarded(path: Path) -> list[str]:
    """FILE:FUNCTION:LINE of each callback that is not ``guard(...)``, nor a name that stands for one."""
    tree = ast.parse(path.read_text())
    named = {
        target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and _guards(node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    found = []
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        positions, keywords = CALLBACKS.get(name, (set(), set()))
        given = [value for at, value in enumerate(call.args) if at in positions]
        given += [keyword.value for keyword in call.keywords if keyword.arg in keywords]
        found += [f"{path.name}:{name}:{call.lineno}" for value in given if not _safe(value, named)]
    return found


def _safe(value: ast.expr, named: set[str]) -> bool:
    if isinstance(value, ast.IfExp):
        return _safe(value.body, named) and _safe(value.orelse, named)
    if isinstance(value, ast.Constant):
        return value.value is None
    return _guards(value) or (isinstance(value, ast.Name) and value.id in named)


def _guards(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and getattr(value.func, "id", "") == "guard"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_callback_is_guarded(path):
    found = [each for each in unguarded(path) if each.rpartition(":")[0] not in HARMLESS]
    assert not found, "wrap them in support.guard, or say here why they cannot fail"


def test_the_check_finds_what_is_not_guarded(tmp_path):
    path = tmp_path / "node.py"
    path.write_text(
        "node.create_timer(1.0, self._tick)\n"
        "taken = guard(node, 'x', self._take)\n"
        "node.create_subscription(Kind, 'x', taken, 10)\n"
        "future.add_done_callback(lambda done: print(done))\n"
    )
    assert unguarded(path) == ["node.py:create_timer:1", "node.py:add_done_callback:4"]
