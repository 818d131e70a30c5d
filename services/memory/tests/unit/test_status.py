"""The status of the project as a function of the tables' contents."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from contracts.world import StatusDocument, WorldEvent
from memory.world.document import defaults
from memory.world.status import LONGEST, SHOWN, manifest_of

AT = datetime(2026, 3, 1, tzinfo=UTC)


def event(version: int, **given: Any) -> WorldEvent:
    told = {"op": "add", "path": "/goals", "value": "Land", "kind": "operation", "previous": None, "existed": False}
    told |= {"repairs": [], "created_by": UUID(int=1), "run_id": None, "created_at": AT + timedelta(version)}
    return WorldEvent.model_validate({"version": version, **told, **given})


def test_the_same_input_in_any_order_gives_identical_bytes() -> None:
    document = {**defaults(), "goals": ["Land"], "extra": {"b": 1, "a": 2}}
    turned = dict(reversed(document.items()))
    events = [event(2), event(1, kind="created", op=None, path=None, value=None)]
    documents = [StatusDocument(id=UUID(int=number), name=f"{number}.md", at=AT) for number in range(3)]
    manifest = manifest_of(2, document, events, 3, documents)
    assert manifest == manifest_of(2, turned, list(reversed(events)), 3, documents)
    told = json.loads(manifest)
    assert [(one["kind"], one["text"]) for one in told["activity"]] == [
        ("world", "add /goals Land"),
        ("world", "created"),
        ("document", "2.md"),
        ("document", "1.md"),
        ("document", "0.md"),
    ]


def test_the_status_is_bounded_and_marks_conflicts() -> None:
    events = [event(number, kind="conflict", value="x" * 1_000) for number in range(2 * SHOWN)]
    told = json.loads(manifest_of(1, defaults(), events, 0, []))["activity"]
    assert (len(told), {len(one["text"]) for one in told}) == (SHOWN, {LONGEST})
    assert told[0]["text"].startswith("conflict: add /goals xxx")
