"""attractor ingest"""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

from attractor_client.batch import Batch, FileReport, Result
from attractor_client.client import AttractorClient
from attractor_client.commands.queue_view import follow
from attractor_client.discovery import Found, LeftOut, discover
from attractor_client.errors import AttractorError
from attractor_client.invocation import FAILED, Json, run
from attractor_client.output import Output, plain
from contracts.graph_tools import being_read

SHOWN_PER_REASON = 10
UNFINISHED = (Result.failed, Result.processing)
FOUND = (Result.searchable, Result.known)


class ProgressBar(Progress):
    """A progress bar at a terminal: done and total, failed, rate, time left, and the stage of the latest document."""

    def __init__(self, console: Console, total: int, wait: bool) -> None:
        super().__init__(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[failed]}"),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(compact=True),
            TextColumn("[dim]{task.fields[stage]}", markup=True),
            console=console,
            transient=True,
            disable=not console.is_terminal or console.is_dumb_terminal,
        )
        self.failed = 0
        self.task = self.add_task("searchable" if wait else "uploaded", total=total, stage="", failed="", rate="")

    def settled(self, report: FileReport) -> None:
        self.failed += report.result is Result.failed
        self.advance(self.task)
        task = self.tasks[self.task]
        rate = f"{task.completed / task.elapsed:.1f}/s" if task.elapsed else ""
        self.update(self.task, failed=f"{self.failed} failed" if self.failed else "", rate=rate)

    def at_stage(self, name: str, stage: str) -> None:
        self.update(self.task, stage=f"{stage}: {plain(Path(name).name)}".replace("[", "\\["))


def ingest(
    ctx: typer.Context,
    paths: Annotated[
        list[Path] | None, typer.Argument(metavar="PATH...", help="Files and folders; folders are read recursively.")
    ] = None,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Wait until the documents are searchable.")] = True,
    timeout: Annotated[float | None, typer.Option(min=0, help="Maximum seconds to wait; default: no limit.")] = None,
    watch: Annotated[
        bool, typer.Option("--watch", "-w", help="Show live progress; without PATH, for the whole queue.")
    ] = False,
    source: Annotated[UUID | None, typer.Option(metavar="ID", help="With --watch: only this source.")] = None,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1, max=32, help="Number of parallel uploads.")] = 4,
    json: Json = False,
) -> None:
    """Upload files and folders, and wait until they are searchable.

    In folders, hidden files, build and version-control folders and symbolic
    links are skipped. Files that are already known are not stored twice.
    Exit code 1 if a file fails or is not searchable in time.

    \b
    Examples:
      attractor ingest handbook.pdf notes/
      attractor ingest --no-wait --json docs/ | jq '.counts'
      attractor ingest --watch
    """
    if not paths and not watch:
        raise typer.BadParameter("give files or folders, or use --watch to follow the queue")

    async def work(client: AttractorClient, output: Output) -> None:
        if not paths:
            if (await follow(client, output, source)).failures:
                raise typer.Exit(FAILED)
            return
        files = await asyncio.to_thread(lambda: list(discover(paths)))
        await _ingest(client, output, files, wait or watch, timeout, jobs)

    run(ctx, json, work, patient=True)


async def _ingest(
    client: AttractorClient,
    output: Output,
    files: list[Found | LeftOut],
    wait: bool,
    timeout: float | None,
    jobs: int,
) -> None:
    with ProgressBar(output.notes, len(files), wait) as progress:
        batch = Batch(client, progress, jobs, wait, timeout)
        try:
            await batch.run(files)
        except asyncio.CancelledError:
            output.note("stopped waiting; uploaded files are still being processed (see: attractor documents list)")
            _report(output, batch.reports, None)
            raise
    not_tried = len(files) - len(batch.reports) if batch.stopped_by else None
    _report(output, batch.reports, not_tried)
    if batch.stopped_by:
        raise batch.stopped_by
    if wait and any(report.result in FOUND for report in batch.reports):
        await _tell_of_graph(client, output)
    if any(report.result in UNFINISHED for report in batch.reports):
        raise typer.Exit(FAILED)


async def _tell_of_graph(client: AttractorClient, output: Output) -> None:
    """Notes on stderr how many documents of the workspace the graph does not have yet, if any."""
    try:
        left = (await client.documents.summary()).by_stage.get("graph", 0)
    except AttractorError as error:  # what was to be done is done
        output.note(f"note: it is not known whether the graph has all documents: {error}", "yellow")
        return
    if left:
        output.note(f"note: {being_read(left)}: answers about dependencies, owners and counts may lack them", "yellow")


def _report(output: Output, reports: list[FileReport], not_tried: int | None) -> None:
    counts = Counter(report.result for report in reports)
    if output.as_json:
        files = [asdict(report) for report in reports]
        output.json({"files": files, "counts": dict(counts), "not_tried": not_tried or 0})
        return
    words = {Result.known: "already known", Result.processing: "not searchable yet", Result.skipped: "left out"}
    parts = [f"{counts[result]} {words.get(result, result.value)}" for result in Result if counts[result]]
    if not_tried:
        parts.append(f"{not_tried} not tried")
    output.text(", ".join(parts) or "no files found", "bold")
    _reasons(output, "failed", "red", (one for one in reports if one.result in UNFINISHED))
    _reasons(output, "left out", "dim", (one for one in reports if one.result is Result.skipped))


def _reasons(output: Output, heading: str, style: str, reports: Iterable[FileReport]) -> None:
    """Prints paths by reason. Failed files are all listed; a long list of skipped ones is shortened."""
    by_reason: dict[str, list[FileReport]] = defaultdict(list)
    for report in reports:
        by_reason[report.reason or "unknown reason"].append(report)
    for reason, group in by_reason.items():
        output.text(f"{heading}: {reason} ({len(group)})", style)
        shown = group if heading == "failed" else group[:SHOWN_PER_REASON]
        for report in shown:
            explained = report.message if heading == "failed" else None
            output.text(f"  {report.path}: {explained}" if explained else f"  {report.path}")
        if len(shown) < len(group):
            output.text(f"  and {len(group) - len(shown)} more", "dim")
