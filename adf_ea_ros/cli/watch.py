"""``adf-ea watch``: decisions and episodes of a running authority, live in the terminal."""

from __future__ import annotations

import sys
from typing import Annotated

import typer


def watch(
    authority: Annotated[str, typer.Option(help="Name of the authority node.")] = "/authority",
    episode: Annotated[str, typer.Option(help="Only this episode.")] = "",
    plain: Annotated[bool, typer.Option("--plain", help="Append, redraw nothing.")] = False,
    routine: Annotated[bool, typer.Option("--all", help="Also decisions that only note facts.")] = False,
    seconds: Annotated[float, typer.Option("--for", help="End after so many seconds; 0: at Ctrl-C.")] = 0.0,
) -> None:
    """Watch decisions as they fall, how episodes stand, and what is not well. Ends at Ctrl-C. Needs ROS."""
    if sys.stderr.isatty():
        typer.echo(f"looking for {authority} ...", err=True)  # loading ROS takes a while
    try:
        # The layers that need no ROS must not load it: reached for only when this command is used.
        from adf_ea_ros.nodes.watch import run
    except ImportError as error:
        typer.echo(
            f"watch needs ROS 2 and this package's messages, and cannot import them: {error}\n"
            "  try: source your distribution and this workspace, or run it through .env/<distribution>/run",
            err=True,
        )
        raise typer.Exit(2) from None
    raise typer.Exit(run(authority=authority, episode=episode, plain=plain, routine=routine, seconds=seconds))
