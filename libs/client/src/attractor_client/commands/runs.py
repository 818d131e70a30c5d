"""attractor runs"""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

import typer

from attractor_client.client import AttractorClient
from attractor_client.invocation import Limit, connected, show_list
from attractor_client.output import Output
from attractor_client.rendering import local_time
from contracts.orchestrator import RunStatus, RunUsage

app = typer.Typer(no_args_is_help=True, help="Find, stop and retry runs: each answers one message.")
RunId = Annotated[UUID, typer.Argument(metavar="ID", help="The run's id.")]


USED = ("id", "status", "user", "asked", "tokens read", "tokens written", "cost", "error")


@app.command("list")
@connected()
async def list_runs(
    client: AttractorClient,
    output: Output,
    session: Annotated[UUID | None, typer.Option(help="Only runs of this session.")] = None,
    status: Annotated[list[RunStatus] | None, typer.Option(help="Only runs in this state (repeatable).")] = None,
    everyone: Annotated[
        bool, typer.Option("--everyone", help="The runs of all users, and what they used; for owners.")
    ] = False,
    limit: Limit = 50,
) -> None:
    """List your runs, newest first.

    \b
    Examples:
      attractor runs list --status queued --status running
      attractor runs list --everyone --status failed
    """
    if everyone:
        if session:
            raise typer.BadParameter("--everyone and --session exclude each other")
        await show_list(output, client.usage.runs(status or ()), limit, USED, _used)
        return
    await show_list(
        output,
        client.runs.all(session, status or ()),
        limit,
        ("id", "status", "session", "asked"),
        lambda one: (one.id, one.status.value, one.session_id, local_time(one.created_at)),
    )


@app.command()
@connected()
async def show(
    client: AttractorClient,
    output: Output,
    run_id: RunId,
    debug: Annotated[
        bool, typer.Option("--debug", help="Also show how it was routed and how its search went.")
    ] = False,
) -> None:
    """Show a run: its state, what it did, its problems and its answer."""
    run = await client.runs.get(run_id, debug=debug)
    if output.as_json:
        output.json(run)
        return
    output.text(f"{run.id} {run.status.value}", "bold")
    output.text(f"session {run.session_id}, asked {local_time(run.created_at)}, attempts {run.attempts}")
    output.text(" > ".join(run.node_trace), "dim")
    for step in run.steps_executed:
        output.text(step, "dim")
    for issue in [*run.issues, *([run.error_message] if run.error_message else [])]:
        output.text(issue, "yellow")
    if run.answer is not None:
        output.text(run.answer.content)
    if run.debug is not None:
        output.json(run.debug)


@app.command()
@connected()
async def cancel(client: AttractorClient, output: Output, run_id: RunId) -> None:
    """Stop a run; one that has ended stays as it is."""
    run = await client.runs.cancel(run_id)
    output.result(run, f"{run.id} {run.status.value}")


@app.command()
@connected()
async def retry(client: AttractorClient, output: Output, run_id: RunId) -> None:
    """Retry a failed run from where it failed."""
    run = await client.runs.retry(run_id)
    output.result(run, f"{run.id} {run.status.value}")


def _used(run: RunUsage) -> tuple[object, ...]:
    took = run.usage
    return (
        run.id,
        run.status.value,
        run.user_id,
        local_time(run.created_at),
        f"{took.input_tokens:,}" if took else "",
        f"{took.output_tokens:,}" if took else "",
        "" if took is None or took.cost is None else f"{took.cost:.4f}",
        run.error_type or "",
    )
