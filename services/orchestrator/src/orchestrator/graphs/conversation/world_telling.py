"""Turns a wish about the world state into operations and a text for the answer. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from contracts.world import WorldDocument, WorldOperation, WorldOperationKind
from orchestrator.graphs.conversation.world_wish import WorldWish

_NAMES = {
    "/goals": ("goals", "Ziele"),
    "/decisions": ("decisions", "Entscheidungen"),
    "/rules": ("rules", "Regeln"),
    "/topics": ("topics", "Themen"),
    "/open_questions": ("open questions", "Offene Fragen"),
    "/project/name": ("project's name", "Projektname"),
    "/project/status": ("project's status", "Projektstatus"),
    "/project/summary": ("project's summary", "Beschreibung des Projekts"),
    "/timezone": ("time zone", "Zeitzone"),
}
NOT_COMMITTED = "This answer was not finished, so nothing was changed in the world state."
_WHERE = {
    (False, False): "workspace",
    (False, True): "Arbeitsbereich",
    (True, False): "session",
    (True, True): "Sitzung",
}
_TEXTS = {
    "added": ("Added to the {of}'s {name}: {value}", "Hinzugefügt ({of}, {name}): {value}"),
    "there": ("This is already among the {of}'s {name}: {value}", "Das steht schon da ({of}, {name}): {value}"),
    "removed": ("Removed from the {of}'s {name}: {value}", "Entfernt ({of}, {name}): {value}"),
    "absent": ("The {of}'s {name} do not include this: {value}", "Das steht nicht da ({of}, {name}): {value}"),
    "set": ("The {name} is now: {value}", "Geändert ({name}): {value}"),
    "same": ("The {name} is already: {value}", "Das ist schon so ({name}): {value}"),
    "was": (" (it was: {before})", " (vorher: {before})"),
    "list": ("The {of}'s {name}:\n\n{value}", "{name} ({of}):\n\n{value}"),
    "one": ("The {name} is: {value}", "{name}: {value}"),
    "refused": ("Nothing was changed: {value}", "Nichts wurde geändert: {value}"),
    "silent": (
        "Nothing was changed: the world state cannot be reached at the moment.",
        "Nichts wurde geändert: Der Stand der Dinge ist gerade nicht erreichbar.",
    ),
    "temporary": (
        "Nothing was changed: nothing from a temporary session is kept.",
        "Nichts wurde geändert: Von einer temporären Sitzung wird nichts behalten.",
    ),
    "viewer": (
        "Nothing was changed: only editors can change what all members see. You can add “in this session”.",
        "Nichts wurde geändert: Was alle Mitglieder sehen, ändert man mit der Rolle editor. Möglich ist „… in dieser "
        "Sitzung“.",
    ),
}


@dataclass(frozen=True)
class WorldChange:
    """The text for the answer, and the operations; `statement` is None if the world has nothing to show."""

    statement: str | None
    operations: list[WorldOperation] = field(default_factory=list)


def telling(wish: WorldWish, what: str, value: str = "", before: str = "") -> str:
    """Returns a sentence from the table in the wish's language."""
    values = {
        "of": _WHERE[wish.of_session, wish.german],
        "name": _NAMES[wish.path][wish.german],
        "value": value,
        "before": before,
    }
    return _TEXTS[what][wish.german].format(**values)


def world_change(wish: WorldWish, document: WorldDocument) -> WorldChange:
    """Returns the wish's change to the current document: a value to replace must still be there when it is applied."""
    current = _at(document, wish.path)
    if isinstance(current, list):
        return _of_list(wish, current)
    if wish.act == "show":
        return WorldChange(telling(wish, "one", str(current)) if current else None)
    if current == wish.value:
        return WorldChange(telling(wish, "same", wish.value))
    statement = telling(wish, "set", wish.value) + (telling(wish, "was", before=str(current)) if current else "")
    return WorldChange(statement, [_operation("test", wish.path, current), _operation("set", wish.path, wish.value)])


def _of_list(wish: WorldWish, items: list[str]) -> WorldChange:
    if wish.act == "show":
        listed = "\n".join(f"- {one}" for one in items)
        return WorldChange(telling(wish, "list", listed) if items else None)
    there = next((one for one in items if _plain(one) == _plain(wish.value)), None)
    if wish.act == "add":
        if there is not None:
            return WorldChange(telling(wish, "there", there))
        return WorldChange(telling(wish, "added", wish.value), [_operation("add", wish.path, wish.value)])
    if there is None:
        return WorldChange(telling(wish, "absent", wish.value))
    return WorldChange(telling(wish, "removed", there), [_operation("remove", wish.path, there)])


def _at(document: WorldDocument, path: str) -> Any:
    value: Any = document
    for name in path.split("/")[1:]:
        value = getattr(value, name)
    return value


def _operation(op: str, path: str, value: Any) -> WorldOperation:
    return WorldOperation(op=WorldOperationKind(op), path=path, value=value)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".!?")
