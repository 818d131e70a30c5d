"""Feedback as a file."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from contracts.orchestrator import FeedbackEntry, FeedbackFormat, FeedbackRating
from orchestrator.feedback.files import FIELDS, FILES


def entry(**changes: Any) -> FeedbackEntry:
    now = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    given: dict[str, Any] = {
        "message_id": uuid4(),
        "user_id": uuid4(),
        "mode": None,
        "rating": FeedbackRating.down,
        "reasons": ["outdated", "no, source"],
        "comment": 'It "moved"\nin May',
        "share_content": False,
        "created_at": now,
        "updated_at": now,
        "question": None,
        "answer": None,
    }
    return FeedbackEntry(**given | changes)


def rows(*entries: FeedbackEntry) -> list[dict[str, str]]:
    form = FILES[FeedbackFormat.csv]
    return list(csv.DictReader(io.StringIO(form.head + form.part(entries), newline="")))


def test_csv_rows_and_json_lines_contain_the_same_data() -> None:
    one = entry()
    [row] = rows(one)
    assert tuple(row) == FIELDS
    assert row["comment"] == one.comment
    assert row["reasons"].split("\n") == one.reasons
    assert (row["rating"], row["share_content"], row["question"]) == ("down", "false", "")
    assert FeedbackEntry.model_validate(json.loads(FILES[FeedbackFormat.jsonl].part([one]))) == one


def test_no_text_becomes_a_spreadsheet_formula() -> None:
    for text in ("=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "=cmd|' /C calc'!A0"):
        [row] = rows(entry(comment=text, question=text, answer=text, reasons=[text]))
        for name in ("comment", "question", "answer", "reasons"):
            assert row[name] == f"'{text}", (name, text)


def test_without_entries_only_the_header_is_written() -> None:
    assert rows() == []
    assert FILES[FeedbackFormat.jsonl].part([]) == ""
