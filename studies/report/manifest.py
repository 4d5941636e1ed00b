"""Which inputs a set of results came from: every file that can change a result, by its hash."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

STUDIES = Path(__file__).parents[1]
ROOT = STUDIES.parent
FROZEN = STUDIES / "frozen.json"
SUFFIXES = {".py", ".yaml", ".msg", ".srv", ".action"}
OTHERS = {"checker", "exploration", "mutation", "evidence_faults", "evidence_schedules", "__pycache__"}


def inputs() -> dict[str, str]:
    """Path and SHA-256 of the studies' own files, the product, its interfaces, and the configuration."""
    files = [p for p in STUDIES.rglob("*") if not OTHERS & set(p.relative_to(STUDIES).parts)]
    for layer in ("authority", "contracts", "evidence", "ledger", "nodes", "recovery", "runtime", "sim"):
        files += (ROOT / "adf_ea_ros" / layer).rglob("*.py")
    for kind in ("msg", "srv", "action"):
        files += (ROOT / kind).glob(f"*.{kind}")
    files += (ROOT / "config").rglob("*.yaml")
    chosen = sorted(p for p in files if p.suffix in SUFFIXES)
    return {str(p.relative_to(ROOT)): hashlib.sha256(p.read_bytes()).hexdigest() for p in chosen}


def frozen_inputs() -> dict[str, str]:
    """What must not change with a result in view: contracts, conditions, devices, baselines, scorer."""
    baselines = ("base", "direct", "requests", "toolgate", "vtc")
    files = [STUDIES / "inputs.py", *(STUDIES / "methods" / f"{name}.py" for name in baselines)]
    files += [p for folder in ("scorer", "device") for p in (STUDIES / folder).glob("*.py")]
    files += [STUDIES / "recovery" / f"{name}.py" for name in ("adjudicate", "reference")]
    files += [STUDIES / "approvals" / f"{name}.py" for name in ("adjudicate", "worlds", "interleavings")]
    files += [p for p in STUDIES.rglob("*.yaml") if not OTHERS & set(p.relative_to(STUDIES).parts)]
    return {str(p.relative_to(ROOT)): hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(files)}


def freeze() -> None:
    """Take the inputs as they are for frozen: a deliberate step, never part of a run."""
    FROZEN.write_text(json.dumps(frozen_inputs(), indent=1) + "\n")


def write_manifest(folder: Path) -> str:
    """Freeze the inputs beside the results; the hash of the whole."""
    listed = inputs()
    whole = hashlib.sha256(json.dumps(listed, sort_keys=True).encode()).hexdigest()
    as_frozen = FROZEN.exists() and json.loads(FROZEN.read_text()) == frozen_inputs()
    content = {"all": whole, "as_frozen": as_frozen, "files": listed}
    (folder / "manifest.json").write_text(json.dumps(content, indent=1) + "\n")
    return whole
