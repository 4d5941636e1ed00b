"""``adf-ea study``: run the papers' experiments. They are in the source tree, not in the package."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Annotated

import typer

from adf_ea_ros.cli.common import fail

DEFAULT = Path("build") / "studies"


def _catalog() -> ModuleType | None:
    """The list of studies, where this is a checkout of the source."""
    if importlib.util.find_spec("studies") is None and (Path.cwd() / "studies" / "catalog.py").is_file():
        sys.path.insert(0, str(Path.cwd()))
    if importlib.util.find_spec("studies") is None:
        return None
    return importlib.import_module("studies.catalog")


def _names(incomplete: str) -> list[str]:
    catalog = _catalog()
    return [name for name in (catalog.MODULES if catalog else ()) if name.startswith(incomplete)]


def study(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Which studies. Default: all of them.", autocompletion=_names),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for tables, plots and raw events.")] = DEFAULT,
    ros: Annotated[bool, typer.Option("--ros", help="Through real nodes as well, and compare.")] = False,
    quiet: Annotated[bool, typer.Option(help="Print the claims only.")] = False,
    listed: Annotated[bool, typer.Option("--list", help="List the studies.")] = False,
) -> None:
    """Run the ADF-EA paper's experiments with this product, beside the paper's figures.

    Ends with 1 where a claim about the product does not hold.
    """
    catalog = _catalog()
    if catalog is None:
        raise fail("the studies are in the source tree, not in the package: run this in a checkout of it")
    if listed:
        for name in catalog.MODULES:
            typer.echo(name)
        return
    unknown = [name for name in names or [] if name not in catalog.MODULES]
    if unknown:
        raise fail(f"no study {unknown[0]!r}: there are {', '.join(catalog.MODULES)}")
    run = importlib.import_module("studies.__main__").run
    raise typer.Exit(run(names or list(catalog.MODULES), out, quiet=quiet, ros=ros))
