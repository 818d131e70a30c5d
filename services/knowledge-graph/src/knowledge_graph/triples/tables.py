"""Parses triples from CSV and JSON Lines. Pure."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from typing import Any

from knowledge_graph.triples.records import (
    LONGEST_PREDICATE,
    LONGEST_TYPE,
    MOST_TRIPLES,
    LineErrors,
    ReadTriples,
    Triple,
    checked_name,
    refuse,
    upper_snake,
)

COLUMNS = {
    "subject": ("subject", "source", "from", "head"),
    "predicate": ("predicate", "relation", "relation_type", "relationship", "verb"),
    "object": ("object", "target", "to", "tail"),
    "subject_type": ("subject_type", "source_type"),
    "object_type": ("object_type", "target_type"),
    "confidence": ("confidence",),
}
NEEDED = ("subject", "predicate", "object")
SEPARATORS = ",;\t"


def from_csv(text: str) -> ReadTriples:
    """Parses CSV, separated by comma, semicolon or tab. The first line names the columns: `subject,predicate,object`
    and any optional ones. Raises TriplesNotValid."""
    opening = text.split("\n", 1)[0]
    separator = max(SEPARATORS, key=opening.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    errors = LineErrors()
    try:
        places = _columns(next(reader, []))
        return _read(_records(reader, places, errors), errors)
    except csv.Error as error:
        errors.add(reader.line_num, f"this is no CSV: {error}")
        errors.check()
        raise


def from_jsonl(text: str) -> ReadTriples:
    """Parses one object per line with `subject`, `predicate`, `object` and, optionally, `subject_type`, `object_type`,
    `confidence`. Raises TriplesNotValid."""
    errors = LineErrors()
    return _read(_objects(text, errors), errors)


def _columns(header: Sequence[str]) -> dict[str, int]:
    named = {one.strip().lstrip("\ufeff").casefold(): place for place, one in enumerate(header)}
    places = {column: named[name] for column, names in COLUMNS.items() for name in reversed(names) if name in named}
    missing = [column for column in NEEDED if column not in places]
    if missing:
        refuse([{"line": 1, "message": f"the header has no column {', '.join(missing)}: subject,predicate,object"}])
    return places


def _records(reader: Any, places: dict[str, int], errors: LineErrors) -> Iterator[tuple[int, dict[str, Any]]]:
    for row in reader:
        if not any(cell.strip() for cell in row):
            continue
        if len(row) <= max(places[column] for column in NEEDED):
            errors.add(reader.line_num, f"{len(row)} columns, fewer than the header promises")
            continue
        yield reader.line_num, {column: row[place] for column, place in places.items() if place < len(row)}


def _objects(text: str, errors: LineErrors) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            found = json.loads(line)
        except (ValueError, RecursionError) as error:
            errors.add(number, f"this is no JSON: {error}"[:200])
            continue
        unknown = sorted(found.keys() - COLUMNS.keys()) if isinstance(found, dict) else []
        if not isinstance(found, dict) or any(not isinstance(found.get(column), str) for column in NEEDED):
            errors.add(number, "an object with subject, predicate and object as texts is needed")
        elif unknown:
            errors.add(number, f"unknown members: {', '.join(unknown)}"[:200])
        else:
            yield number, found


def _read(records: Iterator[tuple[int, dict[str, Any]]], errors: LineErrors) -> ReadTriples:
    triples = []
    for line, record in records:
        try:
            triples.append(_triple(line, record))
        except ValueError as error:
            errors.add(line, str(error))
        if len(triples) > MOST_TRIPLES:
            errors.add(line, f"more than {MOST_TRIPLES:,} triples: bring them in several imports")
            break
    errors.check()
    return ReadTriples(triples)


def _triple(line: int, record: dict[str, Any]) -> Triple:
    return Triple(
        subject=checked_name(record["subject"], "subject"),
        predicate=_predicate(record["predicate"]),
        object=checked_name(record["object"], "object"),
        line=line,
        subject_type=_type(record.get("subject_type"), "subject_type"),
        object_type=_type(record.get("object_type"), "object_type"),
        confidence=_confidence(record.get("confidence")),
    )


def _predicate(text: str) -> str:
    upper_snake(text, "predicate", LONGEST_PREDICATE)
    return text.strip()


def _type(value: Any, what: str) -> str | None:
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise ValueError(f"the {what} is no text")
    return upper_snake(value, what, LONGEST_TYPE)


def _confidence(value: Any) -> float:
    if value is None or value == "":
        return 1.0
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = -1.0
    if isinstance(value, bool) or not 0 <= number <= 1:
        raise ValueError("the confidence is no number from 0 to 1")
    return number
