"""The differences between two world documents, and the operations that lead from one to the other. No I/O."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from contracts.world import WorldDifference, WorldOperation, WorldOperationKind
from memory.world.document import Document
from memory.world.operations import same


def differences(before: Document, after: Document) -> list[WorldDifference]:
    """Returns what changed, by path: fields, keys of objects, and below `extra` the first keys."""
    return [WorldDifference(path=path, before=one, after=other) for path, one, other, _ in _changed(before, after)]


def leading_to(before: Document, after: Document) -> list[WorldOperation]:
    """Returns operations that turn `before` into `after`."""
    return [
        WorldOperation(op=WorldOperationKind.set, path=path, value=value)
        if is_there
        else WorldOperation(op=WorldOperationKind.remove, path=path)
        for path, _, value, is_there in _changed(before, after)
    ]


def _changed(before: Document, after: Document) -> Iterator[tuple[str, Any, Any, bool]]:
    for name in after:
        one, other = before.get(name), after[name]
        if same(one, other):
            continue
        if isinstance(one, dict) and isinstance(other, dict):
            for key in sorted(one.keys() | other.keys()):
                if (key in one) != (key in other) or not same(one.get(key), other.get(key)):
                    yield f"/{name}/{_escaped(key)}", one.get(key), other.get(key), key in other
        else:
            yield f"/{name}", one, other, True


def _escaped(key: str) -> str:
    """Returns the key as a part of a JSON pointer (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1")
