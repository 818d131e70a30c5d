"""Writes feedback as a file: JSON Lines for programs, CSV for spreadsheets. Pure."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from contracts.orchestrator import FeedbackEntry, FeedbackFormat

FIELDS = tuple(FeedbackEntry.model_fields)
FORMULA = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True)
class FeedbackFile:
    """`head` is written first, then the `part` of each page of entries."""

    media_type: str
    extension: str
    head: str
    part: Callable[[Sequence[FeedbackEntry]], str]


def as_lines(entries: Sequence[FeedbackEntry]) -> str:
    return "".join(f"{entry.model_dump_json()}\n" for entry in entries)


def as_rows(entries: Sequence[FeedbackEntry]) -> str:
    """Returns rows in the order of FIELDS, reasons separated by line breaks.

    Texts that a spreadsheet would take for formulas are prefixed with an apostrophe (OWASP, CSV injection).
    """
    written = io.StringIO()
    rows = csv.writer(written)
    for entry in entries:
        values = entry.model_dump(mode="json") | {"reasons": "\n".join(entry.reasons)}
        rows.writerow([_cell(values[name]) for name in FIELDS])
    return written.getvalue()


def _cell(value: object) -> object:
    if isinstance(value, bool):
        return str(value).lower()
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value


FILES = {
    FeedbackFormat.jsonl: FeedbackFile("application/x-ndjson", "jsonl", "", as_lines),
    FeedbackFormat.csv: FeedbackFile("text/csv; charset=utf-8", "csv", ",".join(FIELDS) + "\r\n", as_rows),
}
