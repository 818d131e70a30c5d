"""Shows sources and synchronisations to people."""

from __future__ import annotations

from attractor_client.output import Output
from attractor_client.rendering import local_time
from contracts.sources import FolderConfig, Source, Sync


def source_row(source: Source) -> tuple[object, ...]:
    last = source.last_sync
    state = "paused" if source.paused else ""
    return (
        source.id,
        source.name,
        source.config.kind,
        source.documents,
        f"{last.status.value} {local_time(last.finished_at or last.created_at)}" if last else "never",
        state or local_time(source.next_sync_at),
    )


def sync_row(sync: Sync) -> tuple[object, ...]:
    by = f"{sync.trigger.value}, dry run" if sync.dry_run else sync.trigger.value
    counts = (sync.added, sync.changed, sync.removed, sync.unchanged, sync.refused)
    return (sync.id, local_time(sync.created_at), by, sync.status.value, *counts, sync.error_message)


def show_source(output: Output, source: Source) -> None:
    last = source.last_sync
    output.fields(
        [
            ("id", source.id),
            ("name", source.name),
            ("kind", source.config.kind),
            ("place", source.config.place),
            ("only", ", ".join(source.config.include)),
            ("not", ", ".join(source.config.exclude)),
            ("documents", source.documents),
            ("synchronised", "paused" if source.paused else _how_often(source)),
            ("removed files", source.on_removed.value.replace("_", " ")),
            (
                "last sync",
                f"{last.status.value}{': ' + last.error_message if last.error_message else ''}" if last else "",
            ),
            ("next sync", local_time(source.next_sync_at)),
        ]
    )


def _how_often(source: Source) -> str:
    watched = isinstance(source.config, FolderConfig) and source.config.watch
    ways = ["when a file changes"] if watched else []
    if source.every_seconds:
        ways.append(f"every {source.every_seconds} s")
    return ", ".join(ways) or "when asked"


def show_sync(output: Output, sync: Sync) -> None:
    """Prints the outcome in one line, and the error, if any, in another."""
    verb = "would be " if sync.dry_run else ""
    counts = (
        f"{sync.added} {verb}added, {sync.changed} {verb}changed, {sync.removed} {verb}removed, "
        f"{sync.unchanged} unchanged"
    )
    if sync.refused:
        counts += f", {sync.refused} refused"
    output.text(f"{sync.status.value}: {counts}", "bold")
    if sync.error_message:
        output.note(sync.error_message, "red")
