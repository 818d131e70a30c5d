"""attractor graph estimate, refinement"""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

import typer

from attractor_client.client import AttractorClient
from attractor_client.invocation import Yes, confirm, connected
from attractor_client.output import Output
from contracts.graph_refinement import RefinementEstimate, RefinementSettings, RefinementSettingsUpdate

app = typer.Typer(no_args_is_help=True, help="Refine the graph with the deployment's chat model.")
Documents = Annotated[list[UUID] | None, typer.Option("--document", "-d", help="Only for this document.")]
Tokens = Annotated[
    int | None, typer.Option(min=1, help="Maximum number of tokens that the workspace may spend in total.")
]


@connected()
async def estimate(client: AttractorClient, output: Output, document: Documents = None) -> None:
    """Estimate the cost of refinement. Nothing is spent."""
    found = await client.refinement.estimate(document)
    output.json(found) if output.as_json else _estimate(output, found)


@app.command()
@connected()
async def show(client: AttractorClient, output: Output) -> None:
    """Show the progress and what was spent."""
    status = await client.refinement.status()
    if output.as_json:
        output.json(status)
        return
    spent = status.input_tokens + status.output_tokens
    output.fields(
        [
            ("refinement", status.state.value),
            ("model", status.model or "none is configured"),
            ("chunks", status.chunks),
            ("refined", status.refined_chunks),
            ("failed", status.failed_chunks),
            ("pending", status.pending_chunks),
            ("documents to graph again", status.unapplied_documents or None),
            ("calls", status.calls),
            ("tokens", str(spent) if status.max_tokens is None else f"{spent} of {status.max_tokens}"),
            ("last error", status.last_error),
            ("asks again at", status.retry_at),
        ]
    )


@app.command()
@connected()
async def on(
    client: AttractorClient,
    output: Output,
    max_tokens: Tokens = None,
    within_estimate: Annotated[
        bool,
        typer.Option("--within-estimate", help="Allow what was already spent plus the upper bound of the estimate."),
    ] = False,
    yes: Yes = False,
) -> None:
    """Turn refinement on in this workspace, within a budget; new documents are refined, too.

    \b
    Examples:
      attractor graph refinement on --within-estimate
      attractor graph refinement on --max-tokens 2000000
    """
    found = await client.refinement.estimate()
    output.note(f"{found.calls} calls, {found.input_tokens + found.output_tokens} to {found.most_tokens} tokens")
    confirm(f"Send {found.calls} chunks to {found.model}?", output, yes)
    values: dict[str, object] = {"enabled": True}
    if within_estimate:
        status = await client.refinement.status()
        values["max_tokens"] = max(1, status.input_tokens + status.output_tokens + found.most_tokens)
    if max_tokens is not None:
        values["max_tokens"] = max_tokens
    await _change(client, output, RefinementSettingsUpdate.model_validate(values))


@app.command()
@connected()
async def off(client: AttractorClient, output: Output) -> None:
    """Turn refinement off; what it found stays."""
    await _change(client, output, RefinementSettingsUpdate(enabled=False))


@app.command()
@connected()
async def remove(client: AttractorClient, output: Output, yes: Yes = False) -> None:
    """Delete everything that the model found from the graph, and turn refinement off."""
    confirm("Delete everything that the model found?", output, yes)
    deleted = await client.refinement.delete_results()
    output.result(deleted, f"{deleted.results} results deleted; {deleted.documents} documents are graphed again")


async def _change(client: AttractorClient, output: Output, change: RefinementSettingsUpdate) -> None:
    changed: RefinementSettings = await client.refinement.change(await client.refinement.settings(), change)
    if output.as_json:
        output.json(changed)
        return
    output.fields([("refinement", "on" if changed.enabled else "off"), ("tokens in total", changed.max_tokens)])


def _estimate(output: Output, found: RefinementEstimate) -> None:
    output.fields(
        [
            ("model", found.model or "none is configured"),
            ("documents", found.documents),
            ("chunks", found.chunks),
            ("refined already", found.refined_chunks),
            ("failed", found.failed_chunks),
            ("calls", found.calls),
            ("input tokens", found.input_tokens),
            ("output tokens", f"{found.output_tokens}, at most {found.most_output_tokens}"),
            ("documents not counted yet", found.unread_documents or None),
        ]
    )
