"""attractor settings"""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from attractor_client.client import AttractorClient
from attractor_client.invocation import connected
from attractor_client.output import Output
from contracts.workspace_settings import SettingScope, SettingState

app = typer.Typer(no_args_is_help=True, help="Your settings and the workspace's.")
Key = Annotated[str, typer.Argument(metavar="KEY")]
Workspace = Annotated[
    bool,
    typer.Option(
        "--workspace", help="Act on the workspace's, which applies to all its users; only owners can change it."
    ),
]


def scope_of(workspace: bool) -> SettingScope:
    return SettingScope.workspace if workspace else SettingScope.user


@app.command("list")
@connected()
async def list_settings(
    client: AttractorClient,
    output: Output,
    workspace: Workspace = False,
    category: Annotated[str | None, typer.Option(help="answers, roles or providers.")] = None,
) -> None:
    """Show the settings in effect for you, or with --workspace for the workspace. Secrets are not shown."""
    found = await client.settings.all(scope_of(workspace), category)
    if output.as_json:
        output.json(found)
        return
    output.table(("setting", "value", "set by"), [(one.key, _shown(one), one.source.value) for one in found.items])


@app.command()
@connected()
async def schema(client: AttractorClient, output: Output) -> None:
    """List the available settings."""
    found = await client.settings.schema()
    if output.as_json:
        output.json(found)
        return
    rows = [(one.key, ", ".join(scope.value for scope in one.scopes), one.description) for one in found.items]
    output.table(("setting", "of", "meaning"), rows)


@app.command("set")
@connected()
async def change(
    client: AttractorClient,
    output: Output,
    key: Key,
    value: Annotated[
        str | None,
        typer.Argument(metavar="VALUE", help="Text or JSON; if omitted, prompted for or read from stdin."),
    ] = None,
    workspace: Workspace = False,
) -> None:
    """Set a setting. For a secret, omit the value: you are prompted for it without echo.

    \b
    Examples:
      attractor settings set answers.temperature 0.4
      attractor settings set budgets.user 500000 --workspace
      attractor settings set providers.mine.base_url https://api.example.org/v1 --workspace
      attractor settings set providers.mine.api_key --workspace
      attractor settings set roles.answer '[{"provider": "mine", "model": "large"}]' --workspace
    """
    if value is None:
        stdin = typer.get_text_stream("stdin")
        value = typer.prompt("Value", hide_input=True, err=True) if stdin.isatty() else stdin.readline().strip()
    state = await client.settings.put(key, _parsed(key, value), scope_of(workspace))
    output.json(state) if output.as_json else output.note(f"{key} is set")


@app.command()
@connected()
async def reset(client: AttractorClient, output: Output, key: Key, workspace: Workspace = False) -> None:
    """Reset a setting to its default, or delete a secret."""
    await client.settings.delete(key, scope_of(workspace))
    output.note(f"{key} is not set any more")


def _parsed(key: str, value: str) -> Any:
    """Parses numbers and lists. Instructions, addresses and keys are always text, whatever they look like."""
    if not key.startswith(("roles.", "budgets.")) and key not in ("answers.temperature", "answers.passages"):
        return value
    try:
        return json.loads(value)
    except ValueError:
        raise typer.BadParameter(f"{value!r} is not JSON") from None


def _shown(state: SettingState) -> str:
    if state.is_secret:
        return "(secret)"
    if not state.is_set:
        return ""
    return state.value if isinstance(state.value, str) else json.dumps(state.value)
