"""Shows receipts of deletions to people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attractor_client.output import Output
from contracts.ingestion import StoreReceipt

MEMORY_COUNTS = {
    "memory": ("memory", "memories"),
    "episode": ("message", "messages"),
    "fact": ("fact", "facts"),
    "fact_source": ("source of a fact", "sources of facts"),
    "memory_source": ("source of a memory", "sources of memories"),
    "vectors": ("embedding", "embeddings"),
    "postings": ("keyword index entry", "keyword index entries"),
    "world": ("world state", "world states"),
    "world_event": ("entry of a world's history", "entries of a world's history"),
    "event": ("queued message", "queued messages"),
}
"""What memory counts, for one and for several."""


def show_receipts(output: Output, services: Sequence[StoreReceipt], pending: Sequence[str]) -> None:
    """Prints one line per service: what it removed and what is left; then the services that have not confirmed."""
    rows = [(one.service, counts(one.removed), counts(one.remaining)) for one in services]
    output.table(("service", "removed", "left"), rows)
    if pending:
        output.note(f"not confirmed yet: {', '.join(pending)}", "yellow")


def counts(counts: Mapping[str, int]) -> str:
    """Formats counts by kind: `3 messages, 1 runs`; those of memory in words: `1 memory, 2 keyword index entries`."""
    named = ((count, MEMORY_COUNTS.get(kind, (kind, kind))) for kind, count in counts.items() if count)
    return ", ".join(f"{count} {names[count > 1]}" for count, names in named) or "nothing"
