"""attractor ask"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import nullcontext
from typing import Annotated, Any
from uuid import UUID

import typer
from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.markdown import Markdown
from rich.spinner import Spinner
from rich.text import Text

from attractor_client.client import AttractorClient
from attractor_client.errors import AttractorError
from attractor_client.invocation import FAILED, connected
from attractor_client.local_zone import local_zone
from attractor_client.output import Output, plain
from attractor_client.rendering import citation_line, marked, noted, reason_line
from attractor_client.resources.runs import RunEvent
from contracts.orchestrator import AnswerMode, MessageCreate, Run
from contracts.retrieval import SearchScope
from contracts.run_events import (
    ArtifactDelta,
    ArtifactStarted,
    MessageDelta,
    MessageRestarted,
    ProviderIssue,
    RunCancelled,
    RunCompleted,
    RunFailed,
    RunPhase,
    SentenceChecked,
    StageStarted,
)
from contracts.workspace_settings import RoleModel

MODES = {AnswerMode.extractive: "extractive: no chat model was used", AnswerMode.model: "written by the chat model"}
CANCEL_SECONDS = 5.0
Temporary = Annotated[
    bool,
    typer.Option(
        "--temporary",
        help="Use a session that is neither listed nor remembered, and is erased a day after its last use.",
    ),
]
Scope = Annotated[
    SearchScope | None,
    typer.Option(help="Where to search; default: the session's documents, or the workspace if it has none."),
]
AnswerModels = Annotated[
    list[str] | None,
    typer.Option(
        "--answer-model",
        metavar="PROVIDER:MODEL",
        help="Model that writes answers, in order of preference; repeatable.",
    ),
]
NoDocuments = Annotated[bool, typer.Option("--no-documents", help="Let the chat model answer without searching.")]


class Draft:
    """The live display of an answer in progress: its last lines, and the stage. It disappears at the end.

    Finished sentences are shown with their markers and status. Before the answer begins, the text of an artifact in
    progress is shown.
    """

    def __init__(self) -> None:
        self.text, self.done, self.artifact = "", 0, ""
        self.sentences: list[str] = []
        self.spinner = Spinner("dots", Text("Starting", style="dim"))

    def take(self, event: RunEvent) -> None:
        match event.data:
            case MessageDelta(text=text):
                self.text += text
            case SentenceChecked() as sentence:
                self.sentences += [self.text[self.done : sentence.start], noted(sentence.content, sentence.status)]
                self.done = sentence.end
            case MessageRestarted():
                self.text, self.done, self.sentences = "", 0, []
            case ArtifactStarted():
                self.artifact = ""
            case ArtifactDelta(text=text):
                self.artifact += text
            case StageStarted(label=label, phase=phase):
                self.spinner.update(text=Text(plain(stage_line(label, phase)), style="dim"))

    @property
    def shown(self) -> str:
        """Returns the text, with the status of the sentences checked so far."""
        return "".join([*self.sentences, self.text[self.done :]])

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if text := self.shown or self.artifact:
            lines = Text(plain(text)).wrap(console, options.max_width)
            yield Text("\n").join(lines[-max(console.height - 4, 1) :])
        yield self.spinner


def stage_line(label: str, phase: RunPhase | None) -> str:
    """Returns the current step, and the phase of the turn that it belongs to."""
    if phase is RunPhase.housekeeping:
        return f"The answer is final · {label}"
    return label if phase is None else f"{label} · {phase.replace('_', ' ')}"


@connected()
async def ask(
    client: AttractorClient,
    output: Output,
    question: Annotated[str, typer.Argument(help="The question; - reads it from stdin.")],
    session: Annotated[UUID | None, typer.Option("--session", "-s", help="Continue this session.")] = None,
    document: Annotated[
        list[UUID] | None, typer.Option("--document", "-d", help="Answer only from this document; repeatable.")
    ] = None,
    scope: Scope = None,
    no_documents: NoDocuments = False,
    temporary: Temporary = False,
    answer_model: AnswerModels = None,
    reasons: Annotated[
        bool, typer.Option("--reasons", help="For each sentence, show what the sources say about it, and why.")
    ] = False,
) -> None:
    """Ask a question and get an answer with numbered citations.

    A sentence that the sources do not verify is marked: unclear, contradicted or unsupported (nothing found says it).

    Ctrl-C cancels the run. With --json, each event of the run is printed as
    a line of JSON. Exit code 1 if the run fails.

    \b
    Examples:
      attractor ask "Which services does a UserDB outage affect?"
      attractor ask --session 2f0c... "And who owns them?"
      attractor ask --scope global "Who else wrote about retention?"
      attractor ask --json "..." | jq -r 'select(.event == "run_completed").data.content'
    """
    question_text = sys.stdin.read() if question == "-" else question
    models = role_models(answer_model)
    MessageCreate(content=question_text)  # rejects an invalid question before a session is created for it
    check_beginning(session, temporary)
    used = session or (await client.sessions.create(temporary=temporary)).id
    sending = client.sessions.send(
        used,
        question_text,
        document_ids=document,
        timezone=local_zone(),
        scope=scope,
        rag_enabled=not no_documents,
        models=models,
    )
    end = await answered(client, output, sending)
    conclude(output, end, f" · continue with: --session {used}", reasons=reasons)
    if isinstance(end.data, RunCompleted) and end.data.artifact_index is not None and not output.as_json:
        output.text(f"version {end.data.artifact_index} of the artifact: attractor artifact show {used}", "dim")


def role_models(given: Sequence[str] | None) -> list[RoleModel] | None:
    """Returns the models of `--answer-model`. Raises BadParameter."""
    return [_role_model(text) for text in given] if given else None


def _role_model(text: str) -> RoleModel:
    provider, found, model = text.partition(":")
    if not found or not model:
        raise typer.BadParameter(f"{text!r} must have the form PROVIDER:MODEL")
    return RoleModel(provider=provider, model=model)


def check_beginning(session: UUID | None, temporary: bool) -> None:
    """Raises BadParameter if an existing session is asked to be temporary."""
    if session is not None and temporary:
        raise typer.BadParameter("a session is temporary from the start: use either --session or --temporary")


async def answered(client: AttractorClient, output: Output, sending: Coroutine[Any, Any, Run]) -> RunEvent:
    """Shows the run's progress; returns its terminal event. Ctrl-C cancels the run."""
    queued = asyncio.create_task(sending)
    try:
        run = await asyncio.shield(queued)
        return await _follow(output, client.runs.events(run.id))
    except asyncio.CancelledError:
        await _cancel(client, output, queued)
        raise


async def _follow(output: Output, events: AsyncIterator[RunEvent]) -> RunEvent:
    """Shows events as they arrive; returns the terminal one. The text of an interrupted answer stays visible."""
    draft = Draft()
    screen = Live(draft, console=output.out, transient=True, refresh_per_second=12) if output.screen else nullcontext()
    last: RunEvent | None = None
    try:
        with screen:
            async for last in events:
                draft.take(last)
                if output.as_json:
                    output.json({"event": last.data.name, "id": last.id, "data": last.data}, line=True)
                elif isinstance(last.data, ProviderIssue):
                    output.note(f"note: {last.data.message}", "yellow", beside_live=True)
    finally:
        whole = last is not None and isinstance(last.data, RunCompleted)
        if draft.text and not whole and not output.as_json:
            output.text(draft.shown)
    if last is None:
        raise AttractorError("The run has no events")
    return last


async def _cancel(client: AttractorClient, output: Output, sending: asyncio.Task[Run]) -> None:
    """Cancels the run, even if the server is still accepting it."""
    try:
        async with asyncio.timeout(CANCEL_SECONDS):
            await client.runs.cancel((await sending).id)
        output.note("the run was cancelled")
    except (AttractorError, TimeoutError) as error:
        output.note(f"the run could not be cancelled: {error or 'no answer in time'}", "yellow")


def conclude(output: Output, end: RunEvent, advice: str = "", *, reasons: bool = False) -> None:
    """Shows the answer, with advice in its last line. Exits the command if the run has no answer."""
    match end.data:
        case RunCompleted() as answer:
            if not output.as_json:
                _show(output, answer, advice, reasons=reasons)
        case RunFailed() | RunCancelled() as ended:
            failed = f"failed: {ended.message}" if isinstance(ended, RunFailed) else "was cancelled"
            output.note(f"Error: the run {failed}", "red")
            if ended.artifact_index is not None:
                output.note(f"version {ended.artifact_index} of the artifact, which it wrote, is kept")
            raise typer.Exit(FAILED)


def _show(output: Output, answer: RunCompleted, advice: str, *, reasons: bool) -> None:
    content = marked(answer.content, answer.sentences)
    if output.screen and answer.mode is AnswerMode.model:
        output.show(Markdown(plain(content)))
    else:
        output.text(content)
    if answer.citations:
        output.text()
    for citation in answer.citations:
        output.text(citation_line(citation))
    if reasons:
        output.text()
        for sentence in answer.sentences:
            output.text(reason_line(answer.content, sentence), "dim")
    removed = ""
    if count := answer.removed_citations:
        removed = (
            f" · {count} citation{'s' * (count > 1)} failed verification and {'were' if count > 1 else 'was'} removed"
        )
    output.text(f"\n{MODES.get(answer.mode, answer.mode)}{removed}{advice}", "dim")
