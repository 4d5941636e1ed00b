"""Two capability nodes for one provider: neither acts for it, as soon as it is no dead predecessor."""

import pytest
from adf_ea_ros.action import Execute
from rclpy.action import ActionServer
from rclpy.parameter import Parameter
from std_msgs.msg import String
from world import CONTRACTS

from adf_ea_ros.nodes import rivals
from adf_ea_ros.nodes.capability import CapabilityNode
from adf_ea_ros.nodes.names import INSTANCES

pytestmark = pytest.mark.ros


@pytest.fixture
def make(watcher):
    made = []

    def start(name, *providers):
        parameters = [
            Parameter("contracts", value=[str(path) for path in CONTRACTS]),
            Parameter("providers", value=list(providers)),
            Parameter("authority_wait", value=0.1),
        ]
        made.append(CapabilityNode(name, context=watcher.context, parameter_overrides=parameters))
        watcher._executor.add_node(made[-1])
        return made[-1]

    def end(node):
        made.remove(node)
        watcher._executor.remove_node(node)
        for server in node._servers:  # they outlive their node otherwise, in one process
            server.destroy()
        node.destroy_node()

    start.end = end
    yield start
    while made:
        end(made[-1])


@pytest.fixture
def admit(watcher):
    def ask(node, provider):
        said = []

        async def work():
            said.append(await node._admit(provider, Execute.Goal(episode="e", step="heat")))

        watcher._executor.create_task(work)
        ruling, order = watcher.until(lambda: said, what="answer")[0]
        assert order is None
        return ruling.sentence

    return ask


def test_living_rivals_know_of_each_other_at_once(watcher, make, admit):
    one, two = make("one", "heater_a", "heater_b"), make("two", "heater_a", "probe")

    def both():
        return all(node.reconciler.rivals.reason("heater_a") for node in (one, two))

    watcher.until(both, rivals.DYING / 4, "both of them to notice")
    assert "another node (process" in admit(one, "heater_a")
    assert "offers /execute/heater_a too" in admit(two, "heater_a")
    assert "another node" not in admit(one, "heater_b")
    assert "another node" not in admit(two, "probe")
    make.end(two)
    watcher.until(lambda: not one.reconciler.rivals.reason("heater_a"), what="the end of the rival")
    assert "another node" not in admit(one, "heater_a")


def test_one_that_stays_without_a_word_is_no_dead_predecessor(watcher, make, admit, monkeypatch):
    node = make("one", "heater_a", "heater_b")
    assert "another node" not in admit(node, "heater_a")
    rival = ActionServer(watcher.node, Execute, "execute/heater_a", lambda handle: Execute.Result())
    found = node.reconciler.rivals
    watcher.until(lambda: found.suspected("heater_a"), what="the rival")
    assert "another node" not in admit(node, "heater_a")  # it may be one that was killed a moment ago
    monkeypatch.setattr(rivals, "DYING", 0.0)
    assert "another node (which says nothing) offers /execute/heater_a too" in admit(node, "heater_a")
    assert "another node" not in admit(node, "heater_b")
    rival.destroy()
    watcher.until(lambda: not found.suspected("heater_a"), what="the end of the rival")
    assert "another node" not in admit(node, "heater_a")


def test_nonsense_from_elsewhere_changes_nothing(watcher, make, admit):
    node = make("one", "heater_a")
    publisher = watcher.node.create_publisher(String, f"/{INSTANCES}", 10)
    watcher.until(lambda: publisher.get_subscription_count() == 1, what="the subscription")
    for text in ("", "{}", '{"instance": "x", "providers": ["heater_b"], "who": "x"}'):
        publisher.publish(String(data=text))
    assert "another node" not in admit(node, "heater_a")
    assert not node.reconciler.rivals.suspected("heater_a")
