"""attractor workspaces"""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

import typer

from attractor_client.client import AttractorClient
from attractor_client.commands.receipts import show_receipts
from attractor_client.errors import NotFound
from attractor_client.invocation import FAILED, Limit, Yes, at_most, confirm, connected
from attractor_client.output import Output
from attractor_client.rendering import local_time
from contracts.gateway import WorkspacePatch
from contracts.ingestion import QuotaChoice

app = typer.Typer(no_args_is_help=True, help="List, create, limit and delete workspaces.")


@app.command("list")
@connected()
async def list_workspaces(client: AttractorClient, output: Output, limit: Limit = 50) -> None:
    """List the workspaces you can see; * marks your key's."""
    found = await at_most(limit, client.accounts.workspaces())
    if output.as_json:
        output.json(found)
        return
    own = (await client.accounts.me()).workspace.id
    rows = [("*" if one.id == own else "", one.id, one.name, local_time(one.created_at)) for one in found]
    output.table(("", "id", "name", "created"), rows)


@app.command()
@connected()
async def create(
    client: AttractorClient, output: Output, name: Annotated[str, typer.Argument(help="The workspace's name.")]
) -> None:
    """Create a workspace. Requires an administrator's key.

    \b
    Example:
      attractor workspaces create Research
      attractor keys create laptop --role owner --workspace ID
    """
    workspace = await client.accounts.create_workspace(name)
    output.result(workspace, f"{workspace.id} {workspace.name}")


@app.command()
@connected()
async def delete(
    client: AttractorClient,
    output: Output,
    workspace_id: Annotated[UUID, typer.Argument(metavar="ID", help="The workspace's id.")],
    timeout: Annotated[float, typer.Option(min=0, max=300, help="Seconds to wait for the services to confirm.")] = 60,
    yes: Yes = False,
) -> None:
    """Delete a workspace with everything in it, and show what each service removed.

    Documents, graph, memories, conversations and keys are gone for good. Exit code 1 if a service still holds any data
    of it.
    """
    found = [one async for one in client.accounts.workspaces() if one.id == workspace_id]
    if not found:
        raise NotFound("No such workspace is visible to this key")
    confirm(f"Delete the workspace {found[0].name!r} with everything in it?", output, yes)
    receipt = await client.accounts.delete_workspace(found[0], timeout)
    if output.as_json:
        output.json(receipt)
    else:
        output.text(f"{found[0].name} {'deleted' if receipt.completed_at else 'is being deleted'}", "bold")
        show_receipts(output, receipt.services, receipt.pending)
    if any(any(one.remaining.values()) for one in receipt.services):
        raise typer.Exit(FAILED)


@app.command()
@connected()
async def sharing(
    client: AttractorClient,
    output: Output,
    links: Annotated[
        bool | None, typer.Option("--links/--no-links", help="Allow links, or end all of them; requires an owner.")
    ] = None,
) -> None:
    """Show or set whether members may share sessions by link.

    \b
    Example:
      attractor workspaces sharing --links
    """
    settings = await (client.shares.settings() if links is None else client.shares.allow_links(links))
    allowed = "members may share sessions by link" if settings.links else "no session is shared by link"
    output.result(settings, allowed)


@app.command()
@connected()
async def limits(
    client: AttractorClient,
    output: Output,
    documents: Annotated[int | None, typer.Option(min=0, help="Most documents; 0: no limit.")] = None,
    size: Annotated[int | None, typer.Option("--bytes", min=0, help="Most bytes of originals; 0: no limit.")] = None,
    sources: Annotated[int | None, typer.Option(min=0, help="Most sources; 0: no limit.")] = None,
    requests: Annotated[
        int | None, typer.Option(min=0, help="Most requests of each API key per minute, from 60; 0: no limit.")
    ] = None,
) -> None:
    """Show what your key's workspace may store and its keys may send, or limit it. Changes require an owner.

    The operator's limits stay in force where they are lower. For limits of model tokens, see `settings`: `budgets`.

    \b
    Examples:
      attractor workspaces limits --documents 5000
      attractor workspaces limits --requests 0
    """
    given = {"documents": documents, "bytes": size, "sources": sources}
    choice = QuotaChoice.model_validate({name: most or None for name, most in given.items() if most is not None})
    own = (await client.accounts.me()).workspace.id
    rate = WorkspacePatch.model_validate({} if requests is None else {"key_requests_per_minute": requests or None})
    accounts = client.accounts
    workspace = await (accounts.change_workspace(own, rate) if rate.model_fields_set else accounts.workspace(own))
    quota = await (client.accounts.change_quota(choice) if choice.model_fields_set else client.accounts.quota())
    if output.as_json:
        names = ("key_requests_per_minute", "most_key_requests_per_minute")
        output.json({"quota": quota, **{name: getattr(workspace, name) for name in names}})
        return
    rows = [(name, f"{state.used:,}", *_limit(state.most, state.chosen)) for name, state in quota]
    in_force = _limit(workspace.most_key_requests_per_minute, workspace.key_requests_per_minute)
    rows.append(("requests of a key per minute", "", *in_force))
    output.table(("", "used", "limit", "set by"), rows)


def _limit(most: int | None, chosen: int | None) -> tuple[str, str]:
    """Returns the limit in force, and who has set it."""
    if most is None:
        return "none", ""
    return f"{most:,}", "an owner" if most == chosen else "the operator"
