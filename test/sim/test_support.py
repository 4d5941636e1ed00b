"""The main that every node shares, and the helpers that its tests share."""

import sys
from pathlib import Path

import pytest
from std_msgs.msg import String
from std_srvs.srv import Trigger

from adf_ea_ros.nodes.support import LATCHED, from_msg, to_msg
from adf_ea_ros.testing.process import NodeProcess
from adf_ea_ros.testing.waiting import TimedOut, wait_until

pytestmark = pytest.mark.ros

QUIET = """
import sys
from rclpy.duration import Duration
from rclpy.node import Node
from std_msgs.msg import String
from std_srvs.srv import Trigger
from adf_ea_ros.nodes.support import LATCHED, StartFault, declare, guard, run

class Quiet(Node):
    # Nothing ever wakes its executor but what the test does.
    def __init__(self):
        super().__init__("quiet")
        self.said = self.create_publisher(String, "said", LATCHED)
        self.said.publish(String(data="first words"))
        self.create_service(Trigger, "fail", guard(self, "failing", self.fail, self.failed))
        self.create_service(Trigger, "fail_later", guard(self, "failing later", self.fail_later, self.failed))
        self.create_subscription(String, "break", guard(self, "breaking", self.fail_now), 10)
        self.create_subscription(String, "endless", lambda _: self.endless.trigger(), 10)
        self.create_service(Trigger, "raw", self.fail)  # nobody guards this one
        self.endless = self.create_guard_condition(self.fail_for_ever)
        declare(self, "number", 1.0, "any number")

    def fail(self, request, response):
        raise RuntimeError("on purpose")

    async def fail_later(self, request, response):
        raise RuntimeError("later, on purpose")

    def fail_now(self, message):
        raise RuntimeError("at once, on purpose")

    def fail_for_ever(self):
        self.endless.trigger()
        raise RuntimeError("again, on purpose")

    def failed(self, request, response):
        response.message = "it failed"
        return response

    def close(self):
        self.said.publish(String(data="last words"))
        assert self.said.wait_for_all_acked(Duration(seconds=10))
        print("closed", flush=True)

def make():
    yield Quiet()
    print("made", flush=True)

sys.exit(run(make))
"""


@pytest.fixture
def quiet(domain):
    processes = []

    def start(*arguments):
        processes.append(NodeProcess([sys.executable, "-c", QUIET, *arguments], domain.environment()))
        return processes[-1]

    yield start
    for process in processes:
        process.end()


@pytest.mark.parametrize("stop", ["interrupt", "terminate"])
def test_a_signal_ends_an_idle_node_which_can_still_publish(quiet, watcher, stop):
    process = quiet()
    process.wait_for_line("made")
    heard = watcher.collect(String, "said", LATCHED)
    watcher.until(lambda: heard, what="first words")
    assert getattr(process, stop)() == 0
    assert "closed" in process.output
    assert "Traceback" not in process.output
    watcher.until(lambda: heard[-1].data == "last words", what="last words")


@pytest.mark.parametrize("service", ["fail", "fail_later"])
def test_a_failing_callback_is_answered_and_the_node_lives_on(quiet, watcher, service):
    process = quiet()
    client = watcher.node.create_client(Trigger, service)
    watcher.until(client.service_is_ready, what="service")
    for _ in range(2):
        answer = watcher.result(client.call_async(Trigger.Request()))
        assert (answer.success, answer.message) == (False, "it failed")
    process.wait_for_line("on purpose")
    assert process.terminate() == 0


def test_a_failing_subscription_does_not_end_the_node(quiet, watcher):
    process = quiet()
    publisher = watcher.node.create_publisher(String, "break", 10)
    watcher.until(lambda: publisher.get_subscription_count() == 1, what="subscription")
    publisher.publish(String())
    process.wait_for_line("at once, on purpose")
    assert process.running
    assert process.interrupt() == 0


def test_a_failure_outside_any_guard_does_not_end_the_node(quiet, watcher):
    process = quiet()
    raw = watcher.node.create_client(Trigger, "raw")
    watcher.until(raw.service_is_ready, what="service")
    for _ in range(30):  # more than may fail in a row: each is followed by something that succeeds
        raw.call_async(Trigger.Request())
        guarded = watcher.node.create_client(Trigger, "fail")
        watcher.until(guarded.service_is_ready, what="service")
        assert watcher.result(guarded.call_async(Trigger.Request())).message == "it failed"
        watcher.node.destroy_client(guarded)
    process.wait_for_line("outside a callback:(?s:.*)on purpose")
    assert process.terminate() == 0


def test_a_node_that_does_nothing_but_fail_ends(quiet, watcher):
    process = quiet()
    publisher = watcher.node.create_publisher(String, "endless", 10)
    watcher.until(lambda: publisher.get_subscription_count() == 1, what="subscription")
    publisher.publish(String())
    assert process.wait() == 1
    assert "again, on purpose" in process.output


def test_a_whole_number_will_do_for_a_float_and_a_word_will_not(quiet):
    process = quiet("--ros-args", "-p", "number:=2")
    process.wait_for_line("made")
    process.terminate()
    process = quiet("--ros-args", "-p", "number:=two")
    assert process.wait() == 2
    assert "parameter number is 'two', wanted: float" in process.output
    assert "Traceback" not in process.output


def test_arguments_that_cannot_be_parsed_are_told_without_a_traceback(quiet):
    process = quiet("--ros-args", "-p", "number:")
    assert process.wait() == 2
    assert "number:" in process.output
    assert "Traceback" not in process.output


@pytest.mark.parametrize("time", [0, 1, 999_999_999, 1_000_000_000, 1_700_000_000_123_456_789])
def test_time_survives_the_message(time):
    assert from_msg(to_msg(time)) == time


def test_wait_until_gives_the_value_and_spins_meanwhile():
    values = [0, None, "there"]
    assert wait_until(lambda: values[0], spin=lambda: values.pop(0)) == "there"


def test_wait_until_names_what_never_came():
    with pytest.raises(TimedOut, match=r"the thing did not come true within 0\.05 s"):
        wait_until(lambda: False, timeout=0.05, what="the thing")


def test_a_process_that_ends_early_is_not_waited_for():
    with (
        NodeProcess([sys.executable, "-c", "print('bye')"], {}) as process,
        pytest.raises(TimedOut, match=r"never printed 'hello'(?s:.*)bye"),
    ):
        process.wait_for_line("hello", timeout=60)


def test_a_process_that_ignores_signals_is_killed_with_its_children():
    script = """
import signal, subprocess, sys
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print("child", child.pid, flush=True)
child.wait()
"""
    with NodeProcess([sys.executable, "-c", script], {}) as process:
        child = int(process.wait_for_line(r"child (\d+)")[1])
        with pytest.raises(TimedOut):
            process.terminate(timeout=0.2)
        process.end(patience=0.2)
    assert not process.running
    wait_until(lambda: not is_running(child), what="the child's end")


def is_running(pid):
    """A killed orphan may stay as a zombie until init has time for it."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False
