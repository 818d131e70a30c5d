"""The stages that a retry queues again."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from contracts.ingestion import EmbeddingStatus, StageStatus
from ingestion.documents.actions import RetryPlan, plan_retry
from ingestion.documents.rows import DocumentRow, StageRow

DONE, QUEUED, RUNNING = StageStatus.succeeded, StageStatus.queued, StageStatus.running
FAILED, CANCELLED = StageStatus.failed, StageStatus.cancelled
PUT_OFF = {"status": QUEUED, "available_at": datetime.now(UTC) + timedelta(days=1)}
CONVERTED = {"store": DONE, "convert": DONE, "chunk": DONE}


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        ({"convert": FAILED}, RetryPlan(("convert",))),
        ({"convert": DONE, "chunk": FAILED}, RetryPlan(("convert",))),
        ({"convert": CANCELLED, "chunk": CANCELLED}, RetryPlan(("convert",))),
        ({"convert": PUT_OFF}, RetryPlan(("convert",))),
        ({"convert": QUEUED}, RetryPlan()),
        ({"convert": RUNNING}, RetryPlan()),
        ({**CONVERTED, "embed": FAILED}, RetryPlan(("embed",))),
        ({**CONVERTED, "embed": PUT_OFF, "index": DONE, "graph": DONE}, RetryPlan(("embed",))),
        ({**CONVERTED, "embed": CANCELLED, "index": FAILED}, RetryPlan(("embed", "index"), announce=True)),
        ({**CONVERTED, "embed": DONE, "index": FAILED, "graph": DONE}, RetryPlan(("index",), announce=True)),
        ({**CONVERTED, "embed": DONE, "index": FAILED, "graph": FAILED}, RetryPlan(("index", "graph"), announce=True)),
        ({**CONVERTED, "embed": DONE, "index": QUEUED, "graph": QUEUED}, RetryPlan()),
        ({**CONVERTED, "embed": DONE, "index": DONE, "graph": DONE}, RetryPlan(("embed",))),
    ],
)
def test_a_retry_starts_at_the_stage_that_failed(
    document: Callable[..., DocumentRow],
    stages: Callable[..., list[StageRow]],
    changes: dict[str, Any],
    wanted: RetryPlan,
) -> None:
    assert plan_retry(document(), stages(**changes)) == wanted


def test_a_complete_document_needs_no_retry(
    document: Callable[..., DocumentRow], stages: Callable[..., list[StageRow]]
) -> None:
    rows = stages(**CONVERTED, embed=DONE, index=DONE, graph=DONE)
    assert plan_retry(document(embedding_status=EmbeddingStatus.complete), rows) == RetryPlan()
