"""``adf-ea finalize`` at a terminal: what was typed is not lost when the review does not come to its end."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

from adf_ea_ros.contracts.blanks import blank

ROOT = Path(__file__).parents[2]
DRAFT = """\
spec: adf_ea_ros/1
kind: capability
id: warm
version: 1.0.0
lifecycle: draft
subject: plate
effects:
  done: {kind: state, condition: {path: warm, eq: true}}
evidence:
  seen: {effect: done, role: SAME_PROVIDER, max_age: 5 s}
interruption:
  effect_absent: [stop]
  evidence_insufficient: [stop]
  evidence_conflicting: [stop]
  outcome_unknown: [stop]
  provider_unavailable: [stop]
  state_lost: [stop]
review:
  source: written by hand
  reviewed: ""
  fingerprint: ""
  decisions:
    effects: {question: "What changes?", proposal: "", decision: it gets warm, by: Ann Lee}
    evidence: {question: "What proves it?", proposal: "", decision: TODO, by: TODO}
    interruption: {question: "May it be repeated?", proposal: "", decision: TODO, by: TODO}
  attestations:
    effects_are_physical: {statement: "The effects are physical.", by: TODO}
"""


class Terminal:
    """The command at a terminal of its own."""

    def __init__(self, *words):
        self.master, slave = pty.openpty()
        code = "from adf_ea_ros.cli.main import main; main()"
        command = [sys.executable, "-c", code, *map(str, words)]
        env = {**os.environ, "PYTHONPATH": f"{ROOT}:{os.environ.get('PYTHONPATH', '')}", "TERM": "dumb"}
        self.process = subprocess.Popen(
            command, stdin=slave, stdout=slave, stderr=slave, env=env, start_new_session=True
        )
        os.close(slave)
        self.seen = ""

    def read(self, text, timeout=60.0):
        """Read until the command has printed this, or to its end where it is None."""
        end = time.monotonic() + timeout
        while text is None or not re.search(text, self.seen):
            assert time.monotonic() < end, self.seen
            if select.select([self.master], [], [], 0.2)[0]:
                try:
                    self.seen += os.read(self.master, 4096).decode()
                except OSError:  # the terminal's other end is closed
                    assert text is None, self.seen
                    return

    def answer(self, question, words):
        self.read(question)
        self.seen = ""
        os.write(self.master, f"{words}\n".encode())

    def end(self):
        self.read(None)
        os.close(self.master)
        return self.process.wait(30)


@pytest.fixture
def draft(tmp_path):
    path = tmp_path / "warm.yaml"
    path.write_text(DRAFT.replace("TODO", f'"{blank("answer")}"'))
    return path


def test_answers_outlive_a_declined_attestation(draft):
    first = Terminal("finalize", draft)
    first.answer("Your name", "Ann Lee")
    first.answer("What proves it", "the plate's own sensor")
    first.answer("May it be repeated", "yes, within a minute")
    first.answer("Do you state this", "n")
    assert first.end() == 1
    kept = draft.read_text()
    assert "the plate's own sensor" in kept
    assert "yes, within a minute" in kept
    assert "lifecycle: draft" in kept
    again = Terminal("finalize", draft)
    again.answer("Your name", "Ann Lee")
    again.answer("Do you state this", "y")  # the first question: nothing is asked twice
    assert again.end() == 0, again.seen
    assert "lifecycle: active" in draft.read_text()


def test_answers_outlive_ctrl_c(draft):
    first = Terminal("finalize", draft)
    first.answer("Your name", "Ann Lee")
    first.answer("What proves it", "the plate's own sensor")
    first.read("May it be repeated")
    os.write(first.master, b"\x04")  # end of input; Ctrl-C is the same to the command
    assert first.end() == 1
    assert "the plate's own sensor" in draft.read_text()
    assert draft.read_text().count("Ann Lee") == 2


def test_a_review_without_a_place_for_its_result_is_told_what_to_add(draft):
    draft.write_text(draft.read_text().replace('  fingerprint: ""\n', ""))
    first = Terminal("finalize", draft, "--accept-all", "--attest-all", "--reviewer", "Ann Lee")
    assert first.end() == 1
    assert re.search(r"warm.yaml:\d+: review.fingerprint: finalize writes its result here: add", first.seen)
