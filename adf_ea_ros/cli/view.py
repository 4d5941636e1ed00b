"""``adf-ea view``: what a planner may see."""

from __future__ import annotations

import contextlib
import json
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from adf_ea_ros.cli.common import chosen_paths, fail, show_faults
from adf_ea_ros.contracts.catalog import Catalog
from adf_ea_ros.contracts.faults import ContractError
from adf_ea_ros.contracts.loader import read_files
from adf_ea_ros.contracts.view import as_json, as_markdown, as_mcp_tools, planner_view


class Format(str, Enum):
    """How the view is spelled."""

    MARKDOWN = "markdown"
    JSON = "json"
    MCP = "mcp"


def _tasks(incomplete: str) -> list[str]:
    """The tasks of the default folder: what else stands on the line is not known while it is completed."""
    with contextlib.suppress(typer.BadParameter):
        loaded = read_files(chosen_paths(None))
        return sorted(c.id for c in loaded.contracts if c.kind == "task" and c.id.startswith(incomplete))
    return []


def view(
    paths: Annotated[
        list[Path] | None, typer.Argument(help=("Files and folders. Default: the folder config."))
    ] = None,
    spelling: Annotated[
        Format, typer.Option("--format", "-f", help=("A page, JSON, or tools of the Model Context Protocol."))
    ] = Format.MARKDOWN,
    task: Annotated[
        str,
        typer.Option(help="Only what this task may use, with its obligations.", autocompletion=_tasks),
    ] = "",
    now: Annotated[
        float, typer.Option(help=("ROS time in seconds, for contracts that expire."), min=0.0)
    ] = 0.0,
    everything: Annotated[
        bool, typer.Option("--all", help=("Also capabilities that no provider can be bound to."))
    ] = False,
) -> None:
    """Show the planner's view: capabilities, arguments, preconditions and effects, and no provider or
    topic."""
    try:
        catalog = Catalog.load(chosen_paths(paths))
        chosen = catalog.task(task) if task else None
    except ContractError as error:
        show_faults(error.faults)
        raise typer.Exit(1) from None
    except KeyError as error:
        raise fail(str(error.args[0])) from None
    shown = planner_view(catalog, round(now * 1e9), chosen, unavailable=everything)
    if spelling is Format.MARKDOWN:
        typer.echo(as_markdown(shown))
    elif spelling is Format.JSON:
        typer.echo(as_json(shown))
    else:
        typer.echo(json.dumps({"tools": as_mcp_tools(shown)}, indent=2, ensure_ascii=False))
