"""``adf-ea approve``: a person approves the next attempt of a step, or takes an approval back (rule X12)."""

from __future__ import annotations

from typing import Annotated

import typer

from adf_ea_ros.contracts.units import parse_duration


def approve(
    episode: Annotated[str, typer.Argument(help="Id of the episode, as adf-ea watch shows it.")],
    step: Annotated[str, typer.Argument(help="Id of the step.")],
    by: Annotated[str, typer.Option(help="Who answers for it: your name.")],
    reason: Annotated[str, typer.Option(help="Why; it stays in the ledger.")] = "",
    lasts: Annotated[
        str,
        typer.Option("--for", help="How long it may be relied on, such as '2 min'; default: the contract's."),
    ] = "",
    withdraw: Annotated[bool, typer.Option("--withdraw", help="Take an unused approval back.")] = False,
    authority: Annotated[str, typer.Option(help="Full name of the authority node.")] = "/authority",
) -> None:
    """Approve the next attempt of a step, just as it would be sent now: one dispatch. Needs ROS.

    Ends with 1 where the authority refuses, and with 2 where it does not answer.
    """
    try:
        valid_for = parse_duration(lasts) / 1e9 if lasts else 0.0
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--for") from None
    if withdraw and lasts:
        raise typer.BadParameter("a withdrawal has no duration", param_hint="--for")
    try:
        # The layers that need no ROS must not load it: reached for only when this command is used.
        from adf_ea_ros.nodes.approver import run
    except ImportError as error:
        typer.echo(
            f"approve needs ROS 2 and this package's messages, and cannot import them: {error}\n"
            "  try: source your distribution and this workspace, or run it through .env/<distribution>/run",
            err=True,
        )
        raise typer.Exit(2) from None
    code = run(
        episode, step, by=by, reason=reason, valid_for=valid_for, withdraw=withdraw, authority=authority
    )
    raise typer.Exit(code)
