"""attractor world"""

from __future__ import annotations

import json
from typing import Annotated, Any
from uuid import UUID

import typer

from attractor_client.client import AttractorClient
from attractor_client.invocation import Limit, connected, show_list
from attractor_client.output import Output
from attractor_client.rendering import local_time
from contracts.world import World, WorldEvent, WorldOperation, WorldOperationKind

app = typer.Typer(
    no_args_is_help=True,
    help="Show and change the world state of a workspace or a session: its project, goals, decisions, rules, topics and"
    " open questions.",
)
Session = Annotated[
    UUID | None, typer.Option("--session", metavar="ID", help="This session's world, not the workspace's.")
]
IfVersion = Annotated[int | None, typer.Option("--if-version", min=1, help="Fail unless the world has this version.")]


@app.command()
@connected()
async def show(
    client: AttractorClient,
    output: Output,
    session: Session = None,
    version: Annotated[int | None, typer.Option(min=1, help="Show it as of this version.")] = None,
    after_run: Annotated[
        UUID | None, typer.Option("--after-run", metavar="ID", help="Wait until it has what this run changes.")
    ] = None,
) -> None:
    """Show the world state."""
    _show(output, await client.world.get(session_id=session, version=version, after_run=after_run))


@app.command()
@connected()
async def apply(
    client: AttractorClient,
    output: Output,
    operations: Annotated[
        list[str], typer.Argument(metavar="OPERATION...", help="set|add|remove|merge|test PATH [VALUE], in quotes.")
    ],
    session: Session = None,
    if_version: IfVersion = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the result without storing it.")] = False,
) -> None:
    """Apply operations in order, all or none. A value is read as JSON if possible, otherwise as text.

    Paths: /project/name, summary or status; /goals, /decisions, /rules, /topics and /open_questions, which are lists;
    /identity/user_name, assistant_name, language or location; /timezone; and /extra/NAME for anything else. `test`
    fails, and nothing is changed, unless the path has the value.

    \b
    Example:
      attractor world apply "set /project/name Apollo" "add /topics billing" "test /timezone UTC"
    """
    changes = [operation(text) for text in operations]
    _show(output, await client.world.apply(changes, session_id=session, expected_version=if_version, dry_run=dry_run))


@app.command()
@connected()
async def status(client: AttractorClient, output: Output) -> None:
    """Show the status of the project: what holds now, and what happened last."""
    found = await client.world.status()
    if output.as_json:
        output.json(found)
        return
    listed = (("goals", found.goals), ("decisions", found.decisions), ("open questions", found.open_questions))
    output.fields(
        [
            *((f"project {name}", value) for name, value in found.project),
            *((name, "\n".join(texts)) for name, texts in listed),
            ("documents", found.document_count),
            ("newest", "\n".join(one.name for one in found.documents)),
            ("activity", "\n".join(f"{local_time(one.at)}  {one.kind}: {one.text}" for one in found.activity)),
        ]
    )


@app.command()
@connected()
async def history(client: AttractorClient, output: Output, session: Session = None, limit: Limit = 50) -> None:
    """List who changed what, newest first."""
    await show_list(
        output,
        client.world.history(session_id=session),
        limit,
        ("version", "at", "what", "by"),
        lambda one: (one.version, local_time(one.created_at), what_happened(one), one.created_by or ""),
    )


@app.command()
@connected()
async def diff(
    client: AttractorClient,
    output: Output,
    since: Annotated[int, typer.Argument(metavar="FROM", min=1, help="The earlier version.")],
    until: Annotated[
        int | None, typer.Argument(metavar="TO", min=1, help="The later version; default: the current one.")
    ] = None,
    session: Session = None,
) -> None:
    """Show what changed between two versions.

    \b
    Example:
      attractor world diff 1
    """
    found = await client.world.diff(since, until, session_id=session)
    if output.as_json:
        output.json(found)
        return
    rows = [(one.path, _brief(one.before), _brief(one.after)) for one in found.changes]
    output.table(("path", "before", "after"), rows)


@app.command()
@connected()
async def revert(
    client: AttractorClient,
    output: Output,
    version: Annotated[int, typer.Argument(min=1, help="The version to restore.")],
    session: Session = None,
    if_version: IfVersion = None,
) -> None:
    """Make an earlier version the current one; the versions after it stay in the history."""
    _show(output, await client.world.revert(version, session_id=session, expected_version=if_version))


def operation(text: str) -> WorldOperation:
    """Parses an operation such as `add /topics billing`; a value that is not JSON is text."""
    kind, _, rest = text.strip().partition(" ")
    path, _, value = rest.strip().partition(" ")
    if kind not in set(WorldOperationKind) or not path:
        raise typer.BadParameter(f"{text!r} must have the form: set|add|remove|merge|test PATH [VALUE]")
    given = {"value": _value(value.strip())} if value.strip() else {}
    return WorldOperation.model_validate({"op": kind, "path": path, **given})


def what_happened(event: WorldEvent) -> str:
    """Formats an event as one line."""
    if event.op is None:
        return ": ".join([event.kind.value, ", ".join(event.repairs)]) if event.repairs else event.kind.value
    change = f"{event.op.value} {event.path} {_brief(event.value) if event.value is not None else ''}".strip()
    named = {"reverted": "revert", "reflected": "reflected"}.get(event.kind)
    return f"{named}: {change}" if named else change


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _brief(value: object) -> str:
    return "" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _show(output: Output, world: World) -> None:
    if output.as_json:
        output.json(world)
        return
    document = world.document
    output.fields(
        [
            ("version", world.version),
            ("session", world.session_id),
            *((f"project {name}", value) for name, value in document.project),
            *((name.replace("_", " "), value) for name, value in document.identity),
            ("time zone", document.timezone),
            *(
                (name.replace("_", " "), "\n".join(getattr(document, name)))
                for name in ("goals", "decisions", "rules", "topics", "open_questions")
            ),
            *((f"extra {name}", _brief(value)) for name, value in document.extra.items()),
        ]
    )
