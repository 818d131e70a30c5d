"""The live view of the ingestion queue."""

from __future__ import annotations

import asyncio
from uuid import UUID

from rich.live import Live
from rich.text import Text

from attractor_client.client import AttractorClient
from attractor_client.output import Output, plain
from contracts.ingestion import DocumentStatus, DocumentSummary

POLL_SECONDS = 1.0


async def follow(client: AttractorClient, output: Output, source_id: UUID | None) -> DocumentSummary:
    """Shows the queue until it is empty; returns the final counts. With --json, prints each state as a line of JSON."""
    live = Live(console=output.notes, transient=True, auto_refresh=False)
    shown = output.notes.is_terminal and not output.notes.is_dumb_terminal
    if shown:
        live.start()
    try:
        while True:
            summary = await client.documents.summary(source_id)
            if output.as_json:
                output.json(summary, line=True)
            elif shown:
                live.update(Text(plain(described(summary))), refresh=True)
            if not summary.by_status.get(DocumentStatus.processing, 0):
                break
            await asyncio.sleep(POLL_SECONDS)
    finally:
        live.stop()
    if not output.as_json:
        output.text(described(summary))
    return summary


def described(summary: DocumentSummary) -> str:
    """Formats counts: done, in progress by stage, failed by reason, without vectors, and the rate."""
    count = summary.by_status.get
    parts = [f"{count(DocumentStatus.searchable, 0)} of {summary.total} searchable"]
    if waiting := count(DocumentStatus.processing, 0):
        parts.append(f"{waiting} in progress ({', '.join(f'{name} {n}' for name, n in summary.by_stage.items() if n)})")
    if failed := count(DocumentStatus.failed, 0):
        reasons = ", ".join(f"{name} {n}" for name, n in sorted(summary.failures.items()))
        parts.append(f"{failed} failed ({reasons})")
    if cancelled := count(DocumentStatus.cancelled, 0):
        parts.append(f"{cancelled} cancelled")
    if summary.embedding_failed:
        parts.append(f"{summary.embedding_failed} without vectors, because embedding failed")
    if waiting:
        parts.append(f"{summary.done_last_minute} in the last minute")
        if summary.seconds_left is not None:
            minutes, seconds = divmod(round(summary.seconds_left), 60)
            parts.append(f"{minutes}:{seconds:02} left")
    return "; ".join(parts)
