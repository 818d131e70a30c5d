"""The proof of a deletion as people read it."""

from __future__ import annotations

from collections.abc import Sequence

from attractor_client.output import Output
from contracts.ingestion import StoreReceipt


def show_receipts(output: Output, services: Sequence[StoreReceipt], pending: Sequence[str]) -> None:
    """A line per service: what it removed and what it still counts; then who has not confirmed."""
    rows = [(one.service, counts(one.removed), counts(one.remaining)) for one in services]
    output.table(("service", "removed", "left"), rows)
    if pending:
        output.note(f"not confirmed yet: {', '.join(pending)}", "yellow")


def counts(counts: dict[str, int]) -> str:
    """Returns `3 messages, 1 runs`: what there is of each kind."""
    return ", ".join(f"{count} {kind}" for kind, count in counts.items() if count) or "nothing"
