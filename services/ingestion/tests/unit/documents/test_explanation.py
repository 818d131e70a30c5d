"""The sentence that explains why a document is not searchable."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from contracts.ingestion import DocumentStatus, EmbeddingStatus, StageStatus
from ingestion.documents.explanation import Queue, explain
from ingestion.documents.rows import DocumentRow, StageRow

DONE, QUEUED, RUNNING = StageStatus.succeeded, StageStatus.queued, StageStatus.running
FAILED, CANCELLED = StageStatus.failed, StageStatus.cancelled
AT_NOON = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)
SOON = {"status": QUEUED, "available_at": AT_NOON + timedelta(minutes=3)}
EMBEDDED = {"store": DONE, "convert": DONE, "chunk": DONE}

Documents = Callable[..., DocumentRow]
Stages = Callable[..., list[StageRow]]


@pytest.mark.parametrize(
    ("changes", "queue", "sentence"),
    [
        ({"convert": QUEUED}, Queue(0, 1), "Waiting for a worker"),
        ({"convert": QUEUED}, Queue(7, 0), "Waiting for a worker, but none is running"),
        ({"convert": QUEUED}, Queue(1, 1), "Waiting for a worker, behind 1 other document in this workspace"),
        ({"convert": QUEUED}, Queue(212, 2), "Waiting for a worker, behind 212 other documents in this workspace"),
        (
            {"convert": {**SOON, "error_message": "The object store does not answer."}},
            Queue(3, 1),
            "Waiting for the next attempt at 12:03 UTC because the object store does not answer",
        ),
        (
            {"convert": {"status": QUEUED, "available_at": AT_NOON + timedelta(days=1)}},
            Queue(0, 1),
            "Waiting for the next attempt at 2026-11-23 12:00 UTC",
        ),
        (
            {"convert": {"status": QUEUED, "error_message": "The worker stopped."}},
            Queue(0, 1),
            "Waiting for a worker; it will be retried because the worker stopped",
        ),
        ({"convert": RUNNING}, Queue(0, 1), "Converting"),
        ({"convert": {"status": RUNNING, "page": 40, "pages": 310}}, Queue(0, 1), "Converting, page 40 of 310"),
        ({"convert": RUNNING, "chunk": RUNNING}, Queue(0, 1), "Splitting into chunks"),
        (
            {**EMBEDDED, "embed": {"status": RUNNING, "page": 16, "pages": 40}},
            Queue(0, 1),
            "Embedding, part 16 of 40",
        ),
        (
            {**EMBEDDED, "embed": DONE, "index": QUEUED, "graph": QUEUED},
            Queue(0, 1),
            "Converted; waiting to be indexed",
        ),
        ({**EMBEDDED, "embed": SOON, "index": QUEUED}, Queue(0, 1), "Converted; waiting to be indexed"),
        (
            {"convert": {"status": FAILED, "error_message": "It needs a password."}},
            Queue(0, 1),
            "Failed to convert: It needs a password.",
        ),
        ({"convert": CANCELLED, "chunk": CANCELLED}, Queue(0, 1), "Cancelled before it was converted"),
        ({**EMBEDDED, "embed": CANCELLED}, Queue(0, 1), "Cancelled before it was embedded"),
    ],
)
def test_an_unsearchable_document_is_explained(
    document: Documents, stages: Stages, changes: dict[str, Any], queue: Queue, sentence: str
) -> None:
    assert explain(document(), stages(**changes), queue, AT_NOON) == sentence


def test_a_previous_searchable_version_is_mentioned(document: Documents, stages: Stages) -> None:
    rows = stages(convert={"status": FAILED, "error_message": "It is damaged."})
    row = document(status=DocumentStatus.failed, version=3, searchable_version=2)
    sentence = explain(row, rows, Queue(0, 1), AT_NOON)
    assert sentence == "Failed to convert: It is damaged; version 2 remains searchable"


@pytest.mark.parametrize(
    ("embed", "index", "sentence"),
    [
        (
            {"status": FAILED, "error_message": "The provider refuses the key."},
            DONE,
            "Searchable by words only: failed to embed: The provider refuses the key.",
        ),
        (
            {**SOON, "error_message": "The provider is away."},
            DONE,
            "Searchable by words only: its embedding is waiting for the next attempt at 12:03 UTC because the "
            "provider is away",
        ),
        (QUEUED, DONE, "Searchable by words only: its embedding is waiting for a worker"),
        (RUNNING, DONE, "Searchable by words only: embedding"),
        (CANCELLED, DONE, "Searchable by words only: cancelled before it was embedded"),
        (DONE, QUEUED, "Searchable by words only: its vectors are being indexed"),
        (
            DONE,
            {"status": FAILED, "error_message": "It broke."},
            "Searchable by words only: failed to index: It broke.",
        ),
    ],
)
def test_a_missing_embedding_is_explained(
    document: Documents, stages: Stages, embed: Any, index: Any, sentence: str
) -> None:
    row = document(status=DocumentStatus.searchable, searchable_version=1, embedding_status=EmbeddingStatus.failed)
    rows = stages(**EMBEDDED, embed=embed, index=index, graph=DONE)
    assert explain(row, rows, Queue(0, 1), AT_NOON) == sentence


def test_a_searchable_document_needs_no_explanation(document: Documents, stages: Stages) -> None:
    rows = stages(graph={"status": FAILED, "error_message": "x"})
    row = document(status=DocumentStatus.searchable, embedding_status=EmbeddingStatus.complete)
    assert explain(row, rows, Queue(0, 1), AT_NOON) is None
