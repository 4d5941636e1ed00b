"""``adf-ea ledger resolve``: a person's word on a fact, where a contract takes it as evidence (rule X9)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import typer

from adf_ea_ros.authority.decide import decide
from adf_ea_ros.authority.requests import Attest
from adf_ea_ros.authority.state import State
from adf_ea_ros.cli.common import fail, present
from adf_ea_ros.contracts.model import Role
from adf_ea_ros.evidence.types import Requirement
from adf_ea_ros.ledger.errors import LedgerError
from adf_ea_ros.ledger.opening import open_ledger
from adf_ea_ros.ledger.sql import SqlLedger
from adf_ea_ros.runtime.book import Book


class Question(msgspec.Struct, frozen=True):
    """A requirement that a person may answer. ``attempt`` is empty for a goal that is bound to none."""

    attempt: str
    requirement: Requirement


def questions(state: State) -> Iterator[Question]:
    """What an operator may attest in this episode: of unresolved attempts, and of the goal."""
    for name in state.execution:
        operation = state.keys[state.attempts[name].key].operation
        for effect in operation.effects if operation is not None else ():
            yield from (Question(name, r) for r in effect.requirements if r.role is Role.OPERATOR)
    for goal in state.goal:
        yield from (Question("", r) for r in goal.requirements if r.role is Role.OPERATOR)


def resolve(
    where: str, episode: str, requirement: str, *, holds: bool | None, by: str, reason: str, mark: Path | None
) -> None:
    """List what may be attested or, with ``requirement``, put one answer on record."""
    if not requirement:
        _list(where, episode, mark)
        return
    if holds is None or not by or not reason:
        raise typer.BadParameter("an answer needs --holds or --absent, --by and --reason")
    try:
        with open_ledger(where, mark=mark) as ledger:
            _answer(ledger, episode, requirement, holds, by, reason)
    except (LedgerError, ValueError) as error:
        raise fail(str(error)) from error


def _list(where: str, episode: str, mark: Path | None) -> None:
    try:
        with open_ledger(where, mark=mark, read_only=True) as ledger:
            asked = list(questions(_state(Book(ledger, 0), episode)))
    except LedgerError as error:
        raise fail(str(error)) from error
    for question in asked:
        about = f"  (attempt {question.attempt})" if question.attempt else ""
        typer.echo(f"{question.requirement.id}: {question.requirement.condition}{about}")
    if not asked:
        typer.echo("no contract of this episode takes an operator's word for anything that is open")


def _state(book: Book, episode: str) -> State:
    state = book.state(episode)
    if state is None:
        raise fail(f"there is no episode {episode!r} in this ledger")
    return state


def _answer(ledger: SqlLedger, episode: str, requirement: str, holds: bool, by: str, reason: str) -> None:
    generation = ledger.open_writer(f"adf-ea ledger resolve, {by}")
    book = Book(ledger, generation)
    state = _state(book, episode)
    asked = [question for question in questions(state) if question.requirement.id == requirement]
    if not asked:
        raise fail(f"no contract of {episode} takes an operator's word for {requirement!r}")
    now = present(state.clock)
    request = Attest(by, reason, asked[0].requirement.condition, holds, asked[0].attempt)
    decision = decide(state, request, now)
    book.commit(episode, state, decision, now)
    typer.echo(decision.sentence)
    if not decision.authorized:
        raise typer.Exit(1)
