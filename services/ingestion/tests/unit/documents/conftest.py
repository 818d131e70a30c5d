"""Fixtures: documents and stages without a database."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest

from contracts.ingestion import STAGES, DocumentStatus, EmbeddingStatus, Lane, OriginKind, StageName, StageStatus
from ingestion.documents.rows import DocumentRow, StageRow

NOW = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)


@pytest.fixture
def now() -> datetime:
    return NOW


@pytest.fixture
def document() -> Callable[..., DocumentRow]:
    """`document(**changes)` returns a new document with these changes."""

    def make(**changes: Any) -> DocumentRow:
        values = dict.fromkeys(DocumentRow.__dataclass_fields__)
        lists: dict[str, Any] = {"tags": [], "authors": [], "headings": [], "source_ids": []}
        given = {
            "id": uuid4(),
            "workspace_id": uuid4(),
            "name": "notes.md",
            "media_type": "text/markdown",
            "file_size": 10,
            "content_hash": "0" * 64,
            "status": DocumentStatus.processing,
            "version": 1,
            "embedding_status": EmbeddingStatus.pending,
            "source_type": OriginKind.upload,
            "created_at": NOW,
            "updated_at": NOW,
        }
        return DocumentRow(**{**values, **lists, **given, **changes})

    return make


@pytest.fixture
def stages() -> Callable[..., list[StageRow]]:
    """`stages(**changes)` returns waiting stages with these changes, each a status or several values."""

    def make(**changes: StageStatus | dict[str, Any]) -> list[StageRow]:
        return [_stage(name, changes.get(name, StageStatus.waiting)) for name in STAGES]

    return make


def _stage(name: StageName, change: StageStatus | dict[str, Any]) -> StageRow:
    values = change if isinstance(change, dict) else {"status": change}
    fields = dict.fromkeys(StageRow.__dataclass_fields__)
    return StageRow(
        **{
            **fields,
            "document_id": uuid4(),
            "name": name,
            "lane": Lane.interactive,
            "attempts": 0,
            "available_at": datetime.min.replace(tzinfo=UTC),
            **values,
        }
    )
