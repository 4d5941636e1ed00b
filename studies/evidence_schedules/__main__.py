"""Print Table 33: expected beside observed, and what the paper recorded."""

from __future__ import annotations

import json
import sys

from studies.evidence_schedules.evaluate import evaluate, through_buffers
from studies.evidence_schedules.manifest import GROUPS

ROW = "{:<47} {:<16} {:<16} {:<20} {:<20} {}"


def main() -> int:
    """Evaluate all schedules; 1 where an observed disposition is not the expected one."""
    total = same = 0
    print(ROW.format("Evidence perturbation", "Expected", "Observed", "Recorded", "Paper recorded", ""))
    for heading, schedules in GROUPS.items():
        print(f"\n{heading}")
        for schedule in schedules:
            outcome = evaluate(schedule)
            buffered = evaluate(schedule, through_buffers)
            holds = outcome.disposition == buffered.disposition == schedule.expected
            total, same = total + 1, same + holds
            row = (schedule.name, schedule.expected, outcome.disposition, outcome.recorded, schedule.paper)
            print(ROW.format(*row, "" if holds else "DIFFERS"))
    print(f"\n{same} of {total} as expected, directly and through the buffers")
    print(json.dumps({"study": "evidence_schedules", "schedules": total, "as_expected": same}))
    return 0 if same == total else 1


if __name__ == "__main__":
    sys.exit(main())
