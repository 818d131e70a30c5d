"""Triples as read from files, and the errors of lines that cannot be read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from contracts.base import storable
from knowledge_graph.extraction.names import LONGEST_NAME, name_key
from service_kit.problems import InvalidRequest

MOST_TRIPLES = 50_000
MOST_ERRORS = 20
LONGEST_TYPE, LONGEST_PREDICATE = 50, 80
WORD_START = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
NOT_WORD = re.compile(r"\W+")


class TriplesNotValid(InvalidRequest):
    type, title = "triples-not-valid", "The triples cannot be read; nothing was kept"


@dataclass(frozen=True)
class Triple:
    """A triple. `line` counts from 1 and is None if the format has no line per triple; `confidence` is from 0 to 1."""

    subject: str
    predicate: str
    object: str
    line: int | None = None
    subject_type: str | None = None
    object_type: str | None = None
    confidence: float = 1.0


@dataclass(frozen=True)
class Typed:
    """A statement that a thing is of a type."""

    name: str
    entity_type: str


@dataclass(frozen=True)
class ReadTriples:
    """The triples and types of a file; `notes` say what was left out, and why."""

    triples: list[Triple] = field(default_factory=list)
    types: list[Typed] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class LineErrors:
    """Collects errors by line, at most twenty."""

    def __init__(self) -> None:
        self.found: list[dict[str, Any]] = []

    def add(self, line: int, message: str) -> None:
        """Adds an error. Raises TriplesNotValid at the twentieth."""
        self.found.append({"line": line, "message": message})
        if len(self.found) == MOST_ERRORS:
            self.check()

    def check(self) -> None:
        """Raises TriplesNotValid if there are any errors."""
        if self.found:
            refuse(self.found)


def refuse(errors: Sequence[dict[str, Any]]) -> None:
    """Raises TriplesNotValid."""
    lines = "; ".join(f"line {one['line']}: {one['message']}" for one in errors[:3])
    more = f"; and {len(errors) - 3} more" if len(errors) > 3 else ""
    raise TriplesNotValid(lines + more, errors=list(errors))


def checked_name(text: str, what: str) -> str:
    """Returns the text without surrounding space; raises ValueError if it cannot be an entity's name."""
    name = storable(text).strip()
    if not name:
        raise ValueError(f"the {what} is empty")
    if len(name) > LONGEST_NAME:
        raise ValueError(f"the {what} has {len(name)} characters, more than {LONGEST_NAME}")
    if not name_key(name):
        raise ValueError(f"the {what} has no letter and no digit")
    return name


def upper_snake(text: str, what: str, longest: int) -> str:
    """Converts `dependsOn`, `depends on` and `depends-on` to DEPENDS_ON. Raises ValueError if nothing is left."""
    found = NOT_WORD.sub("_", WORD_START.sub("_", storable(text).strip())).strip("_").upper()
    if not found:
        raise ValueError(f"the {what} is empty")
    if len(found) > longest:
        raise ValueError(f"the {what} has {len(found)} characters, more than {longest}")
    return found
