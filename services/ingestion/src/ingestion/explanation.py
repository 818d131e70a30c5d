"""One sentence on why a document is not searchable yet."""

from __future__ import annotations

from contracts.ingestion import DocumentStatus, StageStatus
from ingestion.rows import StageRow, in_order

DOING = {"convert": "Converting", "chunk": "Cutting into chunks", "embed": "Embedding"}
QUEUED = {"index": "Converted; waiting to be indexed", "graph": "Waiting for the knowledge graph"}
NEEDED = ("store", "convert", "chunk", "embed", "index")


def explain(status: DocumentStatus, stages: list[StageRow], ahead: int) -> str | None:
    """None when the document is searchable. `ahead` counts the documents of the workspace that come before it."""
    if status is DocumentStatus.searchable:
        return None
    needed = [stage for stage in in_order(stages) if stage.name in NEEDED]
    for stage in needed:
        if stage.status is StageStatus.failed:
            return f"Failed to {stage.name}: {stage.error_message or stage.error_class}"
    running = [stage for stage in needed if stage.status is StageStatus.running]
    if running:
        return _running(running[-1])
    queued = next((stage for stage in needed if stage.status is StageStatus.queued), None)
    return _queued(queued, ahead) if queued else "Waiting for the stage before"


def _running(stage: StageRow) -> str:
    doing = DOING.get(stage.name, stage.name.capitalize())
    unit = "page" if stage.name == "convert" else "part"
    if stage.page is not None and stage.pages:
        return f"{doing}, {unit} {stage.page} of {stage.pages}"
    return doing


def _queued(stage: StageRow, ahead: int) -> str:
    if stage.name in QUEUED:
        return QUEUED[stage.name]
    again = f"; it will be tried again, as {_lowered(stage.error_message)}" if stage.error_message else ""
    if ahead:
        return f"Waiting for a worker, behind {ahead} other document{'s' if ahead > 1 else ''} of this workspace{again}"
    return f"Waiting for a worker{again}"


def _lowered(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:].rstrip(".")
