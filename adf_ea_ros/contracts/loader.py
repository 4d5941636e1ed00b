"""Contract files to checked models, with every fault at once and the line it stands on (section 3.2).

``read_files`` never raises for what files contain; ``load_files`` raises ``ContractError``, and nothing else.
References between files are the catalog's business (``catalog.py``).
"""

from __future__ import annotations

import re
import typing
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import UnionType
from typing import Any

import msgspec
from pydantic import BaseModel, ValidationError

from adf_ea_ros.contracts import blanks, messages
from adf_ea_ros.contracts.checks import check_alone
from adf_ea_ros.contracts.faults import ContractError, Fault, Loc, dotted, one_of
from adf_ea_ros.contracts.model import AnyContract, CapabilityContract, Gate, ProviderContract, Task
from adf_ea_ros.contracts.yamlsource import MAX_BYTES, Marks, Raw, line_at, parse_documents

KINDS: dict[str, type[AnyContract]] = {
    "capability": CapabilityContract,
    "provider": ProviderContract,
    "task": Task,
    "gate": Gate,
}
SUFFIXES = (".yaml", ".yml")
_PARAMETERS = re.compile(
    r"^\s+ros__parameters:", re.MULTILINE
)  # node parameters lie beside contracts in config folders


class Document(msgspec.Struct, frozen=True):
    """A contract, and where each part of it was written."""

    contract: AnyContract
    file: str
    marks: Marks

    def fault(self, loc: Loc, message: str) -> Fault:
        """A fault at a place of this document."""
        return Fault(self.file, line_at(self.marks, loc), dotted(loc), message)


class Loaded(msgspec.Struct, frozen=True):
    """What files contained: the documents that are right by themselves, and what is wrong with the others."""

    documents: tuple[Document, ...]
    faults: tuple[Fault, ...]
    broken: frozenset[tuple[str, str]]  # kind and id of documents that could not be read, as far as legible

    @property
    def contracts(self) -> tuple[AnyContract, ...]:
        """The contracts alone, in the order of the files."""
        return tuple(document.contract for document in self.documents)

    def __add__(self, other: Loaded) -> Loaded:
        """Both together, as if their files had been read at once."""
        faults = tuple(sorted({*self.faults, *other.faults}))
        return Loaded((*self.documents, *other.documents), faults, self.broken | other.broken)


def load_files(paths: Iterable[str | Path]) -> Loaded:
    """The documents of all files (folders: of every YAML file below them that is no file of node parameters).

    Raises:
        ContractError: with every fault of every file.
    """
    loaded = read_files(paths)
    if loaded.faults:
        raise ContractError(loaded.faults)
    return loaded


def read_files(paths: Iterable[str | Path], *, drafts: bool = False) -> Loaded:
    """Like ``load_files``, but faults are returned. With ``drafts``, blanks to be filled are no faults."""
    texts: list[tuple[str, str]] = []
    faults: list[Fault] = []
    for path, named in _expand(paths, faults):
        text = _read(path, faults)
        if text is not None and (named or not _PARAMETERS.search(text)):
            texts.append((str(path), text))
    return _read_texts(texts, faults, drafts=drafts)


def read_text(text: str, file: str = "<text>", *, drafts: bool = False) -> Loaded:
    """Like ``read_files`` for text that is already in memory; ``file`` is the name in faults."""
    return _read_texts([(file, text)], [], drafts=drafts)


def _expand(paths: Iterable[str | Path], faults: list[Fault]) -> list[tuple[Path, bool]]:
    """The files in a fixed order, each once; and whether it was named, rather than found in a folder."""
    found: dict[Path, tuple[Path, bool]] = {}
    for given in map(Path, paths):
        try:
            is_folder = given.is_dir()
            below = (
                sorted(p for p in given.rglob("*") if p.suffix in SUFFIXES and p.is_file())
                if is_folder
                else [given]
            )
            if not below:
                faults.append(Fault(str(given), 0, "", f"no {' or '.join(SUFFIXES)} file in this folder"))
            for path in below:
                found.setdefault(path.resolve(), (path, not is_folder))
        except (OSError, ValueError, RuntimeError) as error:
            faults.append(Fault(str(given), 0, "", f"cannot be read: {error}"))
    return list(found.values())


def _read(path: Path, faults: list[Fault]) -> str | None:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        faults.append(Fault(str(path), 0, "", f"cannot be read: {reason}"))
        return None
    if len(data) > MAX_BYTES:
        faults.append(Fault(str(path), 0, "", f"larger than {MAX_BYTES} bytes: no contract is that long"))
        return None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        faults.append(Fault(str(path), line, "", "not UTF-8: save the file as UTF-8 text"))
        return None


def _read_texts(texts: Sequence[tuple[str, str]], faults: list[Fault], *, drafts: bool) -> Loaded:
    documents: list[Document] = []
    broken: set[tuple[str, str]] = set()
    for file, text in texts:
        before = len(faults)

        def report(line: int, loc: Loc, message: str, file: str = file) -> None:
            faults.append(Fault(file, line, dotted(loc), message))

        raws = parse_documents(text, report)
        if not raws and len(faults) == before:
            report(0, (), "the file has no content")
        for raw in raws:
            document = _document(raw, file, faults, drafts=drafts) if raw.complete else None
            if document is not None:
                documents.append(document)
            else:
                broken.add(_identity(raw.data))
    return Loaded(tuple(documents), tuple(sorted(set(faults))), frozenset(broken))


def _identity(data: Any) -> tuple[str, str]:
    if not isinstance(data, dict):
        return ("", "")
    return (str(data.get("kind", "")), str(data.get("id", "")))


def _document(raw: Raw, file: str, faults: list[Fault], *, drafts: bool) -> Document | None:
    """The model of one YAML document, or None with its faults added."""

    def fault(loc: Loc, message: str) -> None:
        faults.append(Fault(file, line_at(raw.marks, loc), dotted(loc), message))

    if not isinstance(raw.data, dict):
        fault((), "a contract is a mapping that begins with spec, kind, id and version")
        return None
    kind = raw.data.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        what = "is missing" if kind is None else f"{str(kind)[:40]!r} is not a kind of contract"
        fault(("kind",), what + one_of(kind, KINDS))
        return None
    spoiled = set(raw.spoiled)
    for loc, question in blanks.find(raw.data):
        spoiled.add(loc)
        if not drafts:
            fault(loc, f"a blank to be filled: {question}")
    model = KINDS[kind]
    try:
        contract = model.model_validate_json(msgspec.json.encode(raw.data), strict=True)
    except ValidationError as error:
        for loc, message in messages.explain(error, raw.data, lambda at: fields_at(model, at)):
            if not any(loc[:length] in spoiled for length in range(len(loc) + 1)):
                fault(loc, message)
        return None
    if spoiled and not drafts:
        return None
    alone = list(check_alone(contract))
    for loc, message in alone:
        if loc not in spoiled:
            fault(loc, message)
    return None if alone or spoiled else Document(contract, file, raw.marks)


def fields_at(model: type[BaseModel], loc: Loc) -> tuple[str, ...]:
    """The names of the fields that may stand at a place of a document of this model."""
    types: list[Any] = [model]
    for part in loc:
        types = [inner for outer in types for inner in _inside(outer, part)]
    return tuple(name for kind in types if _is_model(kind) for name in kind.model_fields)


def _inside(kind: Any, part: str | int) -> Sequence[Any]:
    if _is_model(kind):
        field = kind.model_fields.get(part) if isinstance(part, str) else None
        return _alternatives(field.annotation) if field is not None else ()
    arguments = typing.get_args(kind)
    if typing.get_origin(kind) is dict:
        return _alternatives(arguments[1])
    if typing.get_origin(kind) in (tuple, list):
        return _alternatives(arguments[0])
    return ()


def _alternatives(kind: Any) -> list[Any]:
    """The members of a union, with annotations taken off."""
    if typing.get_origin(kind) is typing.Annotated:
        return _alternatives(typing.get_args(kind)[0])
    if typing.get_origin(kind) in (typing.Union, UnionType):
        return [inner for member in typing.get_args(kind) for inner in _alternatives(member)]
    return [kind]


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)
