"""The faults of the study: what goes wrong, and what it is called in the table."""

from __future__ import annotations

import msgspec


class Case(msgspec.Struct, frozen=True):
    """One fault of the rig."""

    title: str
    rig: dict[str, str] = {}  # parameters
    kill: bool = False  # the rig's process dies once it has heated, and is started again
    promise: str = ""  # what the heater's contract promises beside what the shipped one does


CASES: dict[str, Case] = {
    "none": Case("no fault"),
    "no_effect": Case("acknowledges without acting", {"heater_a.fault": "no_effect"}),
    "lost_result": Case("result lost", {"heater_a.fault": "lost_result"}),
    "abort_with_effect": Case("aborted, and done", {"heater_a.fault": "abort_with_effect"}),
    "abort_without_effect": Case("aborted, and not done", {"heater_a.fault": "abort_without_effect"}),
    "stuck": Case("done, and never ends", {"heater_a.fault": "stuck"}),
    "delayed_effect": Case(
        "effect comes 10 s after the answer",
        {"heater_a.fault": "delayed_effect"},
        promise="visibility_delay: 15 s",
    ),
    "broken_promise": Case(
        "the same, though the contract promises that it does not", {"heater_a.fault": "delayed_effect"}
    ),
    "silent": Case("sensor silent", {"probe.fault": "drop"}),
    "wrong_sample": Case("sensor sees another sample", {"probe.fault": "wrong_sample"}),
    "restart": Case("device restarts in between", kill=True),
}


class Seen(msgspec.Struct, frozen=True):
    """What came of one case on one way."""

    answers: tuple[str, ...]  # of the client's tries
    hot: bool  # whether the sample was hot when the client had its last answer
    executions: int  # physical ones
    reasons: tuple[str, ...] = ()  # of the gate's refusals

    @property
    def told(self) -> str:
        """The answers in a cell."""
        return " then ".join(self.answers)

    @property
    def verdict(self) -> str:
        """What the last answer was worth, and whether anything was done twice."""
        believed = self.answers[-1] == "SUCCEEDED"
        words = {
            (True, True): "true",
            (True, False): "FALSE SUCCESS",
            (False, True): "not told of the success",
            (False, False): "true",
        }[believed, self.hot]
        return f"{words}; DONE TWICE" if self.executions > 1 else words


def table(found: dict[str, dict[str, Seen]]) -> str:
    """The table in Markdown: a row for each fault, a group of columns for each way."""
    rows = [
        "| fault | raw: told | worth | heated | gated: told | worth | heated | refused by |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, ways in found.items():
        cells = [CASES[name].title]
        for seen in (ways["raw"], ways["gated"]):
            cells += [seen.told, seen.verdict, str(seen.executions)]
        cells.append(", ".join(ways["gated"].reasons))
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)
