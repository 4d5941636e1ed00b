"""``adf-ea check``: everything that is wrong with contract files, each at its line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from adf_ea_ros.cli.common import chosen_paths, show_faults
from adf_ea_ros.contracts.against_interfaces import check_interfaces
from adf_ea_ros.contracts.catalog import check_catalog
from adf_ea_ros.contracts.loader import read_files


def check(
    paths: Annotated[
        list[Path] | None, typer.Argument(help=("Files and folders. Default: the folder config."))
    ] = None,
    using: Annotated[
        list[Path] | None,
        typer.Option("--with", help=("More contracts that these may refer to; their faults are not shown.")),
    ] = None,
    interfaces: Annotated[
        bool, typer.Option(help="Compare fields with the ROS interfaces that are installed here.")
    ] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print the faults as JSON.")] = False,
) -> None:
    """Check contracts, providers and tasks: form, references, and fields of installed interfaces.

    Prints file:line: path: message for every fault. Ends with 0 if there is none, else with 1.
    """
    own = chosen_paths(paths)
    loaded = read_files([*own, *(using or [])])
    faults = check_catalog(loaded)
    notes: list[str] = []
    if interfaces:
        more, notes = check_interfaces(loaded.documents)
        faults = sorted([*faults, *more])
    if using:
        alone = read_files(own)
        mine = {document.file for document in alone.documents} | {fault.file for fault in alone.faults}
        faults = [fault for fault in faults if fault.file in mine]
    if as_json:
        rows = [{"file": f.file, "line": f.line, "path": f.path, "message": f.message} for f in faults]
        typer.echo(json.dumps(rows, indent=2, ensure_ascii=False))
    else:
        show_faults(faults)
    for note in notes:
        typer.echo(f"note: {note}", err=True)
    count = len(loaded.documents)
    typer.echo(
        f"{len(faults)} fault{'s' * (len(faults) != 1)}, {count} contract{'s' * (count != 1)} read",
        err=True,
    )
    raise typer.Exit(1 if faults else 0)
