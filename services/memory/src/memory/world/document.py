"""World documents as JSON objects: defaults, and the repair of what does not fit the schema. No I/O."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import Any

from pydantic import ValidationError

from contracts.world import SCHEMA_VERSION, WorldDocument

Document = dict[str, Any]
TOPICS = "/topics"
MOST_ITEMS_READ = 1_000  # of a list, or of an object, that does not fit as a whole


def defaults() -> Document:
    """Returns the document of a new world."""
    return WorldDocument().model_dump(mode="json")


def fits(name: str, value: object) -> bool:
    """Returns whether the field may have the value."""
    try:
        WorldDocument.model_validate({name: value})
    except ValidationError:
        return False
    return True


@dataclass(frozen=True)
class WorldRepair:
    """A valid document, and its repairs: `malformed` has the values that were removed, by path."""

    document: Document
    malformed: dict[str, Any]
    missing: list[str]

    @property
    def needed(self) -> bool:
        return bool(self.malformed or self.missing)

    @property
    def repairs(self) -> list[str]:
        """Returns the repairs as text for people."""
        return [
            *(f"{path} was malformed" for path in self.malformed),
            *(f"{path} was missing" for path in self.missing),
        ]


def repaired(raw: object) -> WorldRepair:
    """Returns the document with defaults for what is missing or malformed; everything valid stays.

    Fields that the schema does not define move to `extra`, unless the name is taken there.
    """
    document, malformed, missing = defaults(), dict[str, Any](), list[str]()
    if not isinstance(raw, dict):
        return WorldRepair(document, {"/": raw}, [])
    if raw.get("schema_version") != SCHEMA_VERSION:
        malformed["/schema_version"] = raw.get("schema_version")
    for name in document.keys() - {"schema_version"}:
        if name not in raw:
            missing.append(f"/{name}")
        elif isinstance(document[name], dict) and isinstance(raw[name], dict):
            _repair_object(name, raw[name], document, malformed, missing)
        elif fits(name, raw[name]):
            document[name] = raw[name]
        else:
            malformed[f"/{name}"] = raw[name]
            if isinstance(document[name], list) and isinstance(raw[name], list):
                document[name] = _good_items(name, raw[name])
    for name in sorted(raw.keys() - document.keys()):
        malformed[f"/{name}"] = raw[name]
        extra = {**document["extra"], name: raw[name]}
        if name not in document["extra"] and fits("extra", extra):
            document["extra"] = extra
    whole = WorldDocument.model_validate(document).model_dump(mode="json")
    return WorldRepair(whole, dict(sorted(malformed.items())), sorted(missing))


def _repair_object(
    name: str, raw: dict[str, Any], document: Document, malformed: dict[str, Any], missing: list[str]
) -> None:
    expected = document[name]
    missing += [f"/{name}/{key}" for key in expected if key not in raw]
    if fits(name, raw):
        document[name] = {**expected, **raw}
        return
    for key, value in islice(raw.items(), MOST_ITEMS_READ):
        candidate = {**document[name], key: value}
        if fits(name, candidate):
            document[name] = candidate
        else:
            malformed[f"/{name}/{key}"] = value


def _good_items(name: str, items: list[Any]) -> list[Any]:
    """Returns the valid items of the list, in order."""
    kept: list[Any] = []
    for item in items[:MOST_ITEMS_READ]:
        if fits(name, [*kept, item]):
            kept.append(item)
    return kept
