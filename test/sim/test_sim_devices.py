"""Devices made from contracts, as real nodes: the demo's contracts through the authority, with faults."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("rclpy", reason="real nodes need ROS")
pytest.importorskip("adf_ea_ros.msg", reason="real nodes need the built interfaces")

from adf_ea_ros.action import Execute
from rcl_interfaces.srv import SetParameters
from rclpy.parameter import Parameter

from adf_ea_ros.nodes.client import Planner, step

pytestmark = [pytest.mark.ros, pytest.mark.slow]

CONFIG = Path(__file__).parents[2] / "config"
CONTRACTS = [str(p) for name in ("contracts", "providers") for p in sorted((CONFIG / name).glob("*.yaml"))]


def in_real_time(path, folder):
    """The same contract for readbacks that come when they come, not each second of a simulated clock."""
    changed = folder / Path(path).name
    text = Path(path).read_text(encoding="utf-8")
    changed.write_text(text.replace("spacing: {least: 1 s, greatest: 1 s}", "spacing: {least: 50 ms}"))
    return changed


def given(**values):
    words = (f"{name}:={json.dumps(value)}" for name, value in values.items())
    return ["--ros-args", *(part for word in words for part in ("-p", word))]


def test_the_demos_contracts_are_carried_out_by_devices_made_from_them(
    node_process, watcher, domain, tmp_path
):
    contracts = [str(in_real_time(path, tmp_path)) for path in CONTRACTS]
    node_process("adf_ea_ros.nodes.sim_devices", *given(contracts=contracts, subjects=["s1"], duration=0.5))
    authority = node_process(
        "adf_ea_ros.nodes.composed_main",
        *given(contracts=contracts, tasks=[str(CONFIG / "tasks")], ledger=str(tmp_path / "ledger.db")),
    )
    authority.wait_for_line("active: generation", 40.0)
    with Planner(domain_id=domain.domain, timeout=20.0) as planner:
        planner.start("heat_measure_record")
        assert planner.propose([step("heat", "heat_to", sample="s1", target=80)]).authorized
        faults = watcher.node.create_client(SetParameters, "/rig/heater_a/set_parameters")
        watcher.until(faults.service_is_ready, what="parameters of the heater")

        def fault(name):
            request = SetParameters.Request(parameters=[Parameter("fault", value=name).to_parameter_msg()])
            return watcher.result(faults.call_async(request)).results[0].successful

        assert not fault("nonsense")
        assert fault("no_effect")
        result = planner.run("heat", "heater_a", timeout=60.0)
        assert (result.outcome, result.interaction) == (Execute.Result.ABSENT, 4)  # it answered SUCCEEDED
        assert fault("none")
        assert planner.run("heat", "heater_a", timeout=60.0).outcome == Execute.Result.VERIFIED


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"providers": ["heater_z"]}, "no active contract of heater_z"),
        ({"contracts": ["/no/such"]}, "/no/such"),
        ({"contracts": []}, "names no file or folder"),
    ],
)
def test_a_wrong_parameter_is_a_fault_at_the_start(node_process, changed, said):
    process = node_process(
        "adf_ea_ros.nodes.sim_devices",
        *given(**{"contracts": CONTRACTS, **changed} if changed.get("contracts", 1) else {}),
    )
    assert process.wait() == 2
    assert said in process.output
    assert "Traceback" not in process.output
