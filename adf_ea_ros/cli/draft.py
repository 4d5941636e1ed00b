"""``adf-ea draft``: a contract to be filled in, from an interface that exists."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from adf_ea_ros.cli.common import fail, write_new
from adf_ea_ros.contracts.interfaces import InterfaceError, find_interface, installed_types, read_interface
from adf_ea_ros.contracts.onboarding.draft import Draft, DraftError, render_all
from adf_ea_ros.contracts.onboarding.from_mcp import drafts_from_mcp
from adf_ea_ros.contracts.onboarding.from_ros import draft_from_ros
from adf_ea_ros.contracts.onboarding.from_wot import drafts_from_wot

_ROS_NAME = re.compile(r"(/[A-Za-z_][A-Za-z0-9_]*)+")
_CONTRACT_NAME = re.compile(r"[a-z][a-z0-9_]{0,47}")


def _actions(incomplete: str) -> list[str]:
    return [name for name in installed_types("action") if name.startswith(incomplete)]


def _services(incomplete: str) -> list[str]:
    return [name for name in installed_types("srv") if name.startswith(incomplete)]


def _messages(incomplete: str) -> list[str]:
    return [name for name in installed_types("msg") if name.startswith(incomplete)]


def draft(
    action: Annotated[
        str, typer.Option("--from-action", help="An action type or .action file.", autocompletion=_actions)
    ] = "",
    service: Annotated[
        str, typer.Option("--from-service", help="A service type or .srv file.", autocompletion=_services)
    ] = "",
    topic: Annotated[
        str,
        typer.Option(
            "--from-topic",
            help=("The message type of a command topic, or a .msg file."),
            autocompletion=_messages,
        ),
    ] = "",
    wot: Annotated[
        Path | None, typer.Option("--from-wot", help="A W3C Thing Description 1.1 (JSON).")
    ] = None,
    mcp: Annotated[
        Path | None, typer.Option("--from-mcp", help=("A tool, or an answer to tools/list (JSON)."))
    ] = None,
    name: Annotated[
        str,
        typer.Option(
            "--name", help=("The ROS name under which the interface is served, such as /navigate_to_pose.")
        ),
    ] = "",
    identity: Annotated[
        str, typer.Option("--id", help=("The id of the capability. Default: made from the name."))
    ] = "",
    only: Annotated[
        list[str] | None,
        typer.Option("--only", help=("Of a Thing or a list of tools: only this one. May be repeated.")),
    ] = None,
    with_properties: Annotated[
        bool, typer.Option("--with-properties", help=("Of a Thing: also its writable properties."))
    ] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The file to write. Default: print.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
) -> None:
    """Make a draft from a ROS interface, a Thing Description or an MCP tool.

    What the source cannot know stands as a blank, "?? ...", and nothing is executable while one is left.
    """
    given = [source for source in (action, service, topic, wot, mcp) if source]
    if len(given) != 1:
        raise typer.BadParameter(
            "give exactly one of --from-action, --from-service, --from-topic, --from-wot, --from-mcp"
        )
    if identity and not _CONTRACT_NAME.fullmatch(identity):
        raise typer.BadParameter(
            f"--id {identity!r}: lower case letters, digits and _, beginning with a letter"
        )
    try:
        if wot is not None:
            drafts = drafts_from_wot(
                wot.read_bytes(), wot.name, tuple(only or ()), properties=with_properties
            )
        elif mcp is not None:
            drafts = drafts_from_mcp(mcp.read_bytes(), mcp.name, tuple(only or ()))
        else:
            drafts = [
                _from_ros(
                    "action" if action else "srv" if service else "msg",
                    action or service or topic,
                    name,
                    identity,
                )
            ]
    except (DraftError, InterfaceError) as error:
        raise fail(str(error)) from None
    except OSError as error:
        raise fail(f"{error.filename}: {error.strerror}") from None
    text = render_all(drafts)
    if output is None:
        typer.echo(text, nl=False)
        return
    write_new(output, text, force=force)
    open_blanks = sum('"??' in line and not line.startswith("#") for line in text.splitlines())
    many = "s" * (len(drafts) != 1)
    typer.echo(
        f'{output}: {len(drafts)} draft{many}, {open_blanks} blanks ("?? ..."). Fill those outside review,'
    )
    typer.echo(f"then answer for them: adf-ea finalize {output}")


def _from_ros(kind: str, source: str, name: str, identity: str) -> Draft:
    if not _ROS_NAME.fullmatch(name):
        raise typer.BadParameter("--name is needed: the fully qualified ROS name, such as /navigate_to_pose")
    is_file = source.endswith((".action", ".srv", ".msg"))
    interface = read_interface(Path(source)) if is_file else find_interface(source)
    if interface.type.split("/")[1] != kind:
        raise DraftError(f"{interface.type} is no {kind} type")
    return draft_from_ros(interface, name, identity)
