"""Run the study: ``python -m studies.gates [--faults none,stuck] [--output FILE]``.

For each fault and each way (raw, gated) a rig of its own, in real processes: the rig's own report says what
was physically done and how hot the sample was; the client's own output says what it was told.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from typing_extensions import Self

from adf_ea_ros.nodes.isolation import DomainLease
from adf_ea_ros.nodes.names import action_remappings
from adf_ea_ros.testing.process import NodeProcess
from adf_ea_ros.testing.waiting import wait_until
from studies.gates.cases import CASES, Case, Seen, table

CONFIG = Path(__file__).parents[2] / "config"
FACTOR = 10.0
"""Logical seconds in a real one."""
WAYS = {"raw": "/rig/heater_a/heat", "gated": "/bench/heat"}
_REFUSED = re.compile(r"refused, (?:no )?decision.*? \(([^)]*)\)")


class Stage:
    """The processes of one case on one way. A context manager."""

    def __init__(self, folder: Path, case: Case) -> None:
        """``folder`` is for the rig's report, which outlives the rig, and for the ledger."""
        self._folder, self._case = folder, case
        self._report = folder / "report.json"
        self._stack = ExitStack()
        self._environment = self._stack.enter_context(DomainLease()).environment()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def start(self, module: str, *words: str) -> NodeProcess:
        """A process that ends with the stage."""
        return self._stack.enter_context(NodeProcess.of_module(module, words, self._environment))

    def rig(self) -> NodeProcess:
        """The rig, as it is at the beginning or was when it died."""
        given = {"samples": "[s1]", "clock.factor": f"{FACTOR}", "report": f"{self._report}", "keep": "true"}
        return self.start("adf_ea_ros.nodes.sim_rig", *_parameters({**given, **self._case.rig}))

    def gate(self) -> NodeProcess:
        """Authority and capability node, with the shipped contracts and the shipped gate."""
        files = [
            file
            for kind in ("contracts", "providers")
            for file in sorted((CONFIG / kind).glob("*.yaml"))
            if file.stem != "heater_a"
        ]
        heater = self._folder / "heater_a.yaml"
        shipped = (CONFIG / "providers" / heater.name).read_text()
        heater.write_text(
            shipped.replace("    query: true\n", f"    query: true\n    {self._case.promise}\n")
        )
        files.append(heater)
        gates = f"[{CONFIG / 'gates'}]"
        process = self.start(
            "adf_ea_ros.nodes.composed_main",
            *_parameters(
                {
                    "contracts": f"[{','.join(map(str, files))}]",
                    "tasks": gates,
                    "gates": gates,
                    "ledger": f"{self._folder / 'ledger.db'}",
                    "use_sim_time": "true",
                }
            ),
        )
        process.wait_for_line("in contact with the authority", 60)
        return process

    def physical(self) -> tuple[int, float]:
        """How often the rig heated, and how hot the sample is."""
        report = json.loads(self._report.read_bytes())
        return int(report["heatings"]), float(report["temperatures"]["s1"])

    def heated(self) -> bool:
        """Whether the rig has heated."""
        return self._report.exists() and self.physical()[0] > 0


def run(case: Case, way: str) -> Seen:
    """One case on one way."""
    with tempfile.TemporaryDirectory() as folder, Stage(Path(folder), case) as stage:
        rig = stage.rig()
        gate = stage.gate() if way == "gated" else None
        remapped = [
            word for old, new in action_remappings("heat", WAYS[way]) for word in ("-r", f"{old}:={new}")
        ]
        client = stage.start("studies.gates.client", "--ros-args", *remapped)
        if case.kill:
            wait_until(stage.heated, 60, what="a heating")
            rig.kill()
            stage.rig()
        client.wait(120)
        executions, temperature = stage.physical()
        answers = tuple(json.loads(line) for line in client.output.splitlines() if line.startswith('"'))
        reasons = _REFUSED.findall(gate.output) if gate is not None else []
        return Seen(answers, 79.0 <= temperature <= 81.0, executions, tuple(dict.fromkeys(reasons)))


def _parameters(given: dict[str, str]) -> list[str]:
    words = [part for name, value in given.items() for part in ("-p", f"{name}:={value}")]
    return ["--ros-args", *words]


def main() -> int:
    """Print the table; the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--faults", default=",".join(CASES), help=f"of {', '.join(CASES)}")
    parser.add_argument("--output", type=Path, help="file for what was found, as JSON")
    options = parser.parse_args()
    names = options.faults.split(",")
    unknown = [name for name in names if name not in CASES]
    if unknown:
        parser.error(f"no such fault: {', '.join(unknown)}")
    found: dict[str, dict[str, Seen]] = {}
    for name in names:
        found[name] = {}
        for way in WAYS:
            seen = found[name][way] = run(CASES[name], way)
            print(f"{name}, {way}: {seen.told}; heated {seen.executions}", file=sys.stderr, flush=True)
    print(table(found))
    if options.output is not None:
        rows = {
            name: {way: {f: getattr(seen, f) for f in Seen.__struct_fields__} for way, seen in ways.items()}
            for name, ways in found.items()
        }
        options.output.write_text(json.dumps(rows, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
