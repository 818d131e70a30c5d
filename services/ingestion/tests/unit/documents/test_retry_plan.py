"""What a retry queues again."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from contracts.ingestion import EmbeddingStatus, StageStatus
from ingestion.documents.retry import Plan, plan
from ingestion.documents.rows import DocumentRow, StageRow

DONE, QUEUED, RUNNING = StageStatus.succeeded, StageStatus.queued, StageStatus.running
FAILED, CANCELLED = StageStatus.failed, StageStatus.cancelled
PUT_OFF = {"status": QUEUED, "not_before": datetime.now(UTC) + timedelta(hours=1)}
CONVERTED = {"store": DONE, "convert": DONE, "chunk": DONE}


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        ({"convert": FAILED}, Plan(["convert"])),
        ({"convert": DONE, "chunk": FAILED}, Plan(["convert"])),
        ({"convert": CANCELLED, "chunk": CANCELLED}, Plan(["convert"])),
        ({"convert": PUT_OFF}, Plan(["convert"])),
        ({"convert": QUEUED}, Plan()),
        ({"convert": RUNNING}, Plan()),
        ({**CONVERTED, "embed": FAILED}, Plan(["embed"])),
        ({**CONVERTED, "embed": PUT_OFF, "index": DONE, "graph": DONE}, Plan(["embed"])),
        ({**CONVERTED, "embed": CANCELLED, "index": FAILED}, Plan(["embed", "index"], announce=True)),
        ({**CONVERTED, "embed": DONE, "index": FAILED, "graph": DONE}, Plan(["index"], announce=True)),
        ({**CONVERTED, "embed": DONE, "index": FAILED, "graph": FAILED}, Plan(["index", "graph"], announce=True)),
        ({**CONVERTED, "embed": DONE, "index": QUEUED, "graph": QUEUED}, Plan()),
        ({**CONVERTED, "embed": DONE, "index": DONE, "graph": DONE}, Plan(["embed"])),
    ],
)
def test_it_begins_where_it_ended(
    document: Callable[..., DocumentRow], stages: Callable[..., list[StageRow]], changes: dict[str, Any], wanted: Plan
) -> None:
    assert plan(document(), stages(**changes)) == wanted


def test_what_is_complete_is_left_alone(
    document: Callable[..., DocumentRow], stages: Callable[..., list[StageRow]]
) -> None:
    rows = stages(**CONVERTED, embed=DONE, index=DONE, graph=DONE)
    assert plan(document(embedding_status=EmbeddingStatus.complete), rows).is_empty
