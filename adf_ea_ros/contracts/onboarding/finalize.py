"""Finalizing: the reviewer's decisions and attestations go into the draft, and it becomes active (section
3.2).

The file is edited in place at the very values, so comments and layout stay. Nothing becomes active while a
blank
is open, a required decision or attestation is missing, or any check fails.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec
import yaml

from adf_ea_ros.contracts.blanks import is_blank
from adf_ea_ros.contracts.canonical import fingerprint
from adf_ea_ros.contracts.catalog import check_catalog, identity
from adf_ea_ros.contracts.faults import ContractError, Fault, Loc, dotted
from adf_ea_ros.contracts.loader import Loaded, read_text
from adf_ea_ros.contracts.onboarding.draft import clean, scalar
from adf_ea_ros.contracts.yamlsource import parse_documents

Place = tuple[int, Loc]
"""Which document of the file, and where in it."""


class Open(msgspec.Struct, frozen=True):
    """A decision or attestation that nobody has answered for yet."""

    document: int  # which document of the file, from 0
    contract: str
    kind: str  # "decisions" or "attestations"
    id: str
    question: str
    proposal: str = ""


class Answers(msgspec.Struct, frozen=True):
    """What the reviewer said. Keys are the ids of decisions and attestations."""

    reviewer: str
    date: str  # of the review, such as 2026-01-31
    decisions: Mapping[str, str] = {}  # id: decision in words; "*" answers for all
    attestations: frozenset[str] = frozenset()  # ids that the reviewer states; "*" for all


def open_questions(text: str) -> list[Open]:
    """The decisions and attestations that need an answer, in the order of the file.

    These are the blank ones; where an active contract was changed after its review, all of them again.
    """
    stale = _stale(text)
    found: list[Open] = []
    for index, data in _reviewed(text):
        for kind, words in (("decisions", "question"), ("attestations", "statement")):
            entries = data["review"].get(kind)
            for name, entry in (entries if isinstance(entries, dict) else {}).items():
                if isinstance(entry, dict) and (index in stale or any(map(is_blank, entry.values()))):
                    about, said = str(entry.get(words, "")), str(entry.get("proposal", ""))
                    found.append(Open(index, str(data.get("id", "")), kind, str(name), about, said))
    return found


def finalize(text: str, file: str, answers: Answers, others: Loaded | None = None) -> str:
    """The text of the finalized file.

    ``others`` are the contracts that references may lead to.

    Raises:
        ContractError: with everything that is still open or wrong.
    """
    if not answers.reviewer.strip() or is_blank(answers.reviewer):
        raise ContractError([Fault(file, 0, "review", "a review needs the name of the reviewer")])
    _refuse_faults(_yaml_faults(text, file))
    draft = _replace(
        _answer(text, answers), {**_each(text, "lifecycle", "draft"), **_each(text, "fingerprint", "")}
    )
    loaded = read_text(draft, file)
    unanswered = [q for q in open_questions(text) if not _said(q, answers) and q.document in _stale(text)]
    _refuse_faults([*loaded.faults, *(_again(q, file) for q in unanswered)])  # also every blank
    changes = {**_each(text, "lifecycle", "active"), **_each(text, "reviewed", answers.date)}
    prints = [fingerprint(document.contract) for document in loaded.documents]
    changes |= {(index, loc): prints[index] for index, loc in _each(text, "fingerprint", "")}
    _refuse_faults(_unplaced(draft, loaded, changes))
    final = _replace(draft, changes)
    own = read_text(final, file)
    faults = check_catalog(_without_own(others, own) + own)
    _refuse_faults(fault for fault in faults if fault.file == file)
    return final


def keep(text: str, answers: Answers) -> str:
    """The drafts of the file with these answers in them, as far as they go; all of them stay drafts."""
    if _yaml_faults(text, "") or not answers.reviewer.strip():
        return text
    return _answer(text, answers, drafts_only=True)


def _refuse_faults(faults: Iterable[Fault]) -> None:
    found = list(faults)
    if found:
        raise ContractError(found)


def _yaml_faults(text: str, file: str) -> list[Fault]:
    faults: list[Fault] = []
    parse_documents(text, lambda line, loc, message: faults.append(Fault(file, line, dotted(loc), message)))
    return faults


def _reviewed(text: str) -> list[tuple[int, dict[str, Any]]]:
    """The documents that finalizing is about: drafts and active contracts with a review."""
    documents = [raw.data for raw in parse_documents(text, lambda *_: None)]
    return [
        (index, data)
        for index, data in enumerate(documents)
        if isinstance(data, dict)
        and isinstance(data.get("review"), dict)
        and data.get("lifecycle", "active") in ("draft", "active")
    ]


def _each(text: str, field: str, value: str) -> dict[Place, str]:
    """One field of each of these documents, to be set."""
    loc: Loc = (field,) if field == "lifecycle" else ("review", field)
    return {(index, loc): value for index, _ in _reviewed(text)}


def _stale(text: str) -> set[int]:
    """The active documents whose content is no longer what was reviewed."""
    if _yaml_faults(text, ""):
        return set()
    loaded = read_text(_replace(text, _each(text, "lifecycle", "draft")))
    if loaded.faults:
        return set()
    return {
        index
        for index, data in _reviewed(text)
        if data.get("lifecycle", "active") == "active"
        and data["review"].get("fingerprint") != fingerprint(loaded.documents[index].contract)
    }


def _without_own(others: Loaded | None, own: Loaded) -> Loaded:
    """The others, but for older readings of the documents of this file."""
    if others is None:
        return Loaded((), (), frozenset())
    identities = {identity(d.contract) for d in own.documents}
    return msgspec.structs.replace(
        others, documents=tuple(d for d in others.documents if identity(d.contract) not in identities)
    )


def _unplaced(text: str, loaded: Loaded, changes: Iterable[Place]) -> Iterator[Fault]:
    """Where the outcome of the review would have no place: only values that are there are replaced."""
    places = _spans(text)
    for index, loc in changes:
        if loc[0] == "review" and (index, loc) not in places:
            yield loaded.documents[index].fault(loc, f'finalize writes its result here: add {loc[-1]}: ""')


def _again(question: Open, file: str) -> Fault:
    path = dotted(("review", question.kind, question.id))
    return Fault(file, 0, path, f"{question.contract} was changed after its review: this needs a new answer")


def _said(question: Open, answers: Answers) -> str:
    """What the reviewer says to a question, or nothing."""
    if question.kind == "decisions":
        return answers.decisions.get(question.id, answers.decisions.get("*", ""))
    return question.question if question.id in answers.attestations or "*" in answers.attestations else ""


def _answer(text: str, answers: Answers, *, drafts_only: bool = False) -> str:
    changes: dict[Place, str] = {}
    drafts = {index for index, data in _reviewed(text) if data.get("lifecycle") == "draft"}
    for question in open_questions(text):
        if drafts_only and question.document not in drafts:
            continue
        at: Loc = ("review", question.kind, question.id)
        said = _said(question, answers)
        if said:
            changes[question.document, (*at, "by")] = clean(answers.reviewer)
        if said and question.kind == "decisions":
            changes[question.document, (*at, "decision")] = clean(said)
    return _replace(text, changes)


def _replace(text: str, changes: Mapping[Place, str]) -> str:
    """The text with the values at these places replaced. Places that are not there are left out."""
    spans = _spans(text)
    edits = [(spans[place], value) for place, value in changes.items() if place in spans]
    for (start, end), value in sorted(edits, reverse=True):
        text = text[:start] + scalar(value) + text[end:]
    return text


def _spans(text: str) -> dict[Place, tuple[int, int]]:
    """Where each single value stands in a text that ``parse_documents`` has accepted."""
    found: dict[Place, tuple[int, int]] = {}

    def walk(node: yaml.Node, index: int, loc: Loc) -> None:
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                walk(value, index, (*loc, str(key.value)))
        elif isinstance(node, yaml.SequenceNode):
            for position, value in enumerate(node.value):
                walk(value, index, (*loc, position))
        else:
            found[index, loc] = (node.start_mark.index, node.end_mark.index)

    for index, root in enumerate(yaml.compose_all(text, Loader=yaml.SafeLoader)):
        if root is not None:
            walk(root, index, ())
    return found
