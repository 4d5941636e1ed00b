"""What a capability node concludes about attempts that it finds open, with an authority that is scripted."""

import msgspec
import pytest
from adf_ea_ros.action import Execute
from rclpy.parameter import Parameter
from rclpy.task import Future
from test_parts import ORDER
from world import CONTRACTS

from adf_ea_ros.authority.model import Interaction
from adf_ea_ros.nodes.capability import CapabilityNode
from adf_ea_ros.runtime.port import Unreachable
from adf_ea_ros.runtime.public import not_ready

pytestmark = pytest.mark.ros

OPEN = msgspec.structs.replace(
    ORDER,
    interaction=Interaction.DISPATCHED,
    verdict=None,
    negative=False,
    doubtful=False,
    cancel_requested=False,
    deadline=2**62,
)


class Script:
    """An authority of which the test says when it answers."""

    def __init__(self):
        self.open, self.reports = [], []
        self.listing, self.admission = Future(), Future()
        self.listing.set_result(None)

    async def admit(self, episode, step, provider, generation):
        await self.admission
        raise Unreachable("no answer")

    async def open_attempts(self, provider):
        found = [order for order in self.open if order.provider == provider]
        await self.listing
        return found

    async def report(self, attempt, answer, interaction, detail):
        self.reports.append((attempt, interaction))
        self.open = [order for order in self.open if order.id != attempt]
        return not_ready("Report", attempt, "noted")

    async def look(self, attempt):
        return None

    def watch(self, listener):
        pass

    def on_late(self, listener):
        pass


@pytest.fixture
def port():
    return Script()


@pytest.fixture
def node(watcher, port):
    parameters = [
        Parameter("contracts", value=[str(path) for path in CONTRACTS]),
        Parameter("providers", value=["heater_a"]),
        Parameter("device_wait", value=0.1),
    ]
    made = CapabilityNode(context=watcher.context, parameter_overrides=parameters, port=port)
    watcher._executor.add_node(made)
    yield made
    watcher._executor.remove_node(made)
    made.destroy_node()


def test_an_admission_on_its_way_is_nobodys_failure(watcher, node, port):
    watcher.until(lambda: not node.reconciler.wanted and not node.reconciler._busy, what="first contact")
    port.open, port.listing = [OPEN], Future()
    node.reconciler.wanted = True
    watcher.until(lambda: node.reconciler._busy, what="a question for open attempts")
    # While its answer, which names the new attempt, is on the way, so is the answer to the admission.
    watcher._executor.create_task(node._admit, "heater_a", Execute.Goal(episode="e", step="heat"))
    watcher.until(lambda: node.errands.admitting == 1, what="a request to admit")
    port.listing.set_result(None)
    watcher.until(lambda: not node.reconciler._busy, what="the end of the round")
    assert port.reports == []
    # Given up, it is settled: nobody has sent it.
    port.admission.set_result(None)
    watcher.until(lambda: port.reports, what="a report")
    assert port.reports == [(OPEN.id, Interaction.NEVER_ACCEPTED)]


def test_an_attempt_of_a_predecessor_is_asked_about(watcher, node, port):
    port.open = [OPEN]
    watcher.until(lambda: node.reconciler._past, what="first contact")
    watcher.until(lambda: not node.reconciler._busy, what="the end of the round")
    # The heater is not there, and its deadline has not passed: nothing is known.
    assert port.reports == []
    assert node.reconciler.wanted
