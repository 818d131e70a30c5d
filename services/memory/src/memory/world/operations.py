"""Typed operations on world documents: checked against the schema, applied in order, undone by events. No I/O."""

from __future__ import annotations

import json
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from contracts.world import LARGEST_BYTES, WorldDocument, WorldOperation, WorldOperationKind
from memory.errors import WorldOperationFailed, WorldOperationInvalid
from memory.world.document import Document, defaults

KIND = WorldOperationKind
SCHEMA = defaults()
NOT_CHANGED_BY_CALLERS = "schema_version"


@dataclass(frozen=True)
class Effect:
    """The effect of one operation. `touched` is the path that changed; if it `existed` before, it held `previous`."""

    operation: WorldOperation
    touched: tuple[str, ...]
    previous: Any
    existed: bool


@dataclass(frozen=True)
class Applied:
    """The document after all operations, and the effects of those that changed something."""

    document: Document
    effects: list[Effect]


def apply(document: Document, operations: Sequence[WorldOperation]) -> Applied:
    """Applies all operations. Raises WorldOperationInvalid (path, value) or WorldOperationFailed (current state)."""
    current, effects = document, list[Effect]()
    for number, operation in enumerate(operations, 1):
        place = f"operation {number} ({operation.op.value} {operation.path})"
        keys = _known(operation, place)
        changed = _applied(deepcopy(current), operation, keys, place)
        changed = _checked(changed, place)
        if not same(changed, current):
            touched = _touched(keys)
            existed, previous = lookup(current, touched)
            effects.append(Effect(operation, touched, previous, existed))
        current = changed
    return Applied(current, effects)


def undo(document: Document, touched: Sequence[str], previous: Any, existed: bool) -> Document:
    """Returns the document as it was before an effect."""
    before = deepcopy(document)
    if existed:
        _put(before, touched, previous)
    else:
        _take(before, touched)
    return before


def lookup(document: Document, keys: Sequence[str]) -> tuple[bool, Any]:
    """Returns whether there is something at the path, and what."""
    at: Any = document
    for key in keys:
        if not isinstance(at, dict) or key not in at:
            return False, None
        at = at[key]
    return True, at


def same(one: Any, other: Any) -> bool:
    """Returns whether two JSON values are equal; unlike in Python, true is not 1."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _known(operation: WorldOperation, place: str) -> list[str]:
    """Returns the keys of the path. Raises WorldOperationInvalid unless the schema allows it."""
    keys = operation.keys
    first, *rest = keys
    if first not in SCHEMA or first == NOT_CHANGED_BY_CALLERS:
        raise WorldOperationInvalid(f"{place}: the schema has no {first!r}; it has {_names(SCHEMA)}")
    if rest and first != "extra":
        expected = SCHEMA[first]
        if not isinstance(expected, dict):
            raise WorldOperationInvalid(f"{place}: /{first} is one value; name no place inside it")
        if len(rest) > 1 or rest[0] not in expected:
            raise WorldOperationInvalid(f"{place}: /{first} has {_names(expected)}")
    is_list = isinstance(SCHEMA[first], list)
    if operation.op is KIND.add and not (is_list or (first == "extra" and rest)):
        raise WorldOperationInvalid(f"{place}: there is no list to add to")
    if operation.op is KIND.merge and not isinstance(operation.value, dict):
        raise WorldOperationInvalid(f"{place}: what is merged must be an object")
    if operation.op is KIND.merge and (is_list or (rest and first != "extra") or not isinstance(SCHEMA[first], dict)):
        raise WorldOperationInvalid(f"{place}: there is no object to merge into")
    if operation.op is not KIND.remove and not operation.has_value:
        raise WorldOperationInvalid(f"{place}: a value is missing")
    if operation.op is KIND.remove and is_list and not operation.has_value:
        raise WorldOperationInvalid(f"{place}: name the item to remove as the value")
    return keys


def _names(fields: dict[str, Any]) -> str:
    return ", ".join(sorted(name for name in fields if name != NOT_CHANGED_BY_CALLERS))


def _applied(document: Document, operation: WorldOperation, keys: list[str], place: str) -> Document:
    existed, current = lookup(document, keys)
    match operation.op:
        case KIND.set:
            _put(document, keys, deepcopy(operation.value), place)
        case KIND.add:
            _add(document, keys, operation.value, current, existed, place)
        case KIND.remove:
            _remove(document, keys, operation, current, existed, place)
        case KIND.merge:
            if existed and not isinstance(current, dict):
                raise WorldOperationFailed(f"{place}: there is no object to merge into")
            _put(document, keys, _merged(current if existed else {}, operation.value), place)
        case KIND.test:
            if not same(current, operation.value):
                raise WorldOperationFailed(f"{place}: the value there is another one")
    return document


def _add(document: Document, keys: list[str], value: Any, current: Any, existed: bool, place: str) -> None:
    if existed and not isinstance(current, list):
        raise WorldOperationFailed(f"{place}: there is no list")
    items = current if existed else []
    if not any(same(item, value) for item in items):
        _put(document, keys, [*items, deepcopy(value)], place)


def _remove(
    document: Document, keys: list[str], operation: WorldOperation, current: Any, existed: bool, place: str
) -> None:
    if not existed:
        raise WorldOperationFailed(f"{place}: there is nothing")
    if operation.has_value:
        if not isinstance(current, list):
            raise WorldOperationFailed(f"{place}: there is no list")
        kept = [item for item in current if not same(item, operation.value)]
        if len(kept) == len(current):
            raise WorldOperationFailed(f"{place}: the list does not have it")
        _put(document, keys, kept)
        return
    known, default = lookup(SCHEMA, keys)
    if known:
        _put(document, keys, deepcopy(default))
    else:
        _take(document, keys)


def _merged(target: Any, patch: Any) -> Any:
    """Returns the result of a JSON merge patch (RFC 7396)."""
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = _merged(result.get(key), value)
    return result


def _put(document: Document, keys: Sequence[str], value: Any, place: str = "") -> None:
    at = document
    for key in keys[:-1]:
        at = at.setdefault(key, {})
        if not isinstance(at, dict):
            raise WorldOperationFailed(f"{place}: {key!r} is no object")
    at[keys[-1]] = value


def _take(document: Document, keys: Sequence[str]) -> None:
    is_there, parent = lookup(document, keys[:-1])
    if is_there and isinstance(parent, dict):
        parent.pop(keys[-1], None)


def _touched(keys: list[str]) -> tuple[str, ...]:
    """Returns the path whose previous value an event keeps: the field; below `extra`, the first key."""
    return tuple(keys[:2]) if keys[0] == "extra" and len(keys) > 1 else (keys[0],)


def _checked(document: Document, place: str) -> Document:
    try:
        whole = WorldDocument.model_validate(document).model_dump(mode="json")
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        at = "/".join(map(str, first["loc"]))
        raise WorldOperationInvalid(f"{place}: /{at}: {first['msg']}") from error
    if len(json.dumps(whole, ensure_ascii=False).encode()) > LARGEST_BYTES:
        raise WorldOperationInvalid(f"{place}: the document would take more than {LARGEST_BYTES} bytes")
    return whole
