"""``adf-ea advise`` on a ledger that an authority left behind."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

sys.path.insert(0, str(Path(__file__).parents[1] / "runtime"))

from rig import SECOND, Rig

from adf_ea_ros.authority.model import Interaction
from adf_ea_ros.cli.main import app
from adf_ea_ros.ledger.sqlite import SqliteLedger


def ask(*words: object) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, ["advise", *map(str, words)])
    return done.exit_code, done.stdout, done.stderr


@pytest.fixture(scope="module")
def lost(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The heater's answer was lost, nobody measured, and the authority is gone."""
    path = tmp_path_factory.mktemp("lost") / "ledger.db"
    rig = Rig(path)
    episode = rig.begin()
    rig.pass_time(3)
    rig.probe_works = False
    rig.heat(rig.run(episode, "heat", "heater_a"), Interaction.LOST, works=False)
    rig.ledger.close()
    return path, episode


def test_in_words(lost: tuple[Path, str]) -> None:
    path, episode = lost
    end, said, _ = ask(path, episode)
    assert end == 0
    lines = said.splitlines()
    assert lines[0] == f"{episode}, 0.0 s after its last decision"
    assert lines[1].startswith("1. wait ")
    assert f"until then attempt {episode}.1 may still take effect  [completion " in lines[1]
    assert "ask to run step heat" not in said
    assert "not known: step heat: attempt" in said
    assert "owed:      heated: s1.temperature" in said
    assert "decisions ahead; every alternative is as likely as every other one" in lines[-1]


def test_for_programs(lost: tuple[Path, str]) -> None:
    path, episode = lost
    end, said, _ = ask(path, "--json")
    assert end == 0
    told = json.loads(said)
    assert told["episode"] == episode
    assert [piece["action"] for piece in told["pieces"]] == ["wait", "observe", "hand_over"]
    assert told["pieces"][0]["wait"] > SECOND
    assert told["handoff"]["requests"] == [[f"{episode}.1", "step heat on heater_a, lost"]]
    assert told["weights"]
    assert told["handoff"]["spent"][0] == ["attempts", 1]


def test_the_horizon(lost: tuple[Path, str]) -> None:
    told = json.loads(ask(lost[0], "--json", "--horizon", 1)[1])
    assert told["horizon"] == 1


def test_it_reads_beside_a_running_authority_and_writes_nothing(tmp_path: Path) -> None:
    rig = Rig(tmp_path / "ledger.db")
    episode = rig.begin()
    rig.pass_time(3)
    before = rig.ledger.head(episode)
    assert ask(rig.path)[0] == 0
    assert rig.ledger.head(episode) == before
    rig.run(episode, "heat", "heater_a")
    rig.ledger.close()


def test_an_episode_that_is_over(tmp_path: Path) -> None:
    rig = Rig(tmp_path / "ledger.db")
    episode = rig.begin()
    rig.service.stop(episode, "ann", "enough", rig.now)
    rig.ledger.close()
    end, said, _ = ask(rig.path)
    assert end == 1
    assert "the episode is stopped" in said


def test_what_is_not_there(lost: tuple[Path, str], tmp_path: Path) -> None:
    end, _, wrong = ask(lost[0], "nobody")
    assert (end, "there is no episode 'nobody' in this ledger" in wrong) == (1, True)
    assert ask(tmp_path / "none.db")[0] == 1
    empty = tmp_path / "empty.db"
    with SqliteLedger(empty) as ledger:
        ledger.open_writer("test", time=1)
    end, _, wrong = ask(empty)
    assert (end, "there is no episode" in wrong) == (1, True)


def test_without_ros(lost: tuple[Path, str]) -> None:
    program = (
        "import sys\n"
        "from adf_ea_ros.cli.main import main\n"
        "try:\n"
        f"    main(['advise', {str(lost[0])!r}])\n"
        "finally:\n"
        "    assert not [name for name in sys.modules if name.startswith('rclpy')]\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "AssertionError" not in done.stderr
    assert "1. wait" in done.stdout


@pytest.mark.parametrize("late", [True, False])
def test_as_of_now_or_of_the_last_decision(tmp_path: Path, *, late: bool) -> None:
    """On a real clock the evidence has grown old since; then a look comes first."""
    rig = Rig(tmp_path / "ledger.db", now=1_700_000_000 * SECOND)
    episode = rig.begin()
    rig.pass_time(3)
    rig.heat(rig.run(episode, "heat", "heater_a"))
    rig.pass_time(6)
    rig.service.claim(episode, rig.now)
    rig.ledger.close()
    words = [rig.path, "--json"] if late else [rig.path, "--json", "--at-last"]
    pieces = json.loads(ask(*words)[1])["pieces"]
    assert pieces[0]["action"] == ("observe" if late else "dispatch"), pieces
