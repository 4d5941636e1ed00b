"""The contract commands of ``adf-ea``, run as a user runs them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from adf_ea_ros.cli.main import COMMANDS, main

ROOT = Path(__file__).parents[2]
CONFIG = ROOT / "config"
BROKEN = ROOT / "test" / "contracts" / "broken"


class Done(NamedTuple):
    """How a command ended and what it wrote."""

    end: int
    stdout: str
    stderr: str


@pytest.fixture
def run(capsys, monkeypatch):
    """Runs ``adf-ea`` in this process; with ``ok`` None any end is right."""
    monkeypatch.setenv("COLUMNS", "110")
    monkeypatch.chdir(ROOT)

    def call(*arguments, ok: int | None = 0, cwd=None, **environment) -> Done:
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        if cwd is not None:
            monkeypatch.chdir(cwd)
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        done = Done(int(ended.value.code or 0), *capsys.readouterr())
        assert ok is None or done.end == ok, done.stdout + done.stderr
        return done

    return call


def python(code: str) -> str:
    """What a Python of its own prints for ``code``."""
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", code]
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=60, env=env, check=True
    ).stdout


@pytest.fixture
def prefix(tmp_path):
    """A prefix in which this package's interfaces are installed."""
    for kind in ("msg", "srv", "action"):
        shutil.copytree(ROOT / kind, tmp_path / "prefix" / "share" / "adf_ea_ros" / kind)
    return str(tmp_path / "prefix")


def test_check_of_what_is_shipped(run):
    done = run("check")
    assert done.stdout == ""
    assert "0 faults" in done.stderr
    assert "ros-$ROS_DISTRO-nav2-msgs brings it" in done.stderr


def test_check_tells_file_and_line(run):
    path = BROKEN / "form_role.yaml"
    done = run("check", path, ok=1)
    assert done.stdout.startswith(f"{path}:")
    assert "did you mean 'INDEPENDENT_SENSOR'?" in done.stdout
    rows = json.loads(run("check", "--json", path, ok=1).stdout)
    assert [(row["file"], row["path"]) for row in rows] == [(str(path), "evidence.warm_seen.role")]


def test_check_with_others(run):
    heater = CONFIG / "providers" / "heater_a.yaml"
    assert "no capability 'heat_to'" in run("check", heater, ok=1).stdout
    run("check", heater, "--with", CONFIG)
    done = run("check", heater, "--with", CONFIG, "--with", BROKEN / "form_role.yaml")
    assert done.stdout == ""


def test_check_compares_fields(run, tmp_path, prefix):
    provider = (
        (CONFIG / "providers" / "heater_a.yaml")
        .read_text()
        .replace("    target: target", "    taget: target")
    )
    path = tmp_path / "heater_a.yaml"
    path.write_text(provider.replace("rebinding:\n  to: [heater_b]\n", ""))
    using = [
        "--with",
        CONFIG / "contracts" / "heat_to.yaml",
        "--with",
        CONFIG / "providers" / "probe.yaml",
        "--with",
        CONFIG / "contracts" / "measure.yaml",
    ]
    done = run("check", path, *using, ok=1, AMENT_PREFIX_PATH=prefix)
    assert "no field 'taget'; did you mean 'target'?" in done.stdout
    run("check", "--no-interfaces", path, *using, AMENT_PREFIX_PATH=prefix)


def test_check_without_anything_to_check(run, tmp_path):
    assert "no .yaml or .yml file" in run("check", tmp_path, ok=1).stdout
    assert "cannot be read" in run("check", tmp_path / "absent.yaml", ok=1).stdout


def test_help_and_near_misses(run):
    text = run("--help").stdout
    for name in ("check", "draft", "finalize", "view", "schema"):
        assert name in COMMANDS
        assert name in text
        assert run(name, "--help").stdout.count("\n") > 8
    assert run("--version").stdout.strip().count(".") == 2
    assert "check" in run("chekc", ok=2).stderr
    assert "Usage" in run(ok=None).stdout + run(ok=None).stderr


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (("ch",), ["check"]),
        (("draft", "--from-t"), ["--from-topic"]),
        (("draft", "--from-action", "adf_ea_ros/action/He"), ["adf_ea_ros/action/Heat"]),
        (("view", "--format", "m"), ["markdown", "mcp"]),
        (("view", "--task", "heat"), ["heat_measure_record"]),
        (("study", "comp"), ["comparison", "compositions", "composed"]),
    ],
)
def test_completion(run, prefix, line, words):
    """What a shell is told when the tabulator key is pressed."""
    typed = ("adf-ea", *line)
    asked = {"COMP_WORDS": " ".join(typed), "COMP_CWORD": str(len(line)), "_ADF_EA_COMPLETE": "complete_bash"}
    assert run(ok=None, AMENT_PREFIX_PATH=prefix, **asked).stdout.split() == words


def test_a_missing_module_is_no_command(run, monkeypatch):
    monkeypatch.setitem(COMMANDS, "ghost", "adf_ea_ros.cli.ghost:ghost")
    assert "ghost" not in run("--help").stdout
    run("ghost", ok=2)


def test_contract_commands_load_no_ros():
    lines = [
        "import sys",
        "from adf_ea_ros.cli.main import main",
        "try:",
        "    main(['check'])",
        "except SystemExit as end:",
        "    assert end.code == 0",
        "assert not {'rclpy', 'sqlite3', 'adf_ea_ros.authority'} & set(sys.modules)",
    ]
    python("\n".join(lines))


def test_schema(run, tmp_path):
    assert json.loads(run("schema").stdout) == json.loads((CONFIG / "contracts.schema.json").read_text())
    done = run("schema", "-o", tmp_path)
    assert done.stdout == f"# yaml-language-server: $schema={tmp_path / 'contracts.schema.json'}\n"
    assert json.loads((tmp_path / "contracts.schema.json").read_text())["oneOf"]
    run("schema", "-o", tmp_path / "no" / "where.json", ok=1)


def test_view(run):
    assert "## Heat a sample" in run("view").stdout
    assert (
        json.loads(run("view", "--format", "json", "--task", "heat_measure_record").stdout)["task"]
        == "heat_measure_record"
    )
    tools = json.loads(run("view", "-f", "mcp", "--all").stdout)["tools"]
    assert "grasp" in [tool["name"] for tool in tools]
    assert "did you mean 'heat_measure_record'" in run("view", "--task", "heat_measure_recrod", ok=1).stderr
    assert "form_role.yaml" in run("view", BROKEN / "form_role.yaml", ok=1).stdout


def test_from_an_action_type_to_an_active_contract(run, tmp_path, prefix):
    """The tutorial's way, step by step."""
    path = tmp_path / "warm.yaml"
    ros = {"AMENT_PREFIX_PATH": prefix}
    run(
        "draft",
        "--from-action",
        "adf_ea_ros/action/Heat",
        "--name",
        "/rig/heater_a/heat",
        "--id",
        "warm",
        "-o",
        path,
        **ros,
    )
    assert (
        "exists already"
        in run(
            "draft", "--from-action", "adf_ea_ros/action/Heat", "--name", "/x", "-o", path, ok=1, **ros
        ).stderr
    )
    todo = run("check", path, ok=1, **ros).stdout
    assert "subject: a blank to be filled" in todo
    assert (
        "stays a draft"
        in run("finalize", path, "--reviewer", "Ann", "--accept-all", "--attest-all", ok=1, **ros).stderr
    )
    fill(path)
    assert path.read_text().count("lifecycle: draft") == 3
    assert "to do" in run("finalize", path, "--reviewer", "Ann", ok=1, **ros).stderr
    assert "is not open" in run("finalize", path, "--attest", "effect", ok=2, **ros).stderr
    answers = ["--reviewer", "Ann", "--accept-all", "--decide", "evidence=the probe is apart", "--attest-all"]
    assert "all is there" in run("finalize", path, *answers, "--dry-run", **ros).stdout
    assert path.read_text().count("lifecycle: draft") == 3
    assert "active, reviewed by Ann" in run("finalize", path, *answers, **ros).stdout
    run("check", path, **ros)
    assert "## Heat (`warm` 1.0.0)" in run("view", path).stdout
    assert not list(tmp_path.glob(".*.new"))


def fill(path: Path) -> None:
    answers = {
        'subject: "?? what': 'subject: "{sample}"',
        'kind: "?? state': "kind: state",
        'path: "?? the state': "path: temperature\n      unit: degC",
        'eq: "?? the value': "gte: {argument: target, plus: -1}",
        'role: "??': "role: INDEPENDENT_SENSOR",
        'max_age: "??': "max_age: 20 s",
        'node: "?? the node that serves': "node: /rig/heater_a",
        'node: "?? the node that publishes': "node: /rig/probe",
        'topic: "??': "topic: /rig/probe/temperature",
        'type: "?? its': "type: sensor_msgs/msg/Temperature",
        'path: "?? the same': "path: temperature\n    unit: degC",
        'subject: {const: "??': "subject: {field: header.frame_id}",
        'value: {field: "??': "value: {field: temperature}",
    }
    lines = []
    for line in path.read_text().splitlines():
        bare = line.strip()
        new = next((value for start, value in answers.items() if bare.startswith(start)), bare)
        lines.append(line[: len(line) - len(line.lstrip())] + new)
    path.write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize(
    ("arguments", "end", "word"),
    [
        ((), 2, "exactly one"),
        (
            ("--from-action", "a_msgs/action/A", "--from-service", "a_msgs/srv/B", "--name", "/x"),
            2,
            "exactly one",
        ),
        (("--from-action", "adf_ea_ros/action/Heat"), 2, "--name is needed"),
        (("--from-action", "adf_ea_ros/action/Heat", "--name", "heat"), 2, "--name is needed"),
        (("--from-action", "adf_ea_ros/action/Heat", "--name", "/heat", "--id", "Heat"), 2, "lower case"),
        (
            ("--from-action", "nav2_msgs/action/NavigateToPose", "--name", "/go"),
            1,
            "ros-$ROS_DISTRO-nav2-msgs brings it",
        ),
        (("--from-action", "adf_ea_ros/srv/WriteRecord", "--name", "/go"), 1, "is no action type"),
        (("--from-wot", "absent.json"), 1, "No such file"),
        (("--from-mcp", "README.md"), 1, "not JSON"),
    ],
)
def test_draft_refuses(run, prefix, tmp_path, arguments, end, word):
    (tmp_path / "README.md").write_text("no JSON")
    done = run("draft", *arguments, ok=end, cwd=tmp_path, AMENT_PREFIX_PATH=prefix)
    assert word in " ".join(done.stderr.split())


def test_draft_from_files(run, tmp_path):
    done = run(
        "draft", "--from-service", ROOT / "srv" / "WriteRecord.srv", "--name", "/rig/write", cwd=tmp_path
    )
    assert "type: adf_ea_ros/srv/WriteRecord" in done.stdout
    thing = tmp_path / "lamp.json"
    thing.write_text(json.dumps({"@context": "x", "title": "Lamp", "actions": {"toggle": {}, "fade": {}}}))
    assert "id: toggle" in run("draft", "--from-wot", thing, "--only", "toggle").stdout
    assert "2 drafts" in run("draft", "--from-wot", thing, "-o", tmp_path / "lamp.yaml").stdout
