"""attractor graph estimate, refine, refinement"""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

import typer

from attractor_client.client import AttractorClient
from attractor_client.invocation import Json, Limit, Yes, at_most, confirm, run
from attractor_client.output import Output
from contracts.graph_refinement import (
    RefinementEstimate,
    RefinementRequest,
    RefinementRun,
    RefinementSettingsUpdate,
    ResumeRequest,
)

app = typer.Typer(no_args_is_help=True, help="Refine the graph by the deployment's chat model.")
Documents = Annotated[list[UUID] | None, typer.Option("--document", "-d", help="Of this document alone.")]
Tokens = Annotated[int | None, typer.Option(min=1, help="Stop before more tokens than this are spent.")]
Calls = Annotated[int | None, typer.Option(min=1, help="Stop after this many calls.")]
RunId = Annotated[UUID, typer.Argument(metavar="RUN", help="The run's id.")]


def estimate(ctx: typer.Context, document: Documents = None, json: Json = False) -> None:
    """Tell what refining would take. Nothing is spent."""

    async def work(client: AttractorClient, output: Output) -> None:
        found = await client.refinement.estimate(document)
        output.json(found) if output.as_json else _estimate(output, found)

    run(ctx, json, work)


def refine(
    ctx: typer.Context,
    document: Documents = None,
    max_tokens: Tokens = None,
    max_calls: Calls = None,
    within_estimate: Annotated[
        bool, typer.Option("--within-estimate", help="The budget is the most that the estimate says.")
    ] = False,
    follow: Annotated[bool, typer.Option("--follow", help="Take up later documents too.")] = False,
    yes: Yes = False,
    json: Json = False,
) -> None:
    """Start a run that sends passages to the chat model, within a budget.

    \b
    Examples:
      attractor graph refinement on
      attractor graph refine --within-estimate
      attractor graph refine --max-tokens 2000000 --follow
    """

    async def work(client: AttractorClient, output: Output) -> None:
        found = await client.refinement.estimate(document)
        _estimate(output, found, notes=True)
        confirm(f"Send {found.calls} passages to {found.model}?", output, yes)
        budgets = (max_tokens, max_calls)
        if within_estimate:
            budgets = (max_tokens or max(1, found.most_tokens), max_calls or max(1, found.calls))
        request = RefinementRequest(
            document_ids=document or None, max_tokens=budgets[0], max_calls=budgets[1], follow=follow
        )
        _run(output, await client.refinement.start(request))

    run(ctx, json, work)


@app.command()
def show(ctx: typer.Context, json: Json = False) -> None:
    """Show how far it is, and the newest run."""

    async def work(client: AttractorClient, output: Output) -> None:
        status = await client.refinement.status()
        if output.as_json:
            output.json(status)
            return
        output.fields(
            [
                ("refinement", "on" if status.enabled else "off"),
                ("model", status.model or "none is configured"),
                ("passages", status.chunks),
                ("refined", status.refined_chunks),
                ("failed", status.failed_chunks),
                ("pending", status.pending_chunks),
                ("documents to graph anew", status.unapplied_documents or None),
            ]
        )
        if status.run:
            output.text()
            _run(output, status.run)

    run(ctx, json, work)


@app.command()
def on(ctx: typer.Context, max_tokens: Tokens = None, max_calls: Calls = None, json: Json = False) -> None:
    """Turn it on in this workspace; budgets are those of runs that name none."""
    given = {"max_tokens": max_tokens, "max_calls": max_calls}
    values = {name: value for name, value in given.items() if value is not None}
    _change(ctx, json, RefinementSettingsUpdate.model_validate({"enabled": True, **values}))


@app.command()
def off(ctx: typer.Context, json: Json = False) -> None:
    """Turn it off: a run is paused, and what was found stays."""
    _change(ctx, json, RefinementSettingsUpdate(enabled=False))


@app.command()
def runs(ctx: typer.Context, limit: Limit = 20, json: Json = False) -> None:
    """List runs, the newest first."""

    async def work(client: AttractorClient, output: Output) -> None:
        found = await at_most(limit, client.refinement.runs())
        if output.as_json:
            output.json(found)
            return
        rows = [
            (one.id, one.state.value, one.calls, one.input_tokens + one.output_tokens, one.last_error) for one in found
        ]
        output.table(("id", "state", "calls", "tokens", "last error"), rows)

    run(ctx, json, work)


@app.command()
def pause(ctx: typer.Context, run_id: RunId, json: Json = False) -> None:
    """Pause a run."""

    async def work(client: AttractorClient, output: Output) -> None:
        _run(output, await client.refinement.pause(run_id))

    run(ctx, json, work)


@app.command()
def resume(
    ctx: typer.Context, run_id: RunId, max_tokens: Tokens = None, max_calls: Calls = None, json: Json = False
) -> None:
    """Resume a run that is paused, has failed or has spent its budget; budgets count from its start."""

    async def work(client: AttractorClient, output: Output) -> None:
        budgets = ResumeRequest(max_tokens=max_tokens, max_calls=max_calls)
        _run(output, await client.refinement.resume(run_id, budgets))

    run(ctx, json, work)


@app.command()
def cancel(ctx: typer.Context, run_id: RunId, json: Json = False) -> None:
    """Cancel a run for good; what it has found stays."""

    async def work(client: AttractorClient, output: Output) -> None:
        _run(output, await client.refinement.cancel(run_id))

    run(ctx, json, work)


@app.command()
def failures(ctx: typer.Context, limit: Limit = 50, json: Json = False) -> None:
    """List passages that could not be refined, and why."""

    async def work(client: AttractorClient, output: Output) -> None:
        found = await at_most(limit, client.refinement.failures())
        if output.as_json:
            output.json(found)
            return
        rows = [(one.chunk_id, one.document_id, one.attempts, one.error) for one in found]
        output.table(("passage", "document", "attempts", "error"), rows, whole=("passage", "document"))

    run(ctx, json, work)


@app.command()
def replay(
    ctx: typer.Context,
    passage: Annotated[list[str] | None, typer.Argument(metavar="PASSAGE...", help="By default all.")] = None,
    json: Json = False,
) -> None:
    """Let the present run, or the next one, ask for failed passages again."""

    async def work(client: AttractorClient, output: Output) -> None:
        replayed = await client.refinement.replay(passage)
        output.json(replayed) if output.as_json else output.text(f"{replayed.chunks} passages to ask for again")

    run(ctx, json, work)


@app.command()
def remove(ctx: typer.Context, yes: Yes = False, json: Json = False) -> None:
    """Remove everything that the model found from the graph."""

    async def work(client: AttractorClient, output: Output) -> None:
        confirm("Remove everything that the model found?", output, yes)
        removed = await client.refinement.remove_results()
        if output.as_json:
            output.json(removed)
        else:
            output.text(f"{removed.results} results removed; {removed.documents} documents are graphed anew")

    run(ctx, json, work)


def _change(ctx: typer.Context, json: bool, change: RefinementSettingsUpdate) -> None:
    async def work(client: AttractorClient, output: Output) -> None:
        changed = await client.refinement.change(await client.refinement.settings(), change)
        if output.as_json:
            output.json(changed)
            return
        budgets = [("tokens of a run", changed.max_tokens), ("calls of a run", changed.max_calls)]
        output.fields([("refinement", "on" if changed.enabled else "off"), *budgets])

    run(ctx, json, work)


def _estimate(output: Output, found: RefinementEstimate, *, notes: bool = False) -> None:
    """With `notes` a line on stderr: stdout is for what is started."""
    cost = "" if found.cost is None else f", {found.cost:.2f} to {found.most_cost:.2f} {found.currency}"
    if notes:
        tokens = f"{found.input_tokens + found.output_tokens} to {found.most_tokens}"
        output.note(f"{found.calls} calls, {tokens} tokens{cost}")
        return
    output.fields(
        [
            ("model", found.model or "none is configured"),
            ("documents", found.documents),
            ("passages", found.chunks),
            ("refined already", found.refined_chunks),
            ("failed", found.failed_chunks),
            ("calls", found.calls),
            ("input tokens", found.input_tokens),
            ("output tokens", f"{found.output_tokens}, at most {found.most_output_tokens}"),
            ("cost", cost.removeprefix(", ")),
            ("documents not counted yet", found.unread_documents or None),
        ]
    )


def _run(output: Output, shown: RefinementRun) -> None:
    if output.as_json:
        output.json(shown)
        return
    cost = None if shown.cost is None else f"{shown.cost:.4f} {shown.currency}"
    output.fields(
        [
            ("run", shown.id),
            ("state", shown.state.value),
            ("calls", _of(shown.calls, shown.max_calls)),
            ("tokens", _of(shown.input_tokens + shown.output_tokens, shown.max_tokens)),
            ("cost", cost),
            ("last error", shown.last_error),
            ("asks again at", shown.retry_at),
        ]
    )


def _of(spent: int, budget: int | None) -> str:
    return str(spent) if budget is None else f"{spent} of {budget}"
