"""The rig as a real process, seen through real DDS by a client in another process."""

import json
import sys
from uuid import UUID, uuid4

import pytest
import unique_identifier_msgs.msg
from action_msgs.msg import GoalStatus
from adf_ea_ros.action import Heat, Measure
from adf_ea_ros.msg import Heatings, Measurement, Record
from adf_ea_ros.srv import WriteRecord
from rcl_interfaces.srv import SetParameters
from rclpy.action import ActionClient
from rclpy.parameter import Parameter
from rclpy.qos import qos_profile_action_status_default
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Temperature

from adf_ea_ros.nodes.isolation import DomainLease
from adf_ea_ros.nodes.support import CLOCK, LATCHED, READBACK, from_msg
from adf_ea_ros.testing.process import NodeProcess
from adf_ea_ros.testing.watcher import Watcher

pytestmark = pytest.mark.ros

RIG = "adf_ea_ros.nodes.sim_rig"
SECOND = 1_000_000_000


def ros_args(**parameters):
    given = [f"{name.replace('__', '.')}:={value}" for name, value in parameters.items()]
    return ["--ros-args", *(part for text in given for part in ("-p", text))]


@pytest.fixture
def start_rig(node_process):
    return lambda **parameters: node_process(RIG, *ros_args(factor=50, **parameters))


class Client:
    """An action client of the rig, as a planner would write it."""

    def __init__(self, watcher, action_type, name):
        self.watcher = watcher
        self.client = ActionClient(watcher.node, action_type, name)
        watcher.until(self.client.server_is_ready, what=f"action {name}")

    def send(self, goal, goal_id=None):
        goal_id = unique_identifier_msgs.msg.UUID(uuid=list((goal_id or uuid4()).bytes))
        return self.watcher.result(self.client.send_goal_async(goal, goal_uuid=goal_id))

    def run(self, goal):
        handle = self.send(goal)
        assert handle.accepted
        return self.watcher.result(handle.get_result_async())


def heat(watcher, heater="heater_a"):
    return Client(watcher, Heat, f"/rig/{heater}/heat")


def goal(sample="sample_1", target=80.0):
    return Heat.Goal(sample=sample, target=target)


def readings(messages, sample="sample_1"):
    return [m for m in messages if m.header.frame_id == sample]


def hot(messages, sample="sample_1"):
    return [m for m in readings(messages, sample) if 79.0 <= m.temperature <= 81.0]


def seconds(messages):
    return [from_msg(m.header.stamp) / SECOND for m in messages]


class Statuses:
    """The last status of each goal of an action, from its status topic."""

    def __init__(self, watcher, action):
        self.messages = watcher.collect(
            Heat.Impl.GoalStatusMessage, f"{action}/_action/status", qos_profile_action_status_default
        )

    def _last(self, handle):
        for message in reversed(self.messages):
            for status in message.status_list:
                if status.goal_info.goal_id == handle.goal_id:
                    return status
        return None

    def __getitem__(self, handle):
        last = self._last(handle)
        return None if last is None else last.status

    def accepted(self, handle):
        """When the server accepted the goal, on its own clock."""
        return from_msg(self._last(handle).goal_info.stamp)


def set_parameter(watcher, node, name, value):
    client = watcher.node.create_client(SetParameters, f"/rig/{node}/set_parameters")
    watcher.until(client.service_is_ready, what=f"parameters of {node}")
    request = SetParameters.Request(parameters=[Parameter(name, value=value).to_parameter_msg()])
    return watcher.result(client.call_async(request)).results[0]


@pytest.mark.smoke
def test_heat_measure_record(start_rig, watcher, tmp_path):
    rig = start_rig(report=tmp_path / "report.json")
    temperatures = watcher.collect(Temperature, "/rig/probe/temperature", READBACK)
    measurements = watcher.collect(Measurement, "/rig/probe/measurements", LATCHED)
    records = watcher.collect(Record, "/rig/archive/records", LATCHED)

    result = heat(watcher).run(goal())
    assert (result.status, result.result.success, result.result.reached) == (
        GoalStatus.STATUS_SUCCEEDED,
        True,
        80.0,
    )
    watcher.until(lambda: len(hot(temperatures)) >= 3, what="three hot readings")
    stamps = seconds(hot(temperatures))
    assert [stamp - stamps[0] for stamp in stamps[:3]] == [0, 1, 2]
    assert stamps[0] == int(stamps[0])
    assert not hot(temperatures, "sample_2")

    measured = Client(watcher, Measure, "/rig/probe/measure").run(Measure.Goal(sample="sample_1"))
    assert (measured.status, measured.result.count) == (GoalStatus.STATUS_SUCCEEDED, 3)
    watcher.until(lambda: measurements, what="measurement")
    assert measurements[0].measurement_id == measured.result.measurement_id
    assert (measurements[0].complete, measurements[0].header.frame_id) == (True, "sample_1")
    assert measurements[0].mean == pytest.approx(80.0, abs=0.1)

    assert not any(record.exists for record in records)
    write = watcher.node.create_client(WriteRecord, "/rig/recorder_a/write")
    watcher.until(write.service_is_ready, what="recorder")
    answer = watcher.result(write.call_async(WriteRecord.Request(sample="sample_1")))
    assert answer.success
    record = watcher.until(lambda: next((r for r in records if r.exists), None), what="record")
    assert (record.record_id, record.writer, record.header.frame_id) == (
        answer.record_id,
        "recorder_a",
        "sample_1",
    )

    late = watcher.collect(Heatings, "/rig/heatings", LATCHED)
    watcher.until(lambda: late, what="latched count")
    assert (late[-1].total, late[-1].counts[0].heater) == (1, "heater_a")
    assert rig.interrupt() == 0
    assert rig.output.count("\n") == 1  # "heats sample_1 ...": neither tracebacks nor noise
    report = json.loads((tmp_path / "report.json").read_text())
    assert (report["heatings"], report["measurements"], report["records"]) == (1, 1, 1)


def test_each_device_is_a_node_of_its_own(start_rig, watcher):
    start_rig()
    expected = {"clock", "heater_a", "heater_b", "probe", "recorder_a", "recorder_b", "archive", "rig"}

    def nodes():
        return {name for name, space in watcher.node.get_node_names_and_namespaces() if space == "/rig"}

    watcher.until(lambda: nodes() == expected, what="all nodes")

    def publishers():
        return [(p.node_name, p.node_namespace) for p in watcher.node.get_publishers_info_by_topic(topic)]

    owners = {"/rig/probe/temperature": "probe", "/rig/archive/records": "archive", "/clock": "clock"}
    for topic, node in owners.items():
        watcher.until(lambda node=node: publishers() == [(node, "/rig")], what=f"{node} alone on {topic}")


def test_the_clock_moves_by_equal_steps_and_heats_in_logical_time(start_rig, watcher):
    start_rig(step_ms=100)
    clocks = watcher.collect(Clock, "/clock", CLOCK)
    statuses = Statuses(watcher, "/rig/heater_a/heat")
    handle = heat(watcher).send(goal())
    watcher.until(lambda: statuses[handle] is not None and clocks)
    first = statuses.accepted(handle)
    watcher.result(handle.get_result_async())
    watcher.until(lambda: from_msg(clocks[-1].clock) - first > 6 * SECOND)
    times = [from_msg(clock.clock) for clock in clocks]
    assert 100 * SECOND <= first <= times[-1]
    assert all(time % (SECOND // 10) == 0 for time in times)
    assert times == sorted(set(times))


@pytest.mark.parametrize(
    ("fault", "status", "becomes_hot"),
    [
        ("no_effect", GoalStatus.STATUS_SUCCEEDED, False),
        ("abort_without_effect", GoalStatus.STATUS_ABORTED, False),
        ("abort_with_effect", GoalStatus.STATUS_ABORTED, True),
        ("delayed_effect", GoalStatus.STATUS_SUCCEEDED, True),
    ],
)
def test_the_answer_and_the_effect_are_two_things(start_rig, watcher, fault, status, becomes_hot):
    start_rig(heater_a__fault=fault)
    temperatures = watcher.collect(Temperature, "/rig/probe/temperature", READBACK)
    counts = watcher.collect(Heatings, "/rig/heatings", LATCHED)
    result = heat(watcher).run(goal())
    assert (result.status, result.result.success) == (status, status == GoalStatus.STATUS_SUCCEEDED)
    seen = len(readings(temperatures))
    watcher.until(lambda: len(readings(temperatures)) >= seen + 20, what="twenty more readings")
    assert bool(hot(temperatures)) is becomes_hot
    assert counts[-1].total == int(becomes_hot)


def test_goals_out_of_range_and_unknown_samples_are_refused(start_rig, watcher):
    start_rig()
    client = heat(watcher)
    for refused in (goal(target=101.0), goal(target=float("nan")), goal(sample="sample_9")):
        assert not client.send(refused).accepted
    assert not Client(watcher, Measure, "/rig/probe/measure").send(Measure.Goal(sample="sample_9")).accepted


def test_a_goal_id_is_accepted_once(start_rig, watcher):
    start_rig()
    client, goal_id = heat(watcher), UUID(int=7)
    first = client.send(goal(), goal_id)
    watcher.result(first.get_result_async())
    assert not client.send(goal(), goal_id).accepted


def test_cancel_stops_the_heating(start_rig, watcher):
    start_rig(heater_a__ramp=1.0)  # a minute of logical time: no race with the end
    temperatures = watcher.collect(Temperature, "/rig/probe/temperature", READBACK)
    handle = heat(watcher).send(goal())
    assert watcher.result(handle.cancel_goal_async()).goals_canceling
    assert watcher.result(handle.get_result_async()).status == GoalStatus.STATUS_CANCELED
    watcher.until(lambda: len(readings(temperatures)) >= 10)
    assert not hot(temperatures)


def test_a_lost_result_is_lost_for_the_first_who_asks(start_rig, watcher):
    start_rig(heater_a__fault="lost_result", heater_a__fault_answers=1)
    counts = watcher.collect(Heatings, "/rig/heatings", LATCHED)
    statuses = Statuses(watcher, "/rig/heater_a/heat")
    handle = heat(watcher).send(goal())
    lost = handle.get_result_async()
    # The hardware is done, and says so on its status topic; the answer is what is missing.
    watcher.until(lambda: statuses[handle] == GoalStatus.STATUS_SUCCEEDED, what="success on the status topic")
    again = watcher.result(handle.get_result_async())
    assert (again.status, again.result.success) == (GoalStatus.STATUS_SUCCEEDED, True)
    assert not lost.done()
    assert counts[-1].total == 1


def test_a_lost_result_can_be_lost_for_ever_and_for_some_goals_only(start_rig, watcher):
    start_rig(heater_a__fault="lost_result", heater_a__fault_uses=1)
    client, statuses = heat(watcher), Statuses(watcher, "/rig/heater_a/heat")
    handle = client.send(goal())
    watcher.until(lambda: statuses[handle] == GoalStatus.STATUS_SUCCEEDED)
    lost = [handle.get_result_async() for _ in range(3)]
    # A later goal is answered: by then, so would the earlier requests have been.
    assert client.run(goal()).status == GoalStatus.STATUS_SUCCEEDED
    assert not any(future.done() for future in lost)


def test_a_stuck_goal_heats_keeps_executing_and_ignores_cancels(start_rig, watcher):
    start_rig(heater_a__fault="stuck")
    temperatures = watcher.collect(Temperature, "/rig/probe/temperature", READBACK)
    statuses = Statuses(watcher, "/rig/heater_a/heat")
    handle = heat(watcher).send(goal())
    watcher.until(lambda: len(hot(temperatures)) > 20, what="heat")
    assert statuses[handle] == GoalStatus.STATUS_EXECUTING
    assert not watcher.result(handle.cancel_goal_async()).goals_canceling


def test_devices_go_and_come_back(start_rig, watcher):
    start_rig(heater_a__fault="unavailable", recorder_a__fault="down")
    heat(watcher, "heater_b")
    client = ActionClient(watcher.node, Heat, "/rig/heater_a/heat")
    write = watcher.node.create_client(WriteRecord, "/rig/recorder_a/write")
    assert not client.server_is_ready()
    assert not write.service_is_ready()
    for node in ("heater_a", "recorder_a"):
        assert set_parameter(watcher, node, "fault", "none").successful
    watcher.until(client.server_is_ready, what="heater")
    watcher.until(write.service_is_ready, what="recorder")
    assert heat(watcher).run(goal()).status == GoalStatus.STATUS_SUCCEEDED
    for node, fault in (("heater_a", "unavailable"), ("recorder_a", "down")):
        assert set_parameter(watcher, node, "fault", fault).successful
    watcher.until(lambda: not client.server_is_ready() and not write.service_is_ready(), what="both gone")


def test_a_meaningless_fault_is_refused_while_running(start_rig, watcher):
    start_rig()
    for node, name, value in (
        ("heater_a", "fault", "melts"),
        ("heater_a", "fault_uses", -1),
        ("heater_a", "fault_delay", "soon"),
        ("probe", "fault_age", -1.0),
        ("recorder_a", "fault", "no"),
    ):
        result = set_parameter(watcher, node, name, value)
        assert not result.successful, (node, name)
        assert result.reason
    assert heat(watcher).run(goal()).status == GoalStatus.STATUS_SUCCEEDED


def test_a_lost_reply_writes_and_does_not_block_the_next_request(start_rig, watcher):
    start_rig(recorder_a__fault="lost_reply", recorder_a__fault_uses=1)
    records = watcher.collect(Record, "/rig/archive/records", LATCHED)
    write = watcher.node.create_client(WriteRecord, "/rig/recorder_a/write")
    watcher.until(write.service_is_ready, what="recorder")
    lost = write.call_async(WriteRecord.Request(sample="sample_1"))
    watcher.until(lambda: any(record.exists for record in records), what="record")
    assert watcher.result(write.call_async(WriteRecord.Request(sample="sample_2"))).success
    assert not lost.done()


def test_dropped_readings_come_back(start_rig, watcher):
    start_rig(probe__fault="drop", probe__fault_samples=10)
    temperatures = watcher.collect(Temperature, "/rig/probe/temperature", READBACK)
    watcher.until(lambda: readings(temperatures), what="readings before the heating")
    statuses = Statuses(watcher, "/rig/heater_a/heat")
    handle = heat(watcher).send(goal())
    watcher.result(handle.get_result_async())
    watcher.until(lambda: hot(temperatures) and statuses[handle], what="a hot reading")
    # Three seconds of ramp, then ten readings that are missing.
    assert 10 < seconds(hot(temperatures))[0] - statuses.accepted(handle) / SECOND < 18


CLIENT = """
import sys
import rclpy
from rclpy.action import ActionClient
from adf_ea_ros.action import Heat
rclpy.init()
node = rclpy.create_node("planner")
client = ActionClient(node, Heat, "/rig/heater_a/heat")
client.wait_for_server()
future = client.send_goal_async(Heat.Goal(sample="sample_1", target=80.0))
rclpy.spin_until_future_complete(node, future)
print("accepted" if future.result().accepted else "refused", flush=True)
rclpy.spin(node)
"""


def test_the_rig_survives_the_sudden_death_of_a_client(start_rig, watcher, domain):
    start_rig(heater_a__ramp=2.0)
    counts = watcher.collect(Heatings, "/rig/heatings", LATCHED)
    temperatures = watcher.collect(Temperature, "/rig/probe/temperature", READBACK)
    with NodeProcess([sys.executable, "-c", CLIENT], domain.environment()) as client:
        client.wait_for_line("accepted")
        client.kill()
    # Hot for longer than the dwell at the set point: the heater is done, and takes the next goal.
    watcher.until(lambda: len(hot(temperatures)) >= 5, what="heat after the client's death")
    assert heat(watcher).run(goal()).status == GoalStatus.STATUS_SUCCEEDED
    watcher.until(lambda: counts[-1].total == 2, what="second heating")


def test_sigterm_in_mid_heating_is_clean_and_the_count_is_kept(start_rig, watcher, tmp_path):
    rig = start_rig(heater_a__fault="stuck", recorder_a__fault="lost_reply", report=tmp_path / "report.json")
    write = watcher.node.create_client(WriteRecord, "/rig/recorder_a/write")
    watcher.until(write.service_is_ready, what="recorder")
    write.call_async(WriteRecord.Request(sample="sample_1"))
    assert heat(watcher).send(goal()).accepted
    path = tmp_path / "report.json"
    watcher.until(lambda: path.exists() and json.loads(path.read_text())["records"] == 1, what="record")
    assert rig.terminate() == 0
    assert "Traceback" not in rig.output
    assert "never" not in rig.output  # neither awaited nor retrieved
    assert json.loads(path.read_text())["heatings"] == 1


def test_sigkill_keeps_the_count(start_rig, watcher, tmp_path):
    path = tmp_path / "report.json"
    rig = start_rig(report=path)
    heat(watcher).run(goal())
    watcher.until(
        lambda: path.exists() and json.loads(path.read_text())["heatings"] == 1, what="count in the file"
    )
    rig.kill()
    assert json.loads(path.read_text())["heatings"] == 1


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"heater_a__fault": "melts"}, "allowed are none, no_effect"),
        ({"heater_a__faut": "none"}, "heater_a has no parameter faut"),
        ({"heater_c__fault": "none"}, "there is no device heater_c"),
        ({"clock__factor": "fast"}, "wanted: float"),
        ({"step_ms": 300}, "one second is a multiple"),
        ({"samples": "[a, a]"}, "a name of its own"),
        ({"samples": "[]"}, "parameters:"),
        ({"report": "/no/such/folder/report.json"}, "no folder"),
        ({"probe__noise": -1.0}, "noise must not be negative"),
    ],
)
def test_a_rig_that_makes_no_sense_does_not_start(node_process, parameters, said):
    rig = node_process(RIG, *ros_args(**parameters))
    assert rig.wait() == 2
    assert said in rig.output
    assert "Traceback" not in rig.output


def test_two_rigs_do_not_hear_each_other(start_rig, watcher):
    start_rig(samples="[mine]")
    with DomainLease() as other:
        neighbour = NodeProcess.of_module(RIG, ros_args(samples="[theirs]"), other.environment())
        with neighbour, Watcher(other) as listener:
            here = watcher.collect(Temperature, "/rig/probe/temperature", READBACK)
            there = listener.collect(Temperature, "/rig/probe/temperature", READBACK)
            watcher.until(lambda: len(here) > 20)
            listener.until(lambda: len(there) > 20)
            assert {m.header.frame_id for m in here} == {"mine"}
            assert {m.header.frame_id for m in there} == {"theirs"}
            assert len(listener.node.get_publishers_info_by_topic("/clock")) == 1
