"""attractor documents"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer

from attractor_client.client import AttractorClient
from attractor_client.errors import AttractorError
from attractor_client.invocation import FAILED, USAGE, Json, Limit, Yes, at_most, confirm, run
from attractor_client.output import Output
from attractor_client.rendering import local_time, size
from contracts.ingestion import DeletionReceipt, DocumentDetail, DocumentStatus

app = typer.Typer(no_args_is_help=True, help="List, show, delete, retry and download documents.")
DocumentId = Annotated[UUID, typer.Argument(metavar="ID", help="The document's id.")]
DocumentIds = Annotated[list[UUID], typer.Argument(metavar="ID...", help="The documents' ids.")]


@app.command("list")
def list_documents(
    ctx: typer.Context,
    status: Annotated[DocumentStatus | None, typer.Option(help="Only with this status.")] = None,
    name: Annotated[str | None, typer.Option(help="Only with this in the name.")] = None,
    limit: Limit = 50,
    json: Json = False,
) -> None:
    """List documents, newest first.

    \b
    Examples:
      attractor documents list --status failed
      attractor documents list --json | jq -r '.[].id'
    """

    async def work(client: AttractorClient, output: Output) -> None:
        found = await at_most(limit, client.documents.all(status=status, name=name))
        if output.as_json:
            output.json(found)
            return
        rows = [(one.id, one.status.value, one.name, size(one.bytes), local_time(one.created_at)) for one in found]
        output.table(("id", "status", "name", "size", "added"), rows)
        if len(found) == limit:
            output.note(f"the first {limit}; there may be more (--limit)")

    run(ctx, json, work)


@app.command()
def show(ctx: typer.Context, document_id: DocumentId, json: Json = False) -> None:
    """Show a document with its stages, and why it is not searchable when it is not."""

    async def work(client: AttractorClient, output: Output) -> None:
        document = await client.documents.get(document_id)
        output.json(document) if output.as_json else _show(output, document)

    run(ctx, json, work)


@app.command()
def delete(
    ctx: typer.Context,
    document_ids: DocumentIds,
    yes: Yes = False,
    timeout: Annotated[float, typer.Option(min=0, max=300, help="Seconds to wait for the services to confirm.")] = 30,
    json: Json = False,
) -> None:
    """Delete documents everywhere, and show what each service removed.

    Exit code 1 when a service still counts something of a document.

    \b
    Examples:
      attractor documents delete 2f0c...
      attractor documents delete --yes --json 2f0c... 77ab...
    """

    async def work(client: AttractorClient, output: Output) -> None:
        confirm(f"Delete {len(document_ids)} document(s) with all that was made from them?", output, yes)
        receipts = [await client.documents.delete(one, timeout) for one in document_ids]
        if output.as_json:
            output.json(receipts)
        else:
            for receipt in receipts:
                _show_receipt(output, receipt)
        if any(any(one.remaining.values()) for receipt in receipts for one in receipt.services):
            raise typer.Exit(FAILED)

    run(ctx, json, work)


@app.command()
def retry(ctx: typer.Context, document_ids: DocumentIds, json: Json = False) -> None:
    """Run documents again from the stage that failed."""

    async def work(client: AttractorClient, output: Output) -> None:
        documents = [await client.documents.retry(one) for one in document_ids]
        if output.as_json:
            output.json(documents)
            return
        for document in documents:
            output.text(f"{document.name}: {document.explanation or document.status.value}")

    run(ctx, json, work)


@app.command()
def download(
    ctx: typer.Context,
    document_id: DocumentId,
    to: Annotated[Path | None, typer.Option("--output", "-o", help="A file, a folder, or - for stdout.")] = None,
    force: Annotated[bool, typer.Option("--force", "-f", help="Replace a file that is there.")] = False,
    json: Json = False,
) -> None:
    """Download a document's file as it was uploaded; by default under its own name into this folder.

    \b
    Examples:
      attractor documents download 2f0c... -o handbook.pdf
      attractor documents download 2f0c... -o - | less
    """

    async def work(client: AttractorClient, output: Output) -> None:
        if to == Path("-"):
            async for piece in client.documents.original(document_id):
                sys.stdout.buffer.write(piece)
            return
        document = await client.documents.get(document_id)
        target = to / _file_name(document) if to and to.is_dir() else to or Path(_file_name(document))
        if target.exists() and not force:
            output.note(f"Error: {target} is there already; replace it with --force", "red")
            raise typer.Exit(USAGE)
        try:
            await client.documents.download(document, target)
        except OSError as error:
            raise AttractorError(f"{target} cannot be written", error.strerror) from error
        output.json({"document_id": document.id, "path": target}) if output.as_json else output.text(str(target))

    run(ctx, json, work)


def _file_name(document: DocumentDetail) -> str:
    """A name from a server never leads out of the folder, nor hides the file."""
    last = re.split(r"[/\\]", document.name)[-1].lstrip(".").replace("\x00", "")
    return last or str(document.id)


def _show(output: Output, document: DocumentDetail) -> None:
    output.fields(
        [
            ("id", document.id),
            ("name", document.name),
            ("title", document.title),
            ("status", document.status.value),
            ("why", document.explanation),
            ("type", document.media_type),
            ("size", size(document.bytes)),
            ("pages", document.pages),
            ("passages", document.chunk_count),
            ("converted by", document.engine),
            ("sha-256", document.content_hash),
            ("added", local_time(document.created_at)),
            ("searchable since", local_time(document.indexed_at)),
        ]
    )
    output.text()
    rows = [(one.name, one.status.value, one.attempts, one.error_message) for one in document.stages]
    output.table(("stage", "status", "attempts", "error"), rows)


def _show_receipt(output: Output, receipt: DeletionReceipt) -> None:
    output.text(f"{receipt.document_id} {'deleted' if receipt.completed_at else 'is being deleted'}", "bold")
    rows = [(one.service, _counts(one.removed), _counts(one.remaining)) for one in receipt.services]
    output.table(("service", "removed", "left"), rows)
    if receipt.pending:
        output.note(f"not confirmed yet: {', '.join(receipt.pending)}", "yellow")


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in counts.items() if count) or "nothing"
