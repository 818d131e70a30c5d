from __future__ import annotations

from typing import Any

import pytest

from contracts.ingestion import STAGES, DocumentStatus, StageName, StageStatus
from ingestion.explanation import explain
from ingestion.rows import StageRow


def stages(**changes: dict[str, Any]) -> list[StageRow]:
    """All waiting, but for the changes."""
    return [_stage(name, **{"status": StageStatus.waiting, **changes.get(name, {})}) for name in STAGES]


def _stage(name: StageName, **values: Any) -> StageRow:
    fields = dict.fromkeys(StageRow.__dataclass_fields__)
    return StageRow(**{**fields, "name": name, "attempts": 0, **values})


DONE = {"status": StageStatus.succeeded}
QUEUED = {"status": StageStatus.queued}
RUNNING = {"status": StageStatus.running}


@pytest.mark.parametrize(
    ("rows", "ahead", "sentence"),
    [
        (stages(store=DONE, convert=QUEUED), 0, "Waiting for a worker"),
        (stages(store=DONE, convert=QUEUED), 1, "Waiting for a worker, behind 1 other document of this workspace"),
        (stages(store=DONE, convert=QUEUED), 212, "Waiting for a worker, behind 212 other documents of this workspace"),
        (
            stages(store=DONE, convert={**QUEUED, "error_message": "The object store does not answer."}),
            0,
            "Waiting for a worker; it will be tried again, as the object store does not answer",
        ),
        (stages(store=DONE, convert=RUNNING), 0, "Converting"),
        (stages(store=DONE, convert={**RUNNING, "page": 4, "pages": 31}), 0, "Converting, page 4 of 31"),
        (stages(store=DONE, convert=RUNNING, chunk=RUNNING), 0, "Cutting into chunks"),
        (
            stages(store=DONE, convert=DONE, chunk=DONE, embed={**RUNNING, "page": 16, "pages": 40}),
            0,
            "Embedding, part 16 of 40",
        ),
        (
            stages(store=DONE, convert=DONE, chunk=DONE, embed=DONE, index=QUEUED, graph=QUEUED),
            0,
            "Converted; waiting to be indexed",
        ),
        (
            stages(store=DONE, convert={"status": StageStatus.failed, "error_message": "It needs a password."}),
            0,
            "Failed to convert: It needs a password.",
        ),
    ],
)
def test_the_sentence(rows: list[StageRow], ahead: int, sentence: str) -> None:
    assert explain(DocumentStatus.processing, rows, ahead) == sentence


def test_a_searchable_document_needs_no_explanation() -> None:
    rows = stages(graph={"status": StageStatus.failed, "error_message": "x"})
    assert explain(DocumentStatus.searchable, rows, 0) is None
