"""attractor presets"""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

import typer

from attractor_client.client import AttractorClient
from attractor_client.commands.ask import AnswerModels, role_models
from attractor_client.commands.settings import Workspace, scope_of
from attractor_client.invocation import connected
from attractor_client.output import Output
from contracts.workspace_settings import Preset, PresetPut

app = typer.Typer(no_args_is_help=True, help="Settings for answers requested with the model attractor/NAME.")
Name = Annotated[str, typer.Argument(metavar="NAME", help="Lowercase letters, digits, - and _.")]


@app.command("list")
@connected()
async def list_presets(client: AttractorClient, output: Output) -> None:
    """List your presets and the workspace's."""
    found = await client.presets.all()
    if output.as_json:
        output.json(found)
        return
    output.table(
        ("preset", "of", "instructions"), [(one.name, one.scope.value, one.instructions) for one in found.items]
    )


@app.command()
@connected()
async def show(client: AttractorClient, output: Output, name: Name) -> None:
    """Show a preset: your own, or else the workspace's."""
    _show(output, await client.presets.get(name))


@app.command("set")
@connected()
async def put(
    client: AttractorClient,
    output: Output,
    name: Name,
    instructions: Annotated[str | None, typer.Option(help="Instructions for writing answers.")] = None,
    temperature: Annotated[float | None, typer.Option(min=0, max=2, help="The model's temperature.")] = None,
    answer_model: AnswerModels = None,
    document: Annotated[list[UUID] | None, typer.Option(help="Answer from this document; repeatable.")] = None,
    source: Annotated[list[UUID] | None, typer.Option(help="Answer from documents of this source.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="Answer from documents with this tag.")] = None,
    footnotes: Annotated[
        bool | None,
        typer.Option(
            "--footnotes/--no-footnotes",
            help="Whether chat completions end with the list of their sources; default: yes.",
        ),
    ] = None,
    workspace: Workspace = False,
) -> None:
    """Create or replace a preset.

    \b
    Example:
      attractor presets set terse --instructions "At most three sentences." --tag handbook
    """
    preset = PresetPut(
        instructions=instructions,
        temperature=temperature,
        roles={"answer": models} if (models := role_models(answer_model)) else {},
        document_ids=document or None,
        source_ids=source or None,
        tags=tag or None,
        footnotes=footnotes,
    )
    _show(output, await client.presets.put(name, preset, scope_of(workspace)))


@app.command()
@connected()
async def delete(client: AttractorClient, output: Output, name: Name, workspace: Workspace = False) -> None:
    """Delete a preset."""
    await client.presets.delete(name, scope_of(workspace))
    output.note(f"{name} is deleted")


def _show(output: Output, preset: Preset) -> None:
    if output.as_json:
        output.json(preset)
        return
    models = [f"{role}: {one.provider}:{one.model}" for role, chosen in preset.roles.items() for one in chosen]
    output.fields(
        [
            ("model", f"attractor/{preset.name}"),
            ("of", preset.scope.value),
            ("instructions", preset.instructions or ""),
            ("temperature", "" if preset.temperature is None else preset.temperature),
            ("models", ", ".join(models)),
            ("documents", ", ".join(map(str, preset.document_ids or ()))),
            ("sources", ", ".join(map(str, preset.source_ids or ()))),
            ("tags", ", ".join(preset.tags or ())),
            ("footnotes", {None: "", True: "yes", False: "no"}[preset.footnotes]),
        ]
    )
