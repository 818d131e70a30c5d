"""Asks a client's question: as a run in a separate session that is never listed, or in the session that it names."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Literal
from uuid import UUID, uuid4

from contracts.orchestrator import MessageCreate, Run
from orchestrator.errors import ImageNotRead, ImageTooLarge, NotAnImage
from orchestrator.images.decoding import SentImage
from orchestrator.images.keeping import ImageKeeping
from orchestrator.images.repository import CallerImages, WorkspaceImages
from orchestrator.openai_api.errors import Unsupported
from orchestrator.runs.records import RunOptions
from orchestrator.runs.store import RunStore
from orchestrator.runs.streams import BEGINNING, TERMINAL_EVENTS, RunStreams
from orchestrator.sessions.messages import CallerMessages
from orchestrator.sessions.repository import CallerSessions
from service_kit.auth import Principal
from service_kit.postgres import Database
from service_kit.repository import CallerRepository
from service_kit.statements import Statements

log = logging.getLogger(__name__)
TITLE = "Asked through the OpenAI API"
PATIENCE_SECONDS = 60.0


class OpenAIRunSql(Statements, file="asking.sql"):
    add_history: str
    show: str
    forget: str
    options: str


@dataclass(frozen=True)
class OpenAIImage:
    """An image of a message, at the location `param` of the request."""

    param: str
    image: SentImage


@dataclass(frozen=True)
class SentMessage:
    """A message that precedes the question in the request."""

    role: Literal["user", "assistant"]
    content: str
    images: Sequence[OpenAIImage] = ()


@dataclass(frozen=True)
class Followed:
    """The answer that a question follows, and its session."""

    session_id: UUID
    answer_id: UUID


@dataclass(frozen=True)
class OpenAIQuestion:
    """A question after `history`, which follows the answer `followed` if there is one.

    If `session_id` is set, it is asked in that session, whose own history is used.
    """

    content: str
    history: Sequence[SentMessage]
    options: RunOptions
    deadline_seconds: int
    session_id: UUID | None = None
    followed: Followed | None = None
    document_ids: list[UUID] | None = None
    images: Sequence[OpenAIImage] = ()


class OpenAISessions(CallerRepository):
    """The sessions that are created for one answer."""

    async def add_history(
        self,
        session_id: UUID,
        history: Sequence[SentMessage],
        after: UUID | None = None,
        shown: Sequence[Sequence[UUID]] = (),
    ) -> UUID | None:
        """Adds the messages as a chain below `after`; returns the last one's id.

        `shown` are the images of each message.
        """
        if not history:
            return after
        ids = [uuid4() for _ in history]
        await self.run(
            OpenAIRunSql.add_history,
            session_id=session_id,
            ids=ids,
            parent_ids=[after, *ids[:-1]],
            roles=[turn.role for turn in history],
            contents=[turn.content for turn in history],
        )
        for message_id, images in zip(ids, shown, strict=False):
            if images:
                await self.run(OpenAIRunSql.show, id=message_id, attachment_ids=list(images))
        return ids[-1]

    async def forget(self, session_id: UUID) -> None:
        await self.run(OpenAIRunSql.forget, session_id=session_id)

    async def options(self, run_id: UUID) -> RunOptions:
        """Returns the options of one of the caller's runs."""
        options: RunOptions | None = await self.value(OpenAIRunSql.options, id=run_id)
        return options or RunOptions()


@dataclass
class OpenAIRuns:
    """Queues the runs of the OpenAI API's clients, and cleans up after them."""

    database: Database
    runs: RunStore
    streams: RunStreams
    max_attempts: int
    images: ImageKeeping
    ending: set[asyncio.Task[None]] = field(default_factory=set)

    async def find(self, caller: Principal, run_id: UUID) -> tuple[Run, RunOptions]:
        """Returns the current state of a caller's run, and its options. Raises RunNotFound."""
        run = await self.runs.get(caller, run_id)
        async with self.database.workspace(caller.workspace_id) as connection:
            return run, await OpenAISessions(connection, caller).options(run_id)

    async def delete(self, caller: Principal, run: Run) -> None:
        """Deletes the question of a run, its answer, and everything that follows. Raises MessageNotFound."""
        assert run.question_id is not None
        async with self.database.workspace(caller.workspace_id) as connection:
            run_ids = await CallerMessages(connection, caller).delete(run.question_id)
        await self.streams.delete(run_ids)

    async def ask(self, caller: Principal, question: OpenAIQuestion) -> Run:
        """Queues a run. Raises SessionNotFound, TooManyQueued; MessageNotFound if the answer that it follows no longer
        exists; Unsupported for a refused image.
        """
        images = await self._taken(caller, question.images)
        earlier = [await self._taken(caller, turn.images) for turn in question.history]
        async with self.database.workspace(caller.workspace_id) as connection:
            session_id = question.session_id
            message = MessageCreate(
                content=question.content,
                deadline_seconds=question.deadline_seconds,
                document_ids=question.document_ids,
                attachment_ids=images,
            )
            messages = CallerMessages(connection, caller)
            if session_id is None:
                if (followed := question.followed) is None:
                    session_id = (await CallerSessions(connection, caller).create(TITLE, None, temporary=True)).id
                else:
                    session_id = await messages.hold(followed.session_id)
                sessions, after = OpenAISessions(connection, caller), followed.answer_id if followed else None
                last = await sessions.add_history(session_id, question.history, after, earlier)
                message = message.model_copy(update={"parent_id": last})
                images = [*images, *(one for shown in earlier for one in shown)]
            if images:
                caller_images = CallerImages(connection, caller)
                await caller_images.bind(session_id, images)
                await caller_images.show(session_id, images)
            queued = await messages.ask(session_id, message, None, self.max_attempts, question.options)
        return queued.as_run(session_id)

    async def _taken(self, caller: Principal, images: Sequence[OpenAIImage]) -> list[UUID]:
        """Stores the images temporarily; returns their ids. Raises Unsupported."""
        taken = []
        for one in images:
            try:
                taken.append(await self.images.take(caller, "image", one.image))
            except (NotAnImage, ImageTooLarge, ImageNotRead) as refusal:
                raise Unsupported(one.param, refusal.detail or refusal.title) from refusal
        return taken

    def leave(self, caller: Principal, run: Run, *, stopping: bool, forgetting: bool, after: str = BEGINNING) -> None:
        """Stops the run in the background if its answer is not wanted, and erases its session once it has ended."""
        self._soon(self._leave(caller, run, stopping, forgetting, after))

    async def aclose(self) -> None:
        """Waits for the work that `leave` began."""
        await asyncio.gather(*self.ending)

    def _soon(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self.ending.add(task)
        task.add_done_callback(self.ending.discard)

    async def _leave(self, caller: Principal, run: Run, stopping: bool, forgetting: bool, after: str) -> None:
        try:
            if stopping:
                await self.streams.cancel(caller, run.id)
            if forgetting:
                if not stopping:
                    async with asyncio.timeout(PATIENCE_SECONDS):
                        await self._ended(caller, run, after)
                await self._forget(caller, run)
        except Exception:  # the boundary of a background task; housekeeping erases the session a day later
            log.exception("an API client's temporary session is not erased yet", extra={"run_id": str(run.id)})

    async def _ended(self, caller: Principal, run: Run, after: str) -> None:
        """Waits for the end of the run, which its worker would otherwise lose at the last step."""
        async with aclosing(self.streams.entries(caller, run, after)) as entries:
            async for entry in entries:
                if entry is not None and entry[1] in TERMINAL_EVENTS:
                    return

    async def _forget(self, caller: Principal, run: Run) -> None:
        async with self.database.workspace(caller.workspace_id) as connection:
            images = await WorkspaceImages(connection, caller.workspace_id).of_session(run.session_id)
            await OpenAISessions(connection, caller).forget(run.session_id)
        await self.images.erase(caller.workspace_id, images)
        await self.streams.delete([run.id])
