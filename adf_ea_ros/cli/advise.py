"""``adf-ea advise``: what could be done next in an episode, from the ledger alone. It changes nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec
import typer

from adf_ea_ros.authority.state import State
from adf_ea_ros.cli.common import fail, present
from adf_ea_ros.cli.ledger import Mark, Where, reading
from adf_ea_ros.ledger.errors import LedgerError
from adf_ea_ros.recovery.advise import HORIZON, Advice, Kind, Piece
from adf_ea_ros.recovery.advise import advise as advice_of
from adf_ea_ros.runtime.book import Book, latest


def advise(
    where: Where,
    episode: Annotated[str, typer.Argument(help="Which one. Default: the one with the newest record.")] = "",
    horizon: Annotated[int, typer.Option(help="Decisions to look ahead, 1 to 6.")] = HORIZON,
    as_json: Annotated[bool, typer.Option("--json", help="Everything, for programs.")] = False,
    at_last: Annotated[
        bool, typer.Option("--at-last", help="As of the last decision, with the evidence that it had.")
    ] = False,
    mark: Mark = None,
) -> None:
    """Say what could be done next in an episode, the best first, and what one who takes over must know.

    From what the ledger retains, by the rules of the authority; its own ~/advise has the readbacks of this
    moment as well. Ends with 1 where the episode is over.
    """
    state = _state(where, episode, mark)
    now = state.clock if at_last else present(state.clock)
    found = advice_of(state, now, horizon=horizon)
    if as_json:
        typer.echo(msgspec.json.format(msgspec.json.encode(_plain(found)), indent=1).decode())
    else:
        _show(found, (now - state.clock) / 1e9)
    if found.error:
        raise typer.Exit(1)


def _state(where: str, episode: str, mark: Path | None) -> State:
    with reading(where, mark) as source:
        try:
            name = episode or latest(source)
            state = Book(source, 0).state(name) if name else None
        except LedgerError as error:
            raise fail(str(error)) from error
    if state is None:
        raise fail(f"there is no episode {episode!r} in this ledger" if episode else "there is no episode")
    return state


def _plain(found: Advice) -> dict[str, object]:
    """With the names of the actions instead of their numbers."""
    pieces = [
        {**msgspec.structs.asdict(piece), "action": Kind(piece.action).name.lower()} for piece in found.pieces
    ]
    return {**msgspec.structs.asdict(found), "pieces": pieces}


def _show(found: Advice, age: float) -> None:
    typer.echo(f"{found.episode}, {age:.1f} s after its last decision")
    if found.error:
        typer.echo(found.error)
    for number, piece in enumerate(found.pieces, start=1):
        typer.echo(f"{number}. {piece.sentence}{_worth(piece)}")
    for title, lines in (
        ("not known:", found.open),
        ("owed:", found.handoff.owed),
        ("known:", found.handoff.known),
    ):
        for i, line in enumerate(lines):
            typer.echo(f"{title if not i else '':<11}{line}")
    if found.pieces:
        typer.echo(f"looked {found.horizon} decisions ahead; {found.weights}")


def _worth(piece: Piece) -> str:
    if piece.action in (Kind.CLAIM, Kind.HAND_OVER):
        return ""
    return f"  [completion {piece.completion:.0%}, progress {piece.progress:.0%}, cost {piece.cost:.1f}]"
