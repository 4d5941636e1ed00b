"""``adf-ea finalize``: the reviewer answers, and a draft without blanks becomes active."""

from __future__ import annotations

import datetime as dt
import sys
from pathlib import Path
from typing import Annotated

import typer

from adf_ea_ros.cli.common import fail, show_faults
from adf_ea_ros.contracts.faults import ContractError
from adf_ea_ros.contracts.loader import Loaded, read_files
from adf_ea_ros.contracts.onboarding.finalize import Answers, Open, keep, open_questions
from adf_ea_ros.contracts.onboarding.finalize import finalize as finalized

AS_WRITTEN = "accepted as written in this file"


def finalize(
    file: Annotated[Path, typer.Argument(help="The draft.", exists=True, dir_okay=False, readable=True)],
    reviewer: Annotated[str, typer.Option(help="Who answers for the contract. Default: asked for.")] = "",
    accept: Annotated[
        list[str] | None, typer.Option(help=("Decide this question as the file says. May be repeated."))
    ] = None,
    accept_all: Annotated[
        bool, typer.Option("--accept-all", help=("Decide every open question as the file says."))
    ] = False,
    decide: Annotated[
        list[str] | None, typer.Option(help=("ID=WORDS: decide a question in these words. May be repeated."))
    ] = None,
    attest: Annotated[list[str] | None, typer.Option(help="State this attestation. May be repeated.")] = None,
    attest_all: Annotated[bool, typer.Option("--attest-all", help="State every open attestation.")] = False,
    using: Annotated[
        list[Path] | None, typer.Option("--with", help="More contracts that this may refer to.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what is missing; change nothing.")] = False,
) -> None:
    """Record decisions and attestations, check everything, and make the draft active.

    At a terminal, what no option answers is asked for. The file stays a draft unless all is well; answers
    that were typed are kept in it.
    """
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise fail(f"{file}: cannot be read: {error}") from None
    decisions = dict.fromkeys(accept or [], AS_WRITTEN) | ({"*": AS_WRITTEN} if accept_all else {})
    decisions |= dict(_pair(given) for given in decide or [])
    attestations = set(attest or []) | ({"*"} if attest_all else set())
    _refuse_unknown(text, decisions.keys() | attestations)
    asking = sys.stdin.isatty() and not dry_run
    today = dt.datetime.now(dt.timezone.utc).date().isoformat()

    def answers() -> Answers:
        return Answers(reviewer, today, decisions, frozenset(attestations))

    if asking:
        reviewer = reviewer or typer.prompt("Your name")
        try:
            _ask(text, decisions, attestations)
        except typer.Abort:
            _keep(file, text, answers())
            raise
    others = read_files(using) if using else Loaded((), (), frozenset())
    try:
        result = finalized(text, str(file), answers(), others)
    except ContractError as error:
        if asking:
            _keep(file, text, answers())
        show_faults(error.faults)
        raise fail(f"{file} stays a draft: {len(error.faults)} to do") from None
    if dry_run:
        typer.echo(f"{file}: all is there")
        return
    _replace(file, result)
    typer.echo(f"{file}: active, reviewed by {reviewer} on {today}")


def _pair(given: str) -> tuple[str, str]:
    name, equals, words = given.partition("=")
    if not equals or not words.strip():
        raise typer.BadParameter(f"--decide {given!r}: write ID=WORDS")
    return name, words


def _refuse_unknown(text: str, ids: set[str]) -> None:
    known = {question.id for question in open_questions(text)}
    for name in sorted(ids - known - {"*"}):
        raise typer.BadParameter(f"{name!r} is not open; open are: {', '.join(sorted(known)) or 'none'}")


def _ask(text: str, decisions: dict[str, str], attestations: set[str]) -> None:
    for question in open_questions(text):
        given = decisions.keys() if question.kind == "decisions" else attestations
        if question.id in given or "*" in given:
            continue
        if question.kind == "decisions":
            decisions[question.id] = typer.prompt(_words(question), default=AS_WRITTEN)
        elif typer.confirm(f"{question.contract}: {question.question} Do you state this?"):
            attestations.add(question.id)


def _keep(file: Path, text: str, answers: Answers) -> None:
    """What was typed is not typed again."""
    kept = keep(text, answers)
    if kept != text:
        _replace(file, kept)
        typer.echo(f"{file}: your answers are kept in it", err=True)


def _words(question: Open) -> str:
    proposal = f" (proposed: {question.proposal})" if question.proposal else ""
    return f"{question.contract}, {question.id}: {question.question}{proposal}"


def _replace(file: Path, text: str) -> None:
    """Write beside the file, then take its place: no crash leaves half a contract."""
    beside = file.with_name(f".{file.name}.new")
    try:
        beside.write_text(text, encoding="utf-8")
        beside.replace(file)
    except OSError as error:
        raise fail(f"{file}: {error.strerror}") from None
