"""``adf-ea policy``: the SROS2 policy that keeps everybody but the capability node away from the hardware."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from adf_ea_ros.cli.common import chosen_paths, fail, show_faults, write_new
from adf_ea_ros.contracts.catalog import Catalog
from adf_ea_ros.contracts.faults import ContractError
from adf_ea_ros.runtime.policy import Who, as_xml, rights
from adf_ea_ros.runtime.policy_check import NoPolicy, leaks

NOTE = (
    "Made by adf-ea policy from contracts. Of devices it knows what their contracts are about:\n"
    "       add what else your drivers need. It holds only where the middleware enforces it."
)


def policy(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(help="Files and folders with contracts. Default: the folder config."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write to this file instead of standard output.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file.")] = False,
    namespace: Annotated[str, typer.Option(help="Namespace of authority and capability node.")] = "",
    planner: Annotated[
        list[str] | None, typer.Option(help="Full name of a planner's node; may be given again.")
    ] = None,
    operator: Annotated[
        list[str] | None, typer.Option(help="Full name of an operator's node; may be given again.")
    ] = None,
    client: Annotated[
        list[str] | None,
        typer.Option(help="Full name of a node that uses a drop-in gate; may be given again."),
    ] = None,
    clock: Annotated[
        str, typer.Option(help="Full name of the node that publishes /clock, under use_sim_time.")
    ] = "",
    enclave: Annotated[
        list[str] | None,
        typer.Option(help="PATH=NODE,NODE: nodes of one process, such as /composed=/authority,/capability."),
    ] = None,
    check: Annotated[
        Path | None,
        typer.Option(help="Write nothing; say where this policy lets somebody around the contracts."),
    ] = None,
) -> None:
    """Print an SROS2 policy in which only the capability node may reach the hardware.

    Planners may call the capability node's actions and the authority's services for planners. The authority
    may read the readbacks, each of which its declared node alone may publish. With --check, ends with 1
    where a policy gives away one of these rights, also by a pattern or by a shared process.
    """
    try:
        catalog = Catalog.load(chosen_paths(paths))
    except ContractError as error:
        show_faults(error.faults)
        raise typer.Exit(1) from None
    space = f"/{namespace.strip('/')}" if namespace.strip("/") else ""
    who = Who(
        authority=f"{space}/authority",
        capability=f"{space}/capability",
        planners=tuple(map(_node, planner or [f"{space}/planner"])),
        operators=tuple(map(_node, operator or [f"{space}/operator"])),
        clients=tuple(map(_node, client or [])),
        clock=_node(clock) if clock else "",
    )
    if check is not None:
        _check(check, catalog, who)
        return
    granted = rights(catalog, who)
    text = as_xml(granted, _shared(enclave or [], set(granted)), NOTE)
    if output is None:
        typer.echo(text, nl=False)
    else:
        write_new(output, text, force=force)


def _node(name: str) -> str:
    if not name.startswith("/") or name.endswith("/"):
        raise typer.BadParameter(f"{name!r} is not the full name of a node, such as /planner")
    return name


def _shared(given: list[str], known: set[str]) -> dict[str, list[str]]:
    """The enclaves with several nodes, by path."""
    found: dict[str, list[str]] = {}
    for word in given:
        path, equals, nodes = word.partition("=")
        if not equals or not path.startswith("/") or not nodes:
            raise typer.BadParameter(f"--enclave {word!r}: expected PATH=NODE,NODE")
        found[path] = [_node(node.strip()) for node in nodes.split(",")]
        unknown = sorted(set(found[path]) - known)
        if unknown:
            raise typer.BadParameter(
                f"--enclave {path}: no node {', '.join(unknown)}; known: {', '.join(sorted(known))}"
            )
    return found


def _check(path: Path, catalog: Catalog, who: Who) -> None:
    try:
        found = leaks(path.read_text(encoding="utf-8"), catalog, who)
    except OSError as error:
        raise fail(f"{path}: {error.strerror}") from error
    except (NoPolicy, UnicodeDecodeError) as error:
        raise fail(f"{path}: {error}") from None
    for leak in found:
        typer.echo(f"{path}: {leak}")
    typer.echo(f"{len(found)} way{'s' * (len(found) != 1)} around the contracts", err=True)
    raise typer.Exit(1 if found else 0)
