"""Two capability nodes for one provider: noticed, and refused once it is no dead predecessor."""

import pytest
from adf_ea_ros.action import Execute
from rclpy.action import ActionServer
from rclpy.parameter import Parameter
from world import CONTRACTS

from adf_ea_ros.nodes import reconcile
from adf_ea_ros.nodes.capability import CapabilityNode

pytestmark = pytest.mark.ros


@pytest.fixture
def node(watcher):
    parameters = [
        Parameter("contracts", value=[str(path) for path in CONTRACTS]),
        Parameter("providers", value=["heater_a", "heater_b"]),
        Parameter("authority_wait", value=0.1),
    ]
    made = CapabilityNode(context=watcher.context, parameter_overrides=parameters)
    watcher._executor.add_node(made)
    yield made
    watcher._executor.remove_node(made)
    made.destroy_node()


def test_a_second_node_for_a_provider_stops_both(watcher, node, monkeypatch):
    def admit(provider):
        said = []

        async def work():
            said.append(await node._admit(provider, Execute.Goal(episode="e", step="heat")))

        watcher._executor.create_task(work)
        ruling, order = watcher.until(lambda: said, what="answer")[0]
        assert order is None
        return ruling.sentence

    assert "another node" not in admit("heater_a")
    rival = ActionServer(watcher.node, Execute, "execute/heater_a", lambda handle: Execute.Result())
    watcher.until(lambda: "heater_a" in node.reconciler._rivals, what="the rival")
    assert "another node" not in admit("heater_a")  # it may be one that was killed a moment ago
    monkeypatch.setattr(reconcile, "DYING", 0.0)
    assert "another node offers /execute/heater_a too" in admit("heater_a")
    assert "another node" not in admit("heater_b")
    rival.destroy()
    watcher.until(lambda: not node.reconciler._rivals, what="the end of the rival")
    assert "another node" not in admit("heater_a")
