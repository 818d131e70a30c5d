"""attractor artifact"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer

from attractor_client.client import AttractorClient
from attractor_client.commands.receipts import counts
from attractor_client.commands.text_editor import EditedFile, changed_span
from attractor_client.commands.written_files import OutputFile, format_of, write_parts
from attractor_client.errors import AttractorError
from attractor_client.invocation import Limit, Yes, confirm, connected, show_list
from attractor_client.output import Output
from attractor_client.rendering import citation_line, local_time
from contracts.artifacts import (
    ArtifactEdit,
    ArtifactFormat,
    ArtifactKind,
    ArtifactPatch,
    ArtifactPut,
    ArtifactSpan,
    ArtifactVersion,
    ArtifactView,
)

app = typer.Typer(no_args_is_help=True, help="Read, edit, compare and index the artifact of a session.")
SessionId = Annotated[UUID, typer.Argument(metavar="SESSION", help="The session's id.")]
VersionOption = Annotated[int | None, typer.Option("--version", min=1, help="A version other than the current one.")]
IfVersion = Annotated[
    int | None, typer.Option("--if-version", min=1, help="Only if this version is still the current one.")
]
EXPORTS = {
    ".md": ArtifactFormat.markdown,
    ".html": ArtifactFormat.html,
    ".docx": ArtifactFormat.docx,
    ".pdf": ArtifactFormat.pdf,
}
SUFFIXES = {"python": ".py", "javascript": ".js", "typescript": ".ts", "java": ".java", "rust": ".rs", "sql": ".sql"}


@app.command()
@connected()
async def show(client: AttractorClient, output: Output, session_id: SessionId, version: VersionOption = None) -> None:
    """Print the artifact's text; its details go to stderr.

    \b
    Examples:
      attractor artifact show 2f0c...
      attractor artifact show 2f0c... --version 3 > third.md
    """
    view = await client.artifacts.get(session_id, version)
    if output.as_json:
        output.json(view)
        return
    output.note(_heading(view))
    if output.screen:
        output.text(view.text)
    else:
        sys.stdout.buffer.write(view.text.encode())
        sys.stdout.buffer.flush()
    for citation in view.citations:
        output.note(citation_line(citation))


@app.command()
@connected()
async def write(
    client: AttractorClient,
    output: Output,
    session_id: SessionId,
    file: Annotated[Path, typer.Argument(help="The text; - for stdin.", exists=True, dir_okay=False, allow_dash=True)],
    title: Annotated[str | None, typer.Option(help="Its title; default: the file's name.")] = None,
    language: Annotated[str | None, typer.Option("--code", help="Store it as code in this language.")] = None,
    if_version: IfVersion = None,
) -> None:
    """Create the artifact from a file, or add a version with the file's text.

    \b
    Examples:
      attractor artifact write 2f0c... report.md --title "Outage of UserDB"
      attractor artifact write 2f0c... billing.py --code python
    """
    content = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    kind = ArtifactKind.code if language else ArtifactKind.markdown
    named = title or (None if str(file) == "-" else file.name)
    body = ArtifactPut(kind=kind, language=language, title=named, text=_decoded(content))
    expected = await _expected(client, session_id, if_version)
    _show_change(output, await client.artifacts.put(session_id, body, version=expected))


@app.command()
@connected()
async def edit(
    client: AttractorClient,
    output: Output,
    session_id: SessionId,
    find: Annotated[str | None, typer.Option(help="A text that occurs exactly once.")] = None,
    replace: Annotated[str | None, typer.Option(help="The text that replaces --find.")] = None,
    title: Annotated[str | None, typer.Option(help="A new title.")] = None,
    if_version: IfVersion = None,
) -> None:
    """Change a part of the artifact: in your editor, or with --find and --replace.

    Changes that others made elsewhere while your editor was open are kept. If they changed the same place, nothing is
    overwritten: your text is kept in a file that the message names.

    \b
    Examples:
      attractor artifact edit 2f0c...
      attractor artifact edit 2f0c... --find "in June" --replace "in July"
    """
    if (find is None) != (replace is None):
        raise typer.BadParameter("--find and --replace come together")
    if find is not None and replace is not None:
        body = ArtifactPatch(edits=[ArtifactEdit(find=find, replace=replace)], title=title)
    elif title is not None:
        body = ArtifactPatch(title=title)
    else:
        await _edit_in_editor(client, output, session_id, if_version)
        return
    expected = await _expected(client, session_id, if_version)
    _show_change(output, await client.artifacts.patch(session_id, body, version=expected))


@app.command()
@connected()
async def versions(client: AttractorClient, output: Output, session_id: SessionId, limit: Limit = 50) -> None:
    """List the versions, newest first; the current one, and any that a run set aside, are marked."""
    current = (await client.artifacts.get(session_id)).current_index
    await show_list(
        output,
        client.artifacts.versions(session_id),
        limit,
        ("version", "from", "event", "by", "written", "characters", ""),
        lambda one: _version_row(one, current),
    )


@app.command()
@connected()
async def diff(
    client: AttractorClient,
    output: Output,
    session_id: SessionId,
    from_index: Annotated[int | None, typer.Argument(metavar="[FROM]", min=1, help="A version.")] = None,
    to_index: Annotated[int | None, typer.Argument(metavar="[TO]", min=1, help="Another version.")] = None,
) -> None:
    """Compare two versions; default: the current one with the version it was made from.

    \b
    Examples:
      attractor artifact diff 2f0c...
      attractor artifact diff 2f0c... 1 4
    """
    found = await client.artifacts.diff(session_id, from_index, to_index)
    if output.as_json:
        output.json(found)
        return
    output.note(
        f"version {found.from_index} to {found.to_index}: {_lines(found.added_lines)} added, "
        f"{found.removed_lines} removed"
    )
    for line in found.unified.split("\n")[:-1]:
        output.text(line, {"+": "green", "-": "red", "@": "cyan"}.get(line[:1], ""))


@app.command()
@connected()
async def undo(client: AttractorClient, output: Output, session_id: SessionId, if_version: IfVersion = None) -> None:
    """Go back to the version the current one was made from; no version is lost."""
    expected = await _expected(client, session_id, if_version)
    _show_change(output, await client.artifacts.undo(session_id, version=expected))


@app.command()
@connected()
async def redo(client: AttractorClient, output: Output, session_id: SessionId, if_version: IfVersion = None) -> None:
    """Go forward to the newest version made from the current one."""
    expected = await _expected(client, session_id, if_version)
    _show_change(output, await client.artifacts.redo(session_id, version=expected))


@app.command()
@connected()
async def restore(
    client: AttractorClient,
    output: Output,
    session_id: SessionId,
    index: Annotated[int, typer.Argument(metavar="VERSION", min=1, help="The version to restore.")],
    if_version: IfVersion = None,
) -> None:
    """Add a version with the text of an earlier one, or of one that was set aside."""
    expected = await _expected(client, session_id, if_version)
    _show_change(output, await client.artifacts.restore(session_id, index, version=expected))


@app.command()
@connected()
async def index(client: AttractorClient, output: Output, session_id: SessionId, version: VersionOption = None) -> None:
    """Turn a version into a document that all members of the workspace can search.

    Requires the role editor. The next indexed version replaces it; it is deleted with the artifact.

    \b
    Example:
      attractor artifact index 2f0c...
    """
    indexed = await client.artifacts.index(session_id, version)
    output.result(
        indexed, f"version {indexed.index} is document {indexed.document_id}; it is searched once it is indexed"
    )


@app.command()
@connected()
async def export(
    client: AttractorClient,
    output: Output,
    session_id: SessionId,
    file: OutputFile,
    format: Annotated[ArtifactFormat | None, typer.Option(help="Default: from the file's extension.")] = None,
    version: VersionOption = None,
) -> None:
    """Write the artifact to a file: Markdown, HTML, DOCX or PDF with its citations as footnotes, or its source.

    `source` is the text as it is, or for a PDF the uploaded file.

    \b
    Examples:
      attractor artifact export 2f0c... report.docx
      attractor artifact export 2f0c... --version 3 third.pdf
      attractor artifact export 2f0c... --format html - | less
    """
    kind = format_of(file, format, EXPORTS)
    async with client.artifacts.export(session_id, kind, version) as parts:
        await write_parts(output, file, parts, format=kind)


@app.command()
@connected()
async def delete(client: AttractorClient, output: Output, session_id: SessionId, yes: Yes = False) -> None:
    """Delete the artifact with all its versions and the document made from it; the session stays."""
    confirm("Delete this artifact with all its versions?", output, yes)
    receipt = await client.artifacts.delete(session_id)
    if output.as_json:
        output.json(receipt)
        return
    output.text(f"{receipt.artifact_id} deleted", "bold")
    output.table(("removed", "left"), [(counts(receipt.removed), counts(receipt.remaining))])


async def _edit_in_editor(client: AttractorClient, output: Output, session_id: UUID, if_version: int | None) -> None:
    expected = await _expected(client, session_id, if_version)
    seen = await client.artifacts.get(session_id)
    file = EditedFile(seen.text, _suffix(seen))
    text = file.edit()
    if text == seen.text:
        file.remove()
        output.note("nothing changed")
        return
    try:
        start, end, replacement = changed_span(seen.text, text)
        span = ArtifactSpan(index=seen.index, start=start, end=end, seen=seen.text[start:end])
        body = ArtifactPatch(span=span, replacement=replacement)
        changed = await client.artifacts.patch(session_id, body, version=expected)
    except (AttractorError, ValueError):
        output.note(f"Your text is in {file.path}", "yellow")
        raise
    file.remove()
    _show_change(output, changed)


async def _expected(client: AttractorClient, session_id: UUID, index: int | None) -> int | None:
    """Returns the state to expect for a change. Raises AttractorError if version `index` is not the current one."""
    if index is None:
        return None
    view = await client.artifacts.get(session_id)
    if view.current_index != index:
        raise AttractorError(f"The current version is {view.current_index}, not {index}; nothing was changed")
    return view.version


def _show_change(output: Output, view: ArtifactView) -> None:
    output.result(view, _heading(view))


def _heading(view: ArtifactView) -> str:
    kind = view.language or view.kind.value
    place = f"version {view.index} of {view.last_index}"
    now = "" if view.index == view.current_index else f", current is {view.current_index}"
    return f"{view.title or '(no title)'} · {kind} · {place} ({view.event.value}){now} · {len(view.text):,} characters"


def _version_row(version: ArtifactVersion, current: int) -> tuple[object, ...]:
    return (
        version.index,
        version.parent_index or "-",
        version.event.value,
        "a run" if version.run_id else "you",
        local_time(version.created_at),
        f"{version.characters:,}",
        "current" if version.index == current else "kept aside" if version.kept_aside else "",
    )


def _suffix(view: ArtifactView) -> str:
    return SUFFIXES.get((view.language or "").lower(), ".txt") if view.kind is ArtifactKind.code else ".md"


def _lines(count: int) -> str:
    return "1 line" if count == 1 else f"{count} lines"


def _decoded(content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise typer.BadParameter("the file is not UTF-8 text") from error
