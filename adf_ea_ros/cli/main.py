"""``adf-ea``: the list of commands. Each lives in a module of its own that is imported when it is used."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import adf_ea_ros

COMMANDS = {
    "check": "adf_ea_ros.cli.check:check",
    "draft": "adf_ea_ros.cli.draft:draft",
    "finalize": "adf_ea_ros.cli.finalize:finalize",
    "view": "adf_ea_ros.cli.view:view",
    "schema": "adf_ea_ros.cli.schema:schema",
    "ledger": "adf_ea_ros.cli.ledger:ledger",
    "explain": "adf_ea_ros.cli.ledger:explain",
    "advise": "adf_ea_ros.cli.advise:advise",
    "watch": "adf_ea_ros.cli.watch:watch",
    "approve": "adf_ea_ros.cli.approve:approve",
    "policy": "adf_ea_ros.cli.policy:policy",
    "study": "adf_ea_ros.cli.study:study",
}
"""Name, and where the command is: a function, or a ``typer.Typer`` with commands of its own."""


class LazyCommands(TyperGroup):
    """Imports a command when it is asked for: ``adf-ea check`` pays for nothing else."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - the base class calls it with the context
        """The commands whose modules are there."""
        return [name for name, place in COMMANDS.items() if importlib.util.find_spec(place.partition(":")[0])]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command, or None if there is none of this name."""
        if cmd_name not in self.list_commands(ctx):
            return None
        module, _, attribute = COMMANDS[cmd_name].partition(":")
        found = getattr(importlib.import_module(module), attribute)
        app = found
        if not isinstance(found, typer.Typer):
            app = typer.Typer(add_completion=False, rich_markup_mode=None)
            app.command(cmd_name)(found)
        command = typer.main.get_command(app)
        command.name = cmd_name
        return command

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """As the base class does; it looks for near names in ``commands``, which is empty here."""
        known = not args or args[0] in COMMANDS
        near: dict[str, Any] = {} if known else dict.fromkeys(self.list_commands(ctx))
        self.commands = near
        return super().resolve_command(ctx, args)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(adf_ea_ros.__version__)
        raise typer.Exit


app = typer.Typer(
    cls=LazyCommands,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=True,
)


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Contracts, ledger and decisions of evidence-assured robot actions.

    Begin with a draft from an interface that you have:

      adf-ea draft --from-action nav2_msgs/action/NavigateToPose --name /navigate_to_pose -o go.yaml

    fill its blanks, then: adf-ea finalize go.yaml, and adf-ea check.
    """


def main(arguments: Sequence[str] | None = None) -> None:
    """The entry point. Ends the process: 0 all well, 1 the answer is no, 2 the command was wrong."""
    app(args=list(sys.argv[1:] if arguments is None else arguments), prog_name="adf-ea")
