"""attractor sources"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any
from uuid import UUID

import typer

from attractor_client.client import AttractorClient
from attractor_client.commands.source_views import show_source, show_sync, source_row, sync_row
from attractor_client.invocation import FAILED, Limit, Yes, at_most, confirm, connected, show_list
from attractor_client.output import Output
from attractor_client.rendering import size
from contracts.sources import (
    FolderConfig,
    GitConfig,
    OnRemoved,
    S3Config,
    SourceConfig,
    SourceCreate,
    SourceUpdate,
    Sync,
    SyncStatus,
    WebConfig,
)

app = typer.Typer(
    no_args_is_help=True, help="Manage the folders, buckets, sites and repositories that documents come from."
)
add = typer.Typer(no_args_is_help=True, help="Add a source.")
app.add_typer(add, name="add")

SourceId = Annotated[UUID, typer.Argument(metavar="ID", help="The source's id.")]
Name = Annotated[str | None, typer.Option(help="Name of the source; default: its location.")]
Every = Annotated[int | None, typer.Option(metavar="SECONDS", help="Synchronise automatically at this interval.")]
Include = Annotated[list[str] | None, typer.Option(help="Only paths that match, such as 'docs/**/*.md'; repeatable.")]
Exclude = Annotated[list[str] | None, typer.Option(help="Skip paths that match; repeatable.")]
Removed = Annotated[OnRemoved, typer.Option(help="What to do with a document whose file is gone.")]


@dataclass(frozen=True)
class Following:
    """The options that all kinds of sources have."""

    name: Name = None
    every: Every = None
    include: Include = None
    exclude: Exclude = None
    on_removed: Removed = OnRemoved.delete

    @property
    def selection(self) -> dict[str, Any]:
        return {"include": self.include or [], "exclude": self.exclude or []}


@add.command("folder")
@connected(following=Following)
async def add_folder(
    client: AttractorClient,
    output: Output,
    path: Annotated[str, typer.Argument(help="Path of the folder on the server, below one of its SOURCE_ROOTS.")],
    watch: Annotated[bool, typer.Option(help="Synchronise shortly after each change.")] = True,
    *,
    following: Following,
) -> None:
    """Add a folder, with everything below it, and watch it for changes.

    \b
    Example:
      attractor sources add folder /documents/handbook --exclude 'drafts/**'
    """
    await _add(client, output, following, path, FolderConfig(path=path, watch=watch, **following.selection))


@add.command("git")
@connected(following=Following)
async def add_git(
    client: AttractorClient,
    output: Output,
    path: Annotated[str, typer.Argument(help="Path of the repository on the server, below one of its SOURCE_ROOTS.")],
    ref: Annotated[str, typer.Option(help="A branch, tag or commit.")] = "HEAD",
    *,
    following: Following,
) -> None:
    """Add the files of a git repository at a commit.

    \b
    Example:
      attractor sources add git /documents/billing --ref main --every 300
    """
    await _add(client, output, following, path, GitConfig(path=path, ref=ref, **following.selection))


@add.command("web")
@connected(following=Following)
async def add_web(
    client: AttractorClient,
    output: Output,
    url: Annotated[str, typer.Argument(help="A page, a sitemap, or the first page of a crawl.")],
    sitemap: Annotated[bool, typer.Option("--sitemap", help="Treat the URL as a sitemap and read its pages.")] = False,
    crawl: Annotated[bool, typer.Option("--crawl", help="Follow links on the same site.")] = False,
    depth: Annotated[int, typer.Option(min=0, max=20, help="How many links deep to crawl.")] = 3,
    pages: Annotated[int, typer.Option(min=1, max=10_000, help="Maximum number of pages.")] = 200,
    *,
    following: Following,
) -> None:
    """Add a web page, the pages of a sitemap, or a crawl of one site.

    \b
    Example:
      attractor sources add web https://docs.example.com/ --crawl --depth 2 --every 86400
    """
    if sitemap and crawl:
        raise typer.BadParameter("--sitemap and --crawl cannot be combined")
    mode = "sitemap" if sitemap else "crawl" if crawl else "page"
    values = {"url": url, "mode": mode, "max_depth": depth, "max_pages": pages, **following.selection}
    await _add(client, output, following, url, WebConfig.model_validate(values))


@add.command("s3")
@connected(following=Following)
async def add_s3(
    client: AttractorClient,
    output: Output,
    bucket: Annotated[str, typer.Argument(help="Name of the bucket.")],
    prefix: Annotated[str, typer.Argument(help="Only keys with this prefix.")] = "",
    connection: Annotated[str, typer.Option(help="One of the server's SOURCE_S3_CONNECTIONS.")] = "default",
    *,
    following: Following,
) -> None:
    """Add the objects of a bucket under a prefix.

    \b
    Example:
      attractor sources add s3 contracts 2026/ --connection archive --every 3600
    """
    config = S3Config(bucket=bucket, prefix=prefix, connection=connection, **following.selection)
    await _add(client, output, following, f"{bucket}/{prefix}", config)


async def _add(client: AttractorClient, output: Output, following: Following, place: str, config: SourceConfig) -> None:
    created = await client.sources.create(
        SourceCreate(
            name=following.name or place,
            config=config,
            every_seconds=following.every,
            on_removed=following.on_removed,
        )
    )
    output.json(created) if output.as_json else show_source(output, created)


@app.command("list")
@connected()
async def list_sources(client: AttractorClient, output: Output, limit: Limit = 50) -> None:
    """List the sources with their last synchronisation."""
    columns = ("id", "name", "kind", "documents", "last sync", "next")
    await show_list(output, client.sources.all(), limit, columns, source_row)


@app.command()
@connected()
async def show(client: AttractorClient, output: Output, source_id: SourceId) -> None:
    """Show a source and its latest synchronisations."""
    source = await client.sources.get(source_id)
    syncs = await at_most(10, client.sources.syncs(source_id))
    if output.as_json:
        output.json({"source": source, "syncs": syncs})
        return
    show_source(output, source)
    output.text()
    columns = ("id", "at", "by", "status", "added", "changed", "removed", "unchanged", "refused", "error")
    output.table(columns, map(sync_row, syncs))


@app.command()
@connected(patient=True)
async def sync(
    client: AttractorClient,
    output: Output,
    source_id: SourceId,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only list what would change.")] = False,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Wait until it has finished.")] = True,
    limit: Annotated[int, typer.Option("--limit", "-n", min=0, help="Maximum number of changes to list.")] = 50,
) -> None:
    """Synchronise a source now: pick up what was added, changed or removed there.

    \b
    Examples:
      attractor sources sync 2f0c... --dry-run
      attractor sources sync 2f0c... --no-wait
    """
    found = await client.sources.sync(source_id, dry_run=dry_run)
    if wait:
        found = await client.sources.wait(found)
    await _show_result(client, output, found, limit if wait else 0)
    if found.status is SyncStatus.failed:
        raise typer.Exit(FAILED)


async def _show_result(client: AttractorClient, output: Output, found: Sync, limit: int) -> None:
    changes = await at_most(limit, client.sources.changes(found)) if limit else []
    if output.as_json:
        output.json({"sync": found, "changes": changes})
        return
    show_sync(output, found)
    if changes:
        rows = [(one.action.value, one.path, size(one.file_size or 0), one.message) for one in changes]
        output.table(("", "path", "size", "reason"), rows, whole=("",))
        if len(changes) == limit:
            output.note(f"showing the first {limit}; there may be more (--limit)")


@app.command()
@connected()
async def pause(client: AttractorClient, output: Output, source_id: SourceId) -> None:
    """Stop synchronising a source automatically; its documents stay."""
    await _update(client, output, source_id, SourceUpdate(paused=True))


@app.command()
@connected()
async def resume(client: AttractorClient, output: Output, source_id: SourceId) -> None:
    """Synchronise a paused source automatically again."""
    await _update(client, output, source_id, SourceUpdate(paused=False))


async def _update(client: AttractorClient, output: Output, source_id: UUID, change: SourceUpdate) -> None:
    updated = await client.sources.update(await client.sources.get(source_id), change)
    output.json(updated) if output.as_json else show_source(output, updated)


@app.command()
@connected()
async def delete(
    client: AttractorClient,
    output: Output,
    source_id: SourceId,
    keep_documents: Annotated[bool, typer.Option("--keep-documents", help="Keep its documents as uploads.")] = False,
    timeout: Annotated[float, typer.Option(min=0, max=300, help="Seconds to wait for the services to confirm.")] = 60,
    yes: Yes = False,
) -> None:
    """Delete a source with all its documents, and show what each service removed.

    Exit code 1 if a service still holds any data of its documents.
    """
    source = await client.sources.get(source_id)
    what = "keep its" if keep_documents else "delete its"
    confirm(f"Delete {source.name} and {what} {source.documents} document(s)?", output, yes)
    receipt = await client.sources.delete(source_id, keep_documents=keep_documents, timeout=timeout)
    if output.as_json:
        output.json(receipt if receipt else {"deleted": source_id})
    elif receipt is None:
        output.text(f"{source.name} deleted; its documents stay")
    else:
        done = receipt.documents - receipt.pending_documents
        output.text(f"{source.name} deleted; {done} of {receipt.documents} documents confirmed", "bold")
        rows = [(one.service, sum(one.removed.values()), sum(one.remaining.values())) for one in receipt.services]
        output.table(("service", "removed", "left"), rows)
    if receipt and any(any(one.remaining.values()) for one in receipt.services):
        raise typer.Exit(FAILED)
