"""attractor quick-actions"""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

import typer

from attractor_client.client import AttractorClient
from attractor_client.invocation import Limit, connected, show_list
from attractor_client.output import Output
from attractor_client.rendering import one_line
from contracts.quick_actions import QuickAction, QuickActionTarget, QuickActionUpdate

app = typer.Typer(no_args_is_help=True, help="Named prompts for the artifact or for answers.")
Action = Annotated[UUID, typer.Argument(metavar="ID", help="The quick action's id.")]


@app.command("list")
@connected()
async def list_quick_actions(client: AttractorClient, output: Output, limit: Limit = 50) -> None:
    """List your quick actions and the workspace's."""
    await show_list(
        output,
        client.quick_actions.all(),
        limit,
        ("id", "name", "of", "target", "prompt"),
        lambda one: (
            one.id,
            one.name,
            "workspace" if one.shared else "you",
            one.target.value,
            one_line(one.prompt, 60),
        ),
    )


@app.command()
@connected()
async def create(
    client: AttractorClient,
    output: Output,
    name: Annotated[str, typer.Argument(help="The name that /do takes in a chat.")],
    prompt: Annotated[str, typer.Argument(help="What the model should do.")],
    target: Annotated[
        QuickActionTarget, typer.Option(help="What it does: rewrite the artifact, or answer the message.")
    ] = QuickActionTarget.artifact,
    history: Annotated[bool, typer.Option("--history", help="Let the model also read the conversation.")] = False,
    preferences: Annotated[
        bool,
        typer.Option("--preferences/--no-preferences", help="Let the model also read what memory knows about you."),
    ] = True,
    shared: Annotated[bool, typer.Option("--shared", help="Share it with all members of the workspace.")] = False,
) -> None:
    """Save a prompt under a name.

    \b
    Examples:
      attractor quick-actions create tldr "Put a summary of three sentences in front."
      attractor quick-actions create brief "Answer in one sentence." --target message
    """
    made = await client.quick_actions.create(
        name, prompt, target=target, use_history=history, use_preferences=preferences, shared=shared
    )
    _show(output, made)


@app.command()
@connected()
async def show(client: AttractorClient, output: Output, action_id: Action) -> None:
    """Show a quick action with its full prompt."""
    found = await client.quick_actions.get(action_id)
    _show(output, found)
    if not output.as_json:
        output.text(found.prompt)


@app.command()
@connected()
async def edit(
    client: AttractorClient,
    output: Output,
    action_id: Action,
    name: Annotated[str | None, typer.Option(help="Another name.")] = None,
    prompt: Annotated[str | None, typer.Option(help="Another prompt.")] = None,
    history: Annotated[
        bool | None, typer.Option("--history/--no-history", help="Whether the model also reads the conversation.")
    ] = None,
    preferences: Annotated[
        bool | None, typer.Option("--preferences/--no-preferences", help="Whether the model also reads your style.")
    ] = None,
) -> None:
    """Change a quick action: its name, its prompt, or what else the model reads."""
    change = QuickActionUpdate(name=name, prompt=prompt, use_history=history, use_preferences=preferences)
    _show(output, await client.quick_actions.change(action_id, change))


@app.command()
@connected()
async def delete(client: AttractorClient, output: Output, action_id: Action) -> None:
    """Delete a quick action; texts written with it stay."""
    await client.quick_actions.delete(action_id)
    output.result({"deleted": action_id}, "deleted")


def _show(output: Output, action: QuickAction) -> None:
    if output.as_json:
        output.json(action)
    else:
        whose = "the workspace's" if action.shared else "yours"
        output.text(f"{action.name} · {action.target.value} · {whose} · {action.id}", "bold")
        used = {"history": action.use_history, "preferences": action.use_preferences}
        output.text(f"reads {' and '.join(what for what in used if used[what]) or 'neither history nor preferences'}")
