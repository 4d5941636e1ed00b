"""``adf-ea ledger ...`` and ``adf-ea explain``: look at a ledger, check it, save it, settle it by hand.

All of it works without ROS. What only reads can be used beside a running authority; what writes is refused
with the name of the process that holds the ledger.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, BinaryIO

import typer
from rich.console import Console
from rich.text import Text

from adf_ea_ros.authority.events import AnyEvent, decode_event
from adf_ea_ros.authority.state import decode_state
from adf_ea_ros.cli.common import fail
from adf_ea_ros.ledger import archive as files
from adf_ea_ros.ledger.errors import EpisodeArchived, LedgerError
from adf_ea_ros.ledger.explain import UnknownName
from adf_ea_ros.ledger.explain import explain as explained
from adf_ea_ros.ledger.fleet import Fleet
from adf_ea_ros.ledger.folding import fold_records, settled_episodes
from adf_ea_ros.ledger.opening import open_ledger
from adf_ea_ros.ledger.record import Record
from adf_ea_ros.ledger.salvage import Salvage, explain_file
from adf_ea_ros.ledger.sql import SqlLedger
from adf_ea_ros.ledger.store import Checkpoint, Finding, Verification
from adf_ea_ros.ledger.timeline import describe, seconds

ledger = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Show, verify, explain, export and archive ledgers.",
)

TONES = {"good": "green", "bad": "bold red", "warn": "yellow", "plain": "", "dim": "dim"}

Where = Annotated[str, typer.Argument(metavar="LEDGER", help="An SQLite file, or postgresql://...[#schema].")]
Mark = Annotated[Path | None, typer.Option(help="The high-water mark, if it is not beside the file.")]
By = Annotated[str, typer.Option(help="Your name: it goes on record.")]
Reason = Annotated[str, typer.Option(help="Why: it goes on record.")]


def reading(where: str, mark: Path | None = None) -> SqlLedger:
    """The ledger, opened for looking; ends the command where that is not possible."""
    try:
        return open_ledger(where, mark=mark, read_only=True)
    except LedgerError as error:
        for line in explain_file(Path(where)) if Path(where).is_file() else ():
            typer.echo(f"  {line}", err=True)
        raise fail(str(error)) from error


# ---- show


@ledger.command()
def show(
    where: Where,
    episode: Annotated[str, typer.Argument(help="Show its timeline. '@ledger': the ledger's own.")] = "",
    last: Annotated[int, typer.Option(help="Only so many of the newest records.")] = 0,
    mark: Mark = None,
) -> None:
    """List the episodes of a ledger, or the timeline of one."""
    console = Console(highlight=False, soft_wrap=True)
    with reading(where, mark) as source:
        try:
            if not episode:
                _overview(source, console)
                return
            _timeline(source, episode, last, console)
        except EpisodeArchived as error:
            raise fail(str(error)) from error
        except LedgerError as error:
            raise fail(str(error)) from error


def _overview(source: SqlLedger, console: Console) -> None:
    for name in source.episodes():
        head = source.head(name)
        if head is not None:
            entry = describe(head)
            line = Text.assemble(
                (f"{name:<32} ", "bold"),
                (f"{head.version:>6} records, generation {head.generation:<3} ", "dim"),
                (entry.text, TONES[entry.tone]),
            )
            # In a terminal a line is a line; what is piped somewhere is complete.
            console.print(line, no_wrap=True, overflow="ellipsis", soft_wrap=not console.is_terminal)
    for gone in source.archives():
        console.print(f"{gone.episode:<32} {gone.version:>6} records, archived in {gone.file}", style="dim")


def _timeline(source: SqlLedger, episode: str, last: int, console: Console) -> None:
    head = source.head(episode)
    records = source.read(episode, max(0, head.version - last) if head and last else 0)
    start, generation = None, 0
    for record in records:
        start = record.time if start is None else start
        if record.generation != generation and generation:
            console.rule(f"generation {record.generation}", style="yellow", align="left")
        generation = record.generation
        console.print(line_of(record, start))
    if start is None:
        raise fail(f"there is no episode {episode!r} in this ledger")


def line_of(record: Record, start: int) -> Text:
    """One record of a timeline."""
    entry = describe(record)
    line = Text.assemble(
        (f"{record.version:>5} ", "dim"),
        (f"{seconds(record.time, start):>12}  ", "cyan"),
        (f"{record.kind:<18} ", "bold"),
        (entry.text, TONES[entry.tone]),
    )
    if entry.codes:
        line.append(f"  [{', '.join(entry.codes)}]", "magenta")
    return line


# ---- verify


@ledger.command()
def verify(
    where: Annotated[str, typer.Argument(metavar="LEDGER", help="A ledger, or a file that was exported.")],
    against: Annotated[str, typer.Option(help="For a file: the ledger that it was archived from.")] = "",
    replay: Annotated[
        bool, typer.Option(help="Also fold every checkpointed episode from its beginning.")
    ] = False,
    expect: Annotated[str, typer.Option(help="POSITION:LINK as an earlier verification printed it.")] = "",
    mark: Mark = None,
) -> None:
    """Recompute everything. Ends with 1 if anything is not as it was written."""
    if _is_file_of_lines(where):
        origin = reading(against, mark) if against else None
        result = files.verify_file(Path(where), origin)
    else:
        with reading(where, mark) as source:
            result = source.verify(_replay if replay else None)
            result = _with(result, _unexpected(source, expect)) if expect else result
    report(result)
    if not result.ok:
        raise typer.Exit(1)


def _is_file_of_lines(where: str) -> bool:
    try:
        with Path(where).open("rb") as stream:
            return stream.read(1) == b"{"
    except OSError:
        return False


def _replay(checkpoint: Checkpoint, records: Iterator[Record]) -> bool:
    return fold_records(checkpoint.episode, records) == decode_state(checkpoint.state)


def _unexpected(source: SqlLedger, expect: str) -> Finding | None:
    position, _, link = expect.partition(":")
    if not position.isdecimal() or len(link) != 64:
        raise typer.BadParameter("write it as the command prints it, POSITION:LINK", param_hint="--expect")
    for record in source.read_all(after=int(position) - 1):
        if record.position == int(position) and record.link.hex() == link:
            return None
        break
    meaning = f"the record {position} that was noted is not in this ledger: it was replaced or cut short"
    return Finding("behind_mark", meaning, "Restore the newest copy", position=int(position))


def _with(result: Verification, finding: Finding | None) -> Verification:
    found = result.findings if finding is None else (*result.findings, finding)
    return Verification(
        result.ledger,
        result.records,
        result.episodes,
        result.archived,
        result.position,
        result.link,
        found,
        result.more,
    )


def report(result: Verification) -> None:
    """Print what a verification found."""
    console = Console(highlight=False)
    archived = f", {result.archived} archived" if result.archived else ""
    console.print(f"ledger {result.ledger}: {result.records} records of {result.episodes} episodes{archived}")
    if result.link:
        console.print(f"head   {result.position}:{result.link}", soft_wrap=True)
    if result.ok:
        console.print("everything is as it was written", style="green")
        return
    remedies = dict.fromkeys(finding.remedy for finding in result.findings)
    for finding in result.findings:
        console.print(Text(f"  {finding}", "red"), soft_wrap=True)
    if result.more:
        console.print(f"  and {result.more} more", style="red")
    for remedy in remedies:
        console.print(Text(f"{remedy}.", "yellow"), soft_wrap=True)


# ---- export and archive


@ledger.command()
def export(
    where: Where,
    episode: Annotated[str, typer.Argument(help="Only this one.")] = "",
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="A new file; else standard output.")
    ] = None,
    sound: Annotated[bool, typer.Option(help="From a damaged ledger: whatever is still sound.")] = False,
    mark: Mark = None,
) -> None:
    """Write records as lines of JSON, with their hashes."""
    with reading(where, mark) as source:
        salvage = Salvage(source)
        lines = _sound_lines(salvage, episode) if sound else _lines(source, episode)
        try:
            if output is None:
                trailer = files.write(sys.stdout.buffer, source.id, lines)
            else:
                with _new(output) as stream:
                    trailer = files.write(stream, source.id, lines)
        except LedgerError as error:
            raise fail(f"{error} With --sound, what is left is written") from error
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(1) from None
    lost = f", {salvage.lost} were not sound" if salvage.lost else ""
    typer.echo(f"{trailer.records} records{lost}", err=True)
    if salvage.lost:
        raise typer.Exit(1)


def _new(path: Path) -> BinaryIO:
    try:
        return path.open("xb")
    except OSError as error:
        raise fail(f"{path}: {error.strerror}") from error


def _lines(source: SqlLedger, episode: str) -> Iterable[files.Line]:
    return map(files.line, source.read(episode) if episode else source.read_all())


def _sound_lines(salvage: Salvage, episode: str) -> Iterable[files.Line]:
    for record, behind in salvage.records():
        if not episode or record.episode == episode:
            yield files.line(record, after_fault=behind)


@ledger.command()
def archive(
    where: Where,
    output: Annotated[Path, typer.Argument(metavar="FILE", help="A new file for the episodes.")],
    episodes: Annotated[list[str] | None, typer.Argument(metavar="[EPISODE]...", help="Which ones.")] = None,
    settled: Annotated[bool, typer.Option(help="Every episode that has ended and has nothing open.")] = False,
    mark: Mark = None,
) -> None:
    """Move episodes that are over to a file that verifies by itself. No authority may be running."""
    if bool(episodes) == settled:
        raise typer.BadParameter("name episodes, or say --settled")
    with _writing(where, mark) as target:
        try:
            target.open_writer("adf-ea ledger archive")
            chosen = list(episodes or settled_episodes(target))
            if not chosen:
                typer.echo("no episode is settled: nothing was archived")
                return
            time = max((head.time for name in chosen if (head := target.head(name)) is not None), default=0)
            moved = files.archive_episodes(target, chosen, output, time=time)
        except (LedgerError, ValueError) as error:
            raise fail(str(error)) from error
    for one in moved:
        typer.echo(f"{one.episode}: {one.version} records")


def _writing(where: str, mark: Path | None) -> SqlLedger:
    try:
        if "://" not in where and not Path(where).exists():
            raise fail(f"there is no ledger {where}")
        return open_ledger(where, mark=mark)
    except LedgerError as error:
        raise fail(str(error)) from error


@ledger.command()
def accept(where: Where, by: By, reason: Reason, mark: Mark = None) -> None:
    """Take a ledger that is behind its mark as it is, after a backup was restored or the mark was lost.

    What was lost must be settled by looking at the equipment: the ledger does not know of it. Records that
    are not as they were written cannot be accepted.
    """
    with _writing(where, mark) as target:
        try:
            target.accept(by, reason)
        except (LedgerError, ValueError) as error:
            raise fail(str(error)) from error
        result = target.verify()
    report(result)


@ledger.command()
def resolve(
    where: Where,
    episode: Annotated[str, typer.Argument(help="Which episode.")],
    requirement: Annotated[str, typer.Argument(help="Which requirement; without it, list them.")] = "",
    holds: Annotated[
        bool | None, typer.Option("--holds/--absent", help="You saw that it holds, or that it does not.")
    ] = None,
    by: By = "",
    reason: Reason = "",
    mark: Mark = None,
) -> None:
    """Put your word on record, where a contract takes an operator's. No authority may be running."""
    # Only here: it needs the deciding half of the package, the other commands only read.
    from adf_ea_ros.cli.resolve import resolve as put_on_record  # noqa: PLC0415

    put_on_record(where, episode, requirement, holds=holds, by=by, reason=reason, mark=mark)


# ---- what several authorities share


@ledger.command()
def leases(where: Where) -> None:
    """List the authorities of a database, and what each holds of what they share."""
    console = Console(highlight=False, soft_wrap=True)
    try:
        with Fleet(where) as fleet:
            for name, schema in fleet.ledgers():
                console.print(Text.assemble((f"{name:<32} ", "bold"), (f"ledger #{schema}", "dim")))
            held = fleet.leases()
    except LedgerError as error:
        raise fail(str(error)) from error
    for lease in held:
        console.print(f"{lease.subject}: held by {lease.holder} for {lease.attempt} since {lease.since}")
    if not held:
        console.print("nothing is held", style="dim")


@ledger.command()
def release(
    where: Where, subject: Annotated[str, typer.Argument(help="What is held.")], by: By, reason: Reason
) -> None:
    """Take a lease from its holder, dead or alive: you vouch that nothing is still to come of its attempt."""
    try:
        with Fleet(where) as fleet:
            gone = fleet.release(subject, by, reason)
    except (LedgerError, ValueError) as error:
        raise fail(str(error)) from error
    if gone is None:
        raise fail(f"nobody holds {subject!r}")
    typer.echo(f"{gone.holder} held {subject} for {gone.attempt} since {gone.since}: released by {by}")


# ---- explain


@ledger.command(name="explain")
def _explain(
    where: Where, what: Annotated[str, typer.Argument(help="An episode, attempt or decision.")]
) -> None:
    """Say why, from the ledger alone: of an episode, an attempt (EPISODE.N) or a decision (EPISODE:N)."""
    explain(what, where)


def explain(
    what: Annotated[
        str, typer.Argument(help="An episode, an attempt (EPISODE.N) or a decision (EPISODE:N).")
    ],
    where: Annotated[
        str, typer.Option("--ledger", envvar="ADF_EA_LEDGER", help="An SQLite file or postgresql://...")
    ] = "",
) -> None:
    """Say why something was decided, and what is known of an attempt or an episode, from the ledger alone."""
    with reading(where or _default(), None) as source:

        def events(episode: str) -> Iterator[AnyEvent]:
            return (decode_event(record.payload) for record in source.read(episode))

        try:
            for sentence in explained(what, lambda name: source.head(name) is not None, events):
                typer.echo(sentence)
        except (LedgerError, UnknownName) as error:
            raise fail(str(error)) from error


def _default() -> str:
    """The one ledger where the authority node keeps its own, unless told otherwise."""
    folder = Path(os.environ.get("ROS_HOME") or Path.home() / ".ros") / "adf_ea"
    found = sorted(folder.glob("*.db"))
    if len(found) != 1:
        raise fail(f"there are {len(found)} ledgers in {folder}: name one with --ledger")
    return str(found[0])


app = ledger
