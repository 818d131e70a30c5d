"""Predicates for the states that callers can wait for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

from contracts.ingestion import DocumentDetail, DocumentStatus, EmbeddingStatus, StageName, StageStatus

Awaited = Literal["searchable", "embedded", "graphed", "settled"]
OPEN = frozenset({StageStatus.waiting, StageStatus.queued, StageStatus.running})
ENDED = frozenset({DocumentStatus.failed, DocumentStatus.cancelled})


def _status(document: DocumentDetail, name: StageName) -> StageStatus:
    return next(stage.status for stage in document.stages if stage.name == name)


def is_searchable(document: DocumentDetail) -> bool:
    return document.status is not DocumentStatus.processing


def is_embedded(document: DocumentDetail) -> bool:
    """Returns whether the document is embedded, or will not be without a manual retry."""
    given_up = _status(document, "embed") in {StageStatus.failed, StageStatus.cancelled}
    return (
        document.status in ENDED
        or document.embedding_status is EmbeddingStatus.complete
        or (given_up and is_searchable(document))
    )


def is_graphed(document: DocumentDetail) -> bool:
    return document.status in ENDED or _status(document, "graph") not in OPEN


def is_settled(document: DocumentDetail) -> bool:
    open_stages = any(stage.status in OPEN for stage in document.stages)
    return document.status in ENDED or (is_searchable(document) and not open_stages)


SETTLED: Mapping[Awaited, Callable[[DocumentDetail], bool]] = {
    "searchable": is_searchable,
    "embedded": is_embedded,
    "graphed": is_graphed,
    "settled": is_settled,
}
