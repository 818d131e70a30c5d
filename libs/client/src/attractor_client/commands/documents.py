"""attractor documents"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer

from attractor_client.client import AttractorClient
from attractor_client.commands.receipts import show_receipts
from attractor_client.errors import AttractorError
from attractor_client.invocation import FAILED, USAGE, Limit, Yes, at_most, confirm, connected, show_list
from attractor_client.output import Output
from attractor_client.rendering import local_time, size
from contracts.ingestion import DocumentDetail, DocumentFilter, DocumentStatus, EmbeddingStatus
from contracts.locations import location

app = typer.Typer(
    no_args_is_help=True,
    help="List, show, change, retry, cancel, delete and download documents; list their chunks and versions.",
)
DocumentId = Annotated[UUID, typer.Argument(metavar="ID", help="The document's id.")]
DocumentIds = Annotated[list[UUID], typer.Argument(metavar="ID...", help="Document ids.")]
SomeIds = Annotated[list[UUID] | None, typer.Argument(metavar="[ID...]", help="Document ids.")]
OfSource = Annotated[UUID | None, typer.Option(metavar="ID", help="Every document of this source.")]
OfError = Annotated[
    str | None,
    typer.Option(metavar="CLASS", help="Every document that failed with this error class, such as worker-lost."),
]


@app.command("list")
@connected()
async def list_documents(
    client: AttractorClient,
    output: Output,
    status: Annotated[DocumentStatus | None, typer.Option(help="Only documents with this status.")] = None,
    name: Annotated[str | None, typer.Option(help="Only documents whose name contains this.")] = None,
    source: Annotated[UUID | None, typer.Option(metavar="ID", help="Only documents from this source.")] = None,
    tag: Annotated[str | None, typer.Option(help="Only documents with this tag.")] = None,
    stale: Annotated[bool | None, typer.Option(help="Only documents whose source file is gone, or is not.")] = None,
    limit: Limit = 50,
) -> None:
    """List documents, newest first.

    \b
    Examples:
      attractor documents list --status failed
      attractor documents list --json | jq -r '.[].id'
    """
    chosen = client.documents.all(status=status, name=name, source_id=source, tag=tag, stale=stale)
    await show_list(
        output,
        chosen,
        limit,
        ("id", "status", "name", "size", "added"),
        lambda one: (one.id, one.status.value, one.name, size(one.file_size), local_time(one.created_at)),
    )


@app.command()
@connected()
async def show(client: AttractorClient, output: Output, document_id: DocumentId) -> None:
    """Show a document and its stages, and why it is not searchable yet."""
    document = await client.documents.get(document_id)
    output.json(document) if output.as_json else _show(output, document)


@app.command()
@connected()
async def change(
    client: AttractorClient,
    output: Output,
    document_id: DocumentId,
    title: Annotated[str | None, typer.Option(help="The new title.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="A tag; these replace all that it had.")] = None,
    no_tags: Annotated[bool, typer.Option("--no-tags", help="Remove all tags.")] = False,
) -> None:
    """Change a document's title or tags. They stay when its file changes.

    \b
    Examples:
      attractor documents change 2f0c... --title "Handbook for new colleagues" --tag handbook --tag people
    """
    if title is None and not tag and not no_tags:
        raise typer.BadParameter("give --title, --tag or --no-tags")
    document = await client.documents.update(document_id, title=title, tags=[] if no_tags else tag or None)
    output.json(document) if output.as_json else _show(output, document)


@app.command()
@connected()
async def delete(
    client: AttractorClient,
    output: Output,
    document_ids: DocumentIds,
    yes: Yes = False,
    timeout: Annotated[float, typer.Option(min=0, max=300, help="Seconds to wait for the services to confirm.")] = 30,
) -> None:
    """Delete documents everywhere, and show what each service deleted.

    Exit code 1 if a service still holds any of their data.

    \b
    Examples:
      attractor documents delete 2f0c...
      attractor documents delete --yes --json 2f0c... 77ab...
    """
    confirm(f"Delete {len(document_ids)} document(s) with all that was made from them?", output, yes)
    receipts = [await client.documents.delete(one, timeout) for one in document_ids]
    if output.as_json:
        output.json(receipts)
    else:
        for receipt in receipts:
            state = "deleted" if receipt.completed_at else "is being deleted"
            output.text(f"{receipt.document_id} {state}", "bold")
            show_receipts(output, receipt.services, receipt.pending)
    if any(any(one.remaining.values()) for receipt in receipts for one in receipt.services):
        raise typer.Exit(FAILED)


@app.command()
@connected()
async def retry(
    client: AttractorClient,
    output: Output,
    document_ids: SomeIds = None,
    source: OfSource = None,
    error_class: OfError = None,
    failed: Annotated[bool, typer.Option("--all-failed", help="Every failed document.")] = False,
    embeddings: Annotated[bool, typer.Option("--embeddings", help="Every document whose embedding failed.")] = False,
) -> None:
    """Retry documents from the stage that failed or was cancelled: those named, or those matching a filter.

    \b
    Examples:
      attractor documents retry 2f0c...
      attractor documents retry --all-failed --error-class embedding-unavailable
    """
    which = _filter(
        document_ids,
        source_id=source,
        error_class=error_class,
        status=DocumentStatus.failed if failed else None,
        embedding_status=EmbeddingStatus.failed if embeddings else None,
    )
    if which.model_fields_set == {"document_ids"}:
        _show_states(output, [await client.documents.retry(one) for one in which.document_ids or []])
        return
    result = await client.documents.retry_all(which)
    output.result(result, f"{result.done} queued again")


@app.command()
@connected()
async def cancel(
    client: AttractorClient, output: Output, document_ids: SomeIds = None, source: OfSource = None, yes: Yes = False
) -> None:
    """Cancel the conversion or embedding of documents; what is searchable stays searchable."""
    which = _filter(document_ids, source_id=source)
    if which.model_fields_set == {"document_ids"}:
        _show_states(output, [await client.documents.cancel(one) for one in which.document_ids or []])
        return
    confirm("Cancel all these documents?", output, yes)
    result = await client.documents.cancel_all(which)
    output.result(result, f"{result.done} cancelled")


@app.command()
@connected()
async def chunks(client: AttractorClient, output: Output, document_id: DocumentId, limit: Limit = 20) -> None:
    """List the chunks of a document, in order."""
    found = await at_most(limit, client.documents.chunks(document_id))
    if output.as_json:
        output.json(found)
        return
    for chunk in found:
        where = location(" > ".join(chunk.heading_path), chunk.page, chunk.line_start, chunk.line_end)
        if chunk.markdown_start is not None:
            where += f"  Markdown {chunk.markdown_start}-{chunk.markdown_end}"
        output.text(f"{chunk.chunk_index}  {where}  {chunk.token_count} tokens", "bold")
        output.text(f"{chunk.content}\n")
    if len(found) == limit:
        output.note(f"showing the first {limit}; there may be more (--limit)")


@app.command()
@connected()
async def versions(client: AttractorClient, output: Output, document_id: DocumentId, limit: Limit = 20) -> None:
    """List the versions of a document, newest first."""
    await show_list(
        output,
        client.documents.versions(document_id),
        limit,
        ("version", "added", "size", "chunks", "searchable since"),
        lambda one: (
            one.version,
            local_time(one.created_at),
            size(one.file_size),
            one.chunk_count,
            local_time(one.indexed_at),
        ),
    )


def _filter(document_ids: list[UUID] | None, **filters: object) -> DocumentFilter:
    given = {name: value for name, value in filters.items() if value is not None}
    if document_ids:
        given["document_ids"] = document_ids
    if not given:
        raise typer.BadParameter("give document ids or a filter")
    return DocumentFilter.model_validate(given)


def _show_states(output: Output, documents: list[DocumentDetail]) -> None:
    if output.as_json:
        output.json(documents)
        return
    for document in documents:
        output.text(f"{document.name}: {document.explanation or document.status.value}")


@app.command()
@connected()
async def download(
    client: AttractorClient,
    output: Output,
    document_id: DocumentId,
    to: Annotated[Path | None, typer.Option("--output", "-o", help="A file, a folder, or - for stdout.")] = None,
    force: Annotated[bool, typer.Option("--force", "-f", help="Overwrite an existing file.")] = False,
) -> None:
    """Download a document's original file; default: into this folder, under its own name.

    \b
    Examples:
      attractor documents download 2f0c... -o handbook.pdf
      attractor documents download 2f0c... -o - | less
    """
    if to == Path("-"):
        async for piece in client.documents.original(document_id):
            sys.stdout.buffer.write(piece)
        return
    document = await client.documents.get(document_id)
    target = to / _file_name(document) if to and to.is_dir() else to or Path(_file_name(document))
    if target.exists() and not force:
        output.note(f"Error: {target} already exists; overwrite it with --force", "red")
        raise typer.Exit(USAGE)
    try:
        await client.documents.download(document, target)
    except OSError as error:
        raise AttractorError(f"Cannot write {target}", error.strerror) from error
    output.result({"document_id": document.id, "path": target}, str(target))


def _file_name(document: DocumentDetail) -> str:
    """Returns a safe file name: one from a server never leads out of the folder, nor hides the file."""
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
            ("version", _versions(document)),
            ("embedding", document.embedding_status.value),
            ("from", document.source_uri or document.source_path),
            ("source vanished", local_time(document.stale_at)),
            ("tags", ", ".join(document.tags)),
            ("language", document.language),
            ("authors", ", ".join(document.authors)),
            ("written", local_time(document.written_at)),
            ("type", document.media_type),
            ("size", size(document.file_size)),
            ("pages", document.pages),
            ("chunks", document.chunk_count),
            ("converted by", document.engine),
            ("sha-256", document.content_hash),
            ("added", local_time(document.created_at)),
            ("searchable since", local_time(document.indexed_at)),
        ]
    )
    output.text()
    rows = [(one.name, one.status.value, one.attempts, one.error_message) for one in document.stages]
    output.table(("stage", "status", "attempts", "error"), rows)


def _versions(document: DocumentDetail) -> str:
    served = document.searchable_version
    return str(document.version) + (
        f" (version {served} is searched)" if served not in (None, document.version) else ""
    )
