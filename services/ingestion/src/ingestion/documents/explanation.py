"""Explains in one sentence why a document's newest version is not searchable yet, or not semantically."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from contracts.ingestion import DocumentStatus, EmbeddingStatus, StageName, StageStatus
from ingestion.documents.rows import DocumentRow, StageRow

DOING = {"convert": "Converting", "chunk": "Splitting into chunks", "embed": "Embedding"}
DONE = {"convert": "converted", "chunk": "split into chunks", "embed": "embedded"}
WORDS_ALONE = "Searchable by words only"
ENDED = frozenset({StageStatus.failed, StageStatus.cancelled})

Stages = dict[StageName, StageRow]


@dataclass(frozen=True)
class Queue:
    """`ahead`: how many documents of the workspace come first; `workers`: how many are live."""

    ahead: int
    workers: int


def explain(document: DocumentRow, rows: Sequence[StageRow], queue: Queue, now: datetime) -> str | None:
    """Returns the sentence; None if the document is searchable with its embedding. A missing graph is ignored."""
    stages: Stages = {row.name: row for row in rows}
    if document.status is DocumentStatus.searchable:
        if document.embedding_status is EmbeddingStatus.complete:
            return None
        return f"{WORDS_ALONE}: {_lowered(_embedding(stages, queue, now))}"
    sentence = _unsearchable(stages, queue, now)
    if document.searchable_version in (None, document.version):
        return sentence
    return f"{sentence.rstrip('.')}; version {document.searchable_version} remains searchable"


def _unsearchable(stages: Stages, queue: Queue, now: datetime) -> str:
    if stages["index"].status is StageStatus.queued:
        return "Converted; waiting to be indexed"
    needed = [stages[name] for name in ("convert", "chunk", "embed", "index")]
    for stage in needed:
        if stage.status in ENDED:
            return _ended(stage)
    running = [stage for stage in needed if stage.status is StageStatus.running]
    if running:
        return _running(running[-1])
    queued = next((stage for stage in needed if stage.status is StageStatus.queued), None)
    return _queued(queued, queue, now) if queued else "Waiting for the previous stage"


def _embedding(stages: Stages, queue: Queue, now: datetime) -> str:
    stage = stages["embed"]
    for one in (stage, stages["index"]):
        if one.status in ENDED:
            return _ended(one)
    if stage.status is StageStatus.running:
        return _running(stage)
    if stage.status is StageStatus.queued:
        return _queued(stage, queue, now, "Its embedding is waiting")
    return "Its vectors are being indexed"


def _ended(stage: StageRow) -> str:
    if stage.status is StageStatus.cancelled:
        return f"Cancelled before it was {DONE.get(stage.name, stage.name)}"
    return f"Failed to {stage.name}: {stage.error_message or stage.error_class}"


def _running(stage: StageRow) -> str:
    doing = DOING.get(stage.name, stage.name.capitalize())
    unit = "page" if stage.name == "convert" else "part"
    if stage.page is not None and stage.pages:
        return f"{doing}, {unit} {stage.page} of {stage.pages}"
    return doing


def _queued(stage: StageRow, queue: Queue, now: datetime, waiting: str = "Waiting") -> str:
    reason = f" because {_lowered(stage.error_message).rstrip('.')}" if stage.error_message else ""
    if stage.available_at > now:
        return f"{waiting} for the next attempt at {_time(stage.available_at, now)}{reason}"
    again = f"; it will be retried{reason}" if reason else ""
    if queue.workers == 0:
        return f"{waiting} for a worker, but none is running{again}"
    if queue.ahead == 0:
        return f"{waiting} for a worker{again}"
    others = f"{queue.ahead} other document{'s' if queue.ahead > 1 else ''}"
    return f"{waiting} for a worker, behind {others} in this workspace{again}"


def _time(at: datetime, now: datetime) -> str:
    at, now = at.astimezone(UTC), now.astimezone(UTC)
    return at.strftime("%H:%M UTC" if at.date() == now.date() else "%Y-%m-%d %H:%M UTC")


def _lowered(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]
