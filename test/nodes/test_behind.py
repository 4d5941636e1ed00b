"""A readback that is behind catches up in a few rounds of the executor."""

import pytest
from rclpy.qos import QoSProfile
from sensor_msgs.msg import Temperature
from std_msgs.msg import Header
from world import CONTRACTS

from adf_ea_ros.contracts.catalog import Catalog
from adf_ea_ros.evidence.buffer import RouteBuffer
from adf_ea_ros.nodes.readbacks import BEHIND, Readback
from adf_ea_ros.nodes.support import to_msg

pytestmark = pytest.mark.ros


def test_messages_that_wait_are_taken_many_in_a_round(watcher):
    provider = Catalog.load([str(path) for path in CONTRACTS]).provider("probe")
    taken = []
    readback = Readback(
        watcher.node, "probe/temperature", provider, provider.routes["temperature"],
        lambda sample: taken.append(sample.value), RouteBuffer("probe/temperature"), sim_time=False,
    )  # fmt: skip
    topic = provider.routes["temperature"].topic
    publisher = watcher.node.create_publisher(Temperature, topic, QoSProfile(depth=100))

    def publish(value):
        stamp = to_msg(watcher.node.get_clock().now().nanoseconds)
        publisher.publish(Temperature(header=Header(stamp=stamp, frame_id="s1"), temperature=float(value)))

    def first():
        publish(-1)
        return readback.received

    watcher.until(first, what="the first message")
    before = readback.received
    for value in range(2 * BEHIND):
        publish(value)
    assert publisher.wait_for_all_acked()
    rounds = 0
    while readback.received - before < 2 * BEHIND:
        watcher.spin()
        rounds += 1
    assert rounds < BEHIND
    readback.release()
    assert all(count == 0 for count in readback.refused.values())
    readback.close()
