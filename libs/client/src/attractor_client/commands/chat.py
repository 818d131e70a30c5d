"""attractor chat"""

from __future__ import annotations

import asyncio
import mimetypes
import sys
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

import typer

from attractor_client.client import AttractorClient
from attractor_client.commands.artifact_lines import action_of, numbered, selected
from attractor_client.commands.ask import (
    AnswerModels,
    NoDocuments,
    Scope,
    Temporary,
    answered,
    check_beginning,
    conclude,
    role_models,
)
from attractor_client.errors import AttractorError
from attractor_client.invocation import DENIED, run
from attractor_client.local_zone import local_zone
from attractor_client.output import Output
from contracts.artifact_actions import ArtifactAction, ArtifactTheme, MarkedSpan
from contracts.orchestrator import Message, MessageCreate, MessageRole, MessageStatus, Run
from contracts.retrieval import SearchScope
from contracts.run_events import RunCompleted
from contracts.workspace_settings import RoleModel

HELP = """\
  /edit TEXT        rewords the last question, on a branch of its own
  /again            answers it again
  /branch           lists the versions of questions and answers; /branch 2 switches to the second
  /artifact         shows the session's document with line numbers
  /select 3-5 TEXT  changes these lines as TEXT says, and nothing else
  /do ACTION        applies a quick action or a theme to it; /do alone lists them
  /image FILE       attaches an image to the next message
  Ctrl-C stops an answer, Ctrl-D leaves"""
UNDER_WAY = (MessageStatus.pending, MessageStatus.running)
SHOWN_CHARACTERS = 60


class Chat:
    """A session at the prompt, created with the first question. `images` are attached to the next message."""

    def __init__(
        self,
        session_id: UUID | None,
        temporary: bool = False,
        scope: SearchScope | None = None,
        no_documents: bool = False,
        images: Sequence[Path] = (),
        models: Sequence[RoleModel] | None = None,
    ) -> None:
        self.session_id, self.temporary = session_id, temporary
        self.scope, self.no_documents = scope, no_documents
        self.images, self.models = list(images), models

    async def take(self, line: str, client: AttractorClient, output: Output) -> None:
        """Handles one line: a command, or a message."""
        command, _, text = line.partition(" ")
        match command:
            case "/edit":
                await self._edit(client, output, text.strip())
            case "/again":
                question = await self._question(client)
                await self._answer(client, output, client.sessions.regenerate(question.id, models=self.models))
            case "/branch":
                await self._branch(client, output, text.strip())
            case "/artifact":
                await self._show_artifact(client, output)
            case "/select":
                lines, _, wish = text.strip().partition(" ")
                view = await client.artifacts.get(self._session())
                highlight = selected(view, lines)
                await self._say(client, output, wish, asking=highlight)
            case "/do":
                name, _, words = text.strip().partition(" ")
                action = action_of(name, [one async for one in client.quick_actions.all()])
                await self._say(client, output, words or name, asking=action)
            case "/image":
                self._show_next(output, text.strip())
            case _ if command.startswith("/"):
                if command != "/help":
                    output.note(f"There is no command {command}; these are there:")
                output.note(HELP)
            case _:
                await self._say(client, output, line)

    async def resume(self, client: AttractorClient, output: Output) -> None:
        """Shows the state of the session, and continues an answer that is still being written."""
        if self.session_id is None:
            self.session_id = await anext((run.session_id async for run in client.runs.all()), None)
        if self.session_id is None:
            raise AttractorError("There is no session to continue")
        session = await client.sessions.get(self.session_id)
        output.note(f"{session.title or 'session'} ({session.id})")
        await self._show_end(client, output)

    async def _say(
        self,
        client: AttractorClient,
        output: Output,
        text: str,
        asking: ArtifactAction | ArtifactTheme | MarkedSpan | UUID | None = None,
    ) -> None:
        MessageCreate(content=text)  # rejects an invalid message before a session is created for it
        self.session_id = self.session_id or (await client.sessions.create(temporary=self.temporary)).id
        attached = [await attached_image(client, self.session_id, one) for one in self.images]
        self.images.clear()
        sending = client.sessions.send(
            self.session_id,
            text,
            attachment_ids=attached,
            timezone=local_zone(),
            asking=asking,
            scope=self.scope,
            rag_enabled=not self.no_documents,
            models=self.models,
        )
        await self._answer(client, output, sending)

    async def _edit(self, client: AttractorClient, output: Output, text: str) -> None:
        """Rewords the last question, with the options of this conversation. Raises AttractorError."""
        if not text:
            raise AttractorError("/edit takes the question's new words")
        question = await self._question(client)
        sending = client.sessions.edit(
            question,
            text,
            timezone=local_zone(),
            scope=self.scope,
            rag_enabled=not self.no_documents,
            models=self.models,
        )
        await self._answer(client, output, sending)

    def _show_next(self, output: Output, name: str) -> None:
        """Raises AttractorError."""
        file = Path(name).expanduser()
        if not file.is_file():
            raise AttractorError(f"There is no file {file}")
        self.images.append(file)
        output.note(f"{file.name} is shown with the next message")

    async def _answer(self, client: AttractorClient, output: Output, sending: Coroutine[Any, Any, Run]) -> None:
        end = await answered(client, output, sending)
        conclude(output, end)
        if isinstance(end.data, RunCompleted) and end.data.artifact_index is not None and not output.as_json:
            output.text(
                f"version {end.data.artifact_index} of the artifact: /artifact shows it, and "
                f"`attractor artifact export {self.session_id} report.docx` writes it to a file",
                "dim",
            )

    async def _show_artifact(self, client: AttractorClient, output: Output) -> None:
        view = await client.artifacts.get(self._session())
        if output.as_json:
            output.json(view)
            return
        output.text(f"{view.title or '(no title)'} · version {view.index} of {view.last_index}", "bold")
        output.text(numbered(view.text))

    def _session(self) -> UUID:
        """Raises AttractorError before the first message."""
        if self.session_id is None:
            raise AttractorError("There is no session yet: send a message first")
        return self.session_id

    async def _branch(self, client: AttractorClient, output: Output, chosen: str) -> None:
        forks = [one for one in await self._path(client) if one.siblings and one.siblings.count > 1]
        choices = [version for fork in forks if fork.siblings for version in fork.siblings.ids]
        if not choices:
            raise AttractorError("There are no other versions here")
        session_id = forks[0].session_id
        if not chosen:
            whole = {one.id: one async for one in client.sessions.messages(session_id, tree=True)}
            shown = {fork.id for fork in forks}
            for number, choice in enumerate(choices, 1):
                mark = "> " if whole[choice].role is MessageRole.user else ""
                written = whole[choice].content or f"({whole[choice].status.value})"
                text = " ".join(written.split())[:SHOWN_CHARACTERS]
                output.text(f"{'*' if choice in shown else ' '}{number:3}  {mark}{text}")
            return
        if not chosen.isascii() or not chosen.isdigit() or not 1 <= int(chosen) <= len(choices):
            raise AttractorError(f"/branch takes a number from 1 to {len(choices)}")
        await client.sessions.move_head(session_id, choices[int(chosen) - 1], newest=True)
        await self._show_end(client, output)

    async def _show_end(self, client: AttractorClient, output: Output) -> None:
        """Shows the last question and its answer, waiting for it if necessary."""
        for message in (await self._path(client))[-2:]:
            if message.status in UNDER_WAY and message.run_id is not None:
                await self._answer(client, output, client.runs.get(message.run_id))
            elif message.role is MessageRole.user:
                output.text(f"> {message.content}", "cyan")
            else:
                output.text(message.content or f"({message.status.value})")

    async def _path(self, client: AttractorClient) -> list[Message]:
        if self.session_id is None:
            return []
        return [message async for message in client.sessions.messages(self.session_id)]

    async def _question(self, client: AttractorClient) -> Message:
        """Returns the last question. Raises AttractorError if there is none."""
        path = await self._path(client)
        found = next((one for one in reversed(path) if one.role is MessageRole.user), None)
        if found is None:
            raise AttractorError("There is no question yet")
        return found


async def attached_image(client: AttractorClient, session_id: UUID, file: Path) -> UUID:
    """Attaches a file to the session as an image; returns its id. Raises AttractorError."""
    try:
        data = await asyncio.to_thread(file.read_bytes)
    except OSError as error:
        raise AttractorError(f"{file} cannot be read: {error.strerror}") from error
    media_type = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
    return (await client.sessions.attach_image(session_id, file.name, data, media_type)).id


def chat(
    ctx: typer.Context,
    session: Annotated[UUID | None, typer.Option("--session", "-s", help="Continue this session.")] = None,
    newest: Annotated[bool, typer.Option("--continue", "-c", help="Continue the most recently used session.")] = False,
    scope: Scope = None,
    no_documents: NoDocuments = False,
    temporary: Temporary = False,
    answer_model: AnswerModels = None,
    image: Annotated[
        list[Path] | None,
        typer.Option("--image", exists=True, dir_okay=False, help="Attach an image to the first message; repeatable."),
    ] = None,
) -> None:
    """Start a conversation: each line is a message, until Ctrl-D. Ctrl-C stops an answer. With --continue, an answer
    that is still being written is shown from its beginning. Temporary sessions are not continued this way: name them
    with --session.

    \b
    Lines that begin with a slash:
      /edit TEXT   reword the last question, on a branch of its own
      /again       answer it again
      /branch      list the versions of questions and answers; /branch 2 switches to
                   the second

    \b
    A message such as "write a one-page summary of ..." writes a document:
      /artifact             show it with line numbers
      /select 3-5 shorten   change these lines and nothing else
      /do ACTION            run a quick action by name, rewrite_artifact, or a
                            theme: language=german, artifact_length=short;
                            /do alone lists all of them

    \b
    A vision model can answer from images (png, jpeg, webp, gif):
      /image FILE           attach it to the next message

    \b
    Examples:
      attractor chat
      attractor chat --continue
      attractor chat --image diagram.png
    """
    if newest and temporary:
        raise typer.BadParameter("--continue is for a session that is there already, --temporary for a new one")
    check_beginning(session, temporary)
    talk = Chat(session, temporary, scope, no_documents, image or (), role_models(answer_model))
    someone = sys.stdin.isatty()
    if session or newest:
        _attempt(ctx, talk.resume, someone)
    while (line := _read("> " if someone else "")) is not None:
        if line.strip():
            _attempt(ctx, partial(talk.take, line.strip()), someone)


def _attempt(ctx: typer.Context, work: Callable[[AttractorClient, Output], Awaitable[None]], someone: bool) -> None:
    """Runs `work`; at a terminal, a failure does not end the conversation."""
    try:
        run(ctx, False, work)
    except typer.Exit as failed:
        if not someone or failed.exit_code == DENIED:
            raise


def _read(prompt: str) -> str | None:
    """Returns the next line; None at the end, or when Ctrl-C is pressed at the prompt."""
    try:
        return input(prompt)
    except (EOFError, KeyboardInterrupt):
        return None
