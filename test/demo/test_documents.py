"""What README, tutorial and the page on contracts tell a newcomer to do, done with their own files."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("rclpy", reason="the documents start nodes")
pytest.importorskip("adf_ea_ros.msg", reason="the nodes need the built interfaces")

from adf_ea_ros.testing.process import NodeProcess

pytestmark = [pytest.mark.ros, pytest.mark.slow]

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
TUTORIAL = (ROOT / "doc" / "tutorial.md").read_text(encoding="utf-8")
CONTRACTS = (ROOT / "doc" / "contracts.md").read_text(encoding="utf-8")
ADF_EA = "from adf_ea_ros.cli.main import main; main()"
GONE = """
import sys
from adf_ea_ros.nodes.client import Planner
from adf_ea_ros.testing.waiting import wait_until

def gone():
    return all(sys.argv[1] not in c.providers for c in planner.capabilities().capabilities)

with Planner() as planner:
    wait_until(gone, 40, what=sys.argv[1])
"""


def between(text: str, start: str, end: str) -> str:
    """The part of a document from one heading to another."""
    return text[text.index(start) : text.index(end)]


def blocks(text: str, language: str) -> list[str]:
    """Its code blocks of one language."""
    return [body for kind, body in re.findall(r"```(\w*)\n(.*?)```", text, re.DOTALL) if kind == language]


def command(text: str, program: str) -> list[str]:
    """The words of the one line of a document that starts a program."""
    (line,) = re.findall(rf"^\$? ?({re.escape(program)}.*)$", text, re.MULTILINE)
    return shlex.split(line.removesuffix("&"))


class Newcomer:
    """Somebody with an empty folder and the documents."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        path = os.pathsep.join([str(ROOT), *filter(None, [environment.get("PYTHONPATH")])])
        self.folder, self._environment = folder, {**environment, "PYTHONPATH": path, "COLUMNS": "200"}
        self._started: list[NodeProcess] = []

    def types(self, words: list[str]) -> NodeProcess:
        """Run a command of a document in the folder; ``python`` and ``adf-ea`` are those under test."""
        known = {"python": [sys.executable], "adf-ea": [sys.executable, "-c", ADF_EA]}
        process = NodeProcess(
            ["env", "-C", str(self.folder), *known[words[0]], *words[1:]], self._environment
        )
        self._started.append(process)
        return process

    def reads(self, *words: str, code: int = 0) -> str:
        """What a command prints until it ends."""
        process = self.types(list(words))
        assert process.wait(90) == code, process.output
        return process.output

    def writes(self, name: str, text: str) -> None:
        """A file of a document."""
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def sees_leave(self, provider: str) -> None:
        """A person takes longer to type than the authority to see that a device has gone; a test does not."""
        self.writes("gone.py", GONE)
        self.reads("python", "gone.py", provider)

    def leaves(self) -> None:
        """End everything."""
        for process in reversed(self._started):
            process.end()


@pytest.fixture
def newcomer(domain: Any, tmp_path: Path) -> Iterator[Newcomer]:
    logs = {"ROS_LOG_DIR": str(tmp_path / "log"), "ROS_HOME": str(tmp_path)}
    somebody = Newcomer(tmp_path, {**domain.environment(), **logs})
    yield somebody
    somebody.leaves()


def test_the_readmes_five_minutes_and_the_tutorial(newcomer: Newcomer) -> None:
    five = between(README, "## Five minutes", "## More")
    files = blocks(five, "yaml")
    for name, text in zip(("warm", "heater", "thermometer", "task"), files, strict=True):
        newcomer.writes(f"my_rig/{name}.yaml", text)
    newcomer.writes("plan.py", blocks(five, "python")[0])
    assert "0 faults, 4 contracts read" in newcomer.reads("adf-ea", "check", "my_rig")

    rig = newcomer.types(command(five, "python -m adf_ea_ros.nodes.sim_rig"))
    newcomer.types(command(five, "python -m adf_ea_ros.nodes.composed_main"))
    watch = newcomer.types(command(five, "adf-ea watch"))
    assert "all 1 obligations are covered by live evidence" in newcomer.reads("python", "plan.py")
    for word in ("GRANTED", "RECORDED", "PROVEN", "COMPLETE"):
        assert word in five
        watch.wait_for_line(word)

    (lie,) = re.findall(r"`(-p heater_a\.fault:=[^`]*)`", five)
    rig.end()
    newcomer.sees_leave("heater")
    rig = newcomer.types([*command(five, "python -m adf_ea_ros.nodes.sim_rig"), *shlex.split(lie)])
    said = newcomer.reads("python", "plan.py")
    assert re.search(r"'warm' is not covered: .*; the outcome of attempt warm_up-\w+\.1 is unresolved", said)
    watch.wait_for_line("ABSENT")
    watch.wait_for_line("REFUSED")

    assert "everything is as it was written" in newcomer.reads("adf-ea", "ledger", "verify", "warm.db")
    episodes = re.findall(
        r"^(warm_up-\w+)", newcomer.reads("adf-ea", "ledger", "show", "warm.db"), re.MULTILINE
    )
    assert len(episodes) == 2
    told = [newcomer.reads("adf-ea", "explain", f"{e}.1", "--ledger", "warm.db") for e in episodes]
    assert sum("has its effects proven" in each for each in told) == 1

    newcomer.writes("retry.py", blocks(TUTORIAL, "python")[0])
    lines = newcomer.reads("python", "retry.py").splitlines()
    assert [line.split()[0] for line in lines] == ["4", "4", "1"], lines  # ABSENT, ABSENT, REFUSED
    assert "R6.retry_budget" in lines[-1]

    second = between(TUTORIAL, "## 3.", "## 4.")
    heater = files[1]
    newcomer.writes("my_rig/heater.yaml", heater + blocks(second, "yaml")[0])
    other = heater.replace("id: heater\n", "id: heater_2\n").replace("heater_a", "heater_b")
    newcomer.writes("my_rig/heater_2.yaml", other)
    assert "permits no rebinding" in newcomer.reads("adf-ea", "check", "my_rig", code=1)
    (permitted,) = re.findall(r"let `effect_absent` be `(.*?)`", second)
    newcomer.writes(
        "my_rig/warm.yaml", files[0].replace("effect_absent: [retry, stop]", f"effect_absent: {permitted}")
    )
    assert "0 faults, 5 contracts read" in newcomer.reads("adf-ea", "check", "my_rig")


BLANKS = (  # the start of a line in the draft, and the line that the row of the table makes of it
    ('subject: "??', "subject: {0}"),
    ('kind: "??', "kind: {0}"),
    ('path: "?? the state', "path: {0}\n      unit: {3}"),
    ('eq: "??', "{0}\n      {1}"),
    ('role: "??', "role: {0}"),
    ('max_age: "??', "max_age: {0}"),
    ('node: "?? the node that serves', "node: {0}"),
    ('node: "?? the node that publishes', "node: {0}"),
    ('topic: "??', "topic: {0}"),
    ('path: "?? the same', "path: {0}\n    unit: {1}"),
    ('subject: {const: "??', "subject: {0}"),
    ('value: {field: "??', "value: {0}"),
)


def filled(draft: str, page: str) -> str:
    """The draft with the answers of the page's table."""
    rows = re.findall(r"^\| [^|]*`[^|]* \| ([^|]*) \|[^|]*\|$", page, re.MULTILINE)
    for (blank, line), row in zip(BLANKS, rows, strict=True):
        answers = re.findall(r"`([^`]*)`", row)
        (found,) = re.findall(rf"^ *(?:{re.escape(blank)}).*$", draft, re.MULTILINE)
        indent = found[: len(found) - len(found.lstrip())]
        draft = draft.replace(found, indent + line.format(*answers))
        if blank.startswith("topic"):
            draft = re.sub(r'type: "\?\?.*"', f"type: {answers[1]}", draft)
    (least, greatest) = re.findall(r"its `(minimum: \d+)` and `(maximum: \d+)`", page)[0]
    return draft.replace("    unit: degC\n", f"    unit: degC\n    {least}\n    {greatest}\n", 1)


def test_from_an_action_type_to_a_gated_contract(newcomer: Newcomer) -> None:
    page = between(CONTRACTS, "## From an action type", "## In the editor")
    said = newcomer.reads(*command(page, "adf-ea draft"))
    assert said.splitlines()[0] in page
    draft = newcomer.folder / "warm_up.yaml"
    draft.write_text(filled(draft.read_text(), between(page, "**2. Fill.**", "**3. Answer")))
    todo = newcomer.reads("adf-ea", "check", "warm_up.yaml", code=1)
    assert all("review." in line for line in todo.splitlines()[:-1]), todo
    assert "active, reviewed by Ann Lee" in newcomer.reads(*command(page, "adf-ea finalize warm_up.yaml"))
    assert newcomer.reads(*command(page, "adf-ea check")).strip() in page

    newcomer.writes("task.yaml", blocks(page, "yaml")[0])
    newcomer.types(command(page, "python -m adf_ea_ros.nodes.sim_rig"))
    newcomer.types(command(page, "python -m adf_ea_ros.nodes.composed_main"))
    newcomer.writes("plan.py", blocks(page, "python")[0])
    heard = re.sub(r"warm_s1-\w+", "warm_s1-…", newcomer.reads("python", "plan.py"))
    assert f"$ python plan.py\n{heard}" in page
