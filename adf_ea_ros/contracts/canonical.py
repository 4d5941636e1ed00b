"""Fingerprints: which content a contract had, whatever its spelling, comments and order of keys (appendix D).

They show that content changed. They are no signature: they say nothing about who wrote it.
"""

from __future__ import annotations

import hashlib
import json
import weakref

from adf_ea_ros.contracts.model import AnyContract

_NOT_CONTENT = {"review", "lifecycle"}  # how it came about and how far it is; not what it says
_LATER = ("shared", "shared_as")  # came later: unset, they leave earlier fingerprints as they were


def canonical(contract: AnyContract) -> bytes:
    """The content as JSON with sorted keys. Durations in nanoseconds, defaults written out."""
    content = contract.model_dump(mode="json", exclude=_NOT_CONTENT)
    for name in _LATER:
        if not content.get(name):
            content.pop(name, None)
    invocation = content.get("invocation", {})
    if invocation.get("approval", ...) is None:
        del invocation["approval"]
    return json.dumps(
        content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    ).encode()


def fingerprint(contract: AnyContract) -> str:
    """SHA-256 of the canonical content, in hexadecimal digits. Every request asks: it is kept with the
    contract."""
    kept = _KEPT.get(id(contract))
    if kept is not None and kept[0]() is contract:
        return kept[1]
    digest = hashlib.sha256(canonical(contract)).hexdigest()
    key = id(contract)
    _KEPT[key] = (weakref.ref(contract, lambda _: _KEPT.pop(key, None)), digest)
    return digest


# by identity: contracts are values, but not hashable
_KEPT: dict[int, tuple[weakref.ref[AnyContract], str]] = {}
