"""Shows receipts of deletions to people."""

from __future__ import annotations

from collections.abc import Sequence

from attractor_client.output import Output
from contracts.ingestion import StoreReceipt


def show_receipts(output: Output, services: Sequence[StoreReceipt], pending: Sequence[str]) -> None:
    """Prints one line per service: what it removed and what is left; then the services that have not confirmed."""
    rows = [(one.service, counts(one.removed), counts(one.remaining)) for one in services]
    output.table(("service", "removed", "left"), rows)
    if pending:
        output.note(f"not confirmed yet: {', '.join(pending)}", "yellow")


def counts(counts: dict[str, int]) -> str:
    """Formats counts by kind: `3 messages, 1 runs`."""
    return ", ".join(f"{count} {kind}" for kind, count in counts.items() if count) or "nothing"
