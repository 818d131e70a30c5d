"""The messages of one user's sessions: a tree per session, of which the path to the head is shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID, uuid4

from psycopg.types.json import Jsonb

from contracts.base import Page
from contracts.orchestrator import (
    HeadUpdate,
    Message,
    MessageCreate,
    MessageRegenerate,
    MessageRole,
    OnBusy,
    Run,
    RunStatus,
    Session,
)
from contracts.quick_actions import QuickAction
from orchestrator.errors import MessageNotFound, ScopeNeedsWiderKey, SessionBusy, SessionNotFound
from orchestrator.images.repository import CallerImages
from orchestrator.quick_actions.repository import CallerQuickActions
from orchestrator.runs.records import RunOptions
from orchestrator.runs.repository import MESSAGE_COLUMNS, WorkspaceRuns
from orchestrator.sessions.asked_options import answering, options_of
from orchestrator.sessions.repository import SESSION_COLUMNS, SessionSql
from service_kit.idempotency import IdempotencyKeyReused
from service_kit.pagination import decode_cursor, page
from service_kit.repository import CallerRepository
from service_kit.statements import Statements
from service_kit.tracing import outgoing_headers

# Options of a message that also apply when it is answered again.
OF_MESSAGE = (
    *("timezone", "artifact_action", "artifact_action_params", "instructions", "reply"),
    *("rag_enabled", "rag_scope", "conversation_mode", "active_pdf_document_id", "rewrite_query"),
    *("use_preferences", "use_history", "roles"),
)
# The messages with the same parent; a session's first messages have none.
SIBLINGS = """(
    SELECT jsonb_build_object('ids', family.ids, 'count', cardinality(family.ids),
                              'index', array_position(family.ids, message.id) - 1)
    FROM (
        SELECT array_agg(sibling.id ORDER BY sibling.created_at, sibling.id) AS ids
        FROM message AS sibling
        WHERE sibling.workspace_id = message.workspace_id AND sibling.session_id = message.session_id
          AND (sibling.parent_id = message.parent_id OR (sibling.parent_id IS NULL AND message.parent_id IS NULL))
    ) AS family
) AS siblings"""


class MessageSql(
    Statements,
    file="messages.sql",
    columns=MESSAGE_COLUMNS,
    siblings=SIBLINGS,
    session_columns=SESSION_COLUMNS,
):
    lock: str
    session_of: str
    find: str
    path: str
    all: str
    newest_below: str
    set_head: str
    ask: str
    asked_before: str
    document_ids: str
    options: str
    subtree: str
    delete: str
    forget_runs: str
    delete_runs: str


@dataclass(frozen=True)
class SessionHead:
    """The end of the path that is shown; None without messages."""

    head_id: UUID | None


@dataclass(frozen=True)
class TreeMessage:
    """A message's position in the tree."""

    id: UUID
    parent_id: UUID | None
    run_id: UUID | None
    role: str


@dataclass(frozen=True)
class StoredQuestion:
    """The run that an Idempotency-Key queued, and its question; `is_first` if the key also created the question."""

    id: UUID
    question_id: UUID
    answer_id: UUID
    content: str
    attachment_ids: list[UUID]
    parent_id: UUID | None
    is_first: bool
    document_ids: list[UUID] | None
    options: RunOptions

    def repeated(self, is_same: bool) -> QueuedRun:
        """Raises IdempotencyKeyReused unless the key's request was the same."""
        if not is_same:
            raise IdempotencyKeyReused
        return QueuedRun(self.id, self.question_id, self.answer_id, None, {})


@dataclass(frozen=True)
class NewRun:
    """What `ask` inserted."""

    id: UUID
    question_id: UUID
    answer_id: UUID
    created_at: datetime


@dataclass(frozen=True)
class QueuedRun:
    """A run with its question and answer; `created_at` is None if the Idempotency-Key queued it before.

    `stopped` has the waiting runs that were ended for it, with their attempts.
    """

    id: UUID
    question_id: UUID
    answer_id: UUID
    created_at: datetime | None
    stopped: Mapping[UUID, int]

    @property
    def is_new(self) -> bool:
        return self.created_at is not None

    def as_run(self, session_id: UUID) -> Run:
        """Returns the new run without a query."""
        assert self.created_at is not None
        return Run(
            id=self.id,
            session_id=session_id,
            question_id=self.question_id,
            answer_id=self.answer_id,
            status=RunStatus.queued,
            mode=None,
            attempts=0,
            node_trace=[],
            issues=[],
            error_type=None,
            error_message=None,
            created_at=self.created_at,
            started_at=None,
            finished_at=None,
        )


class CallerMessages(CallerRepository):
    """The messages of the caller's sessions. Every id must belong to the given session."""

    async def path(self, session: Session, limit: int, cursor: str | None, last: int | None = None) -> Page[Message]:
        """Returns the path to the head, or its `last` messages, oldest first.

        Further pages stay on the path of the first one.
        """
        tip_id, places = decode_cursor(cursor, UUID, int)
        tip_id = tip_id or session.head_id
        rows = await self.all(
            MessageSql.path,
            Message,
            session_id=session.id,
            tip_id=tip_id,
            last=last,
            places=places or 0,
            limit=limit + 1,
        )
        return page(rows, limit, lambda _: (tip_id, (places or 0) + limit))

    async def tree(self, session: Session, limit: int, cursor: str | None) -> Page[Message]:
        """Returns the messages of all branches, oldest first."""
        at, after = decode_cursor(cursor)
        rows = await self.all(
            MessageSql.all, Message, session_id=session.id, after_at=at, after_id=after, limit=limit + 1
        )
        return page(rows, limit, lambda message: (message.created_at, message.id))

    async def move_head(self, session_id: UUID, head: HeadUpdate) -> Session:
        """Raises SessionNotFound, MessageNotFound."""
        await self._lock(session_id)
        head_id = (await self._find(session_id, head.message_id)).id
        if head.newest:
            head_id = await self.value(MessageSql.newest_below, id=head_id)
        moved = await self.one(MessageSql.set_head, Session, session_id=session_id, head_id=head_id)
        assert moved is not None
        return moved

    async def ask(
        self,
        session_id: UUID,
        message: MessageCreate,
        key: str | None,
        max_attempts: int,
        options: RunOptions | None = None,
    ) -> QueuedRun:
        """Stores the message after its parent, by default the head, and queues the run for its answer, the new head.

        Returns the run that `key` queued before, if there is one. Raises SessionNotFound, MessageNotFound, SessionBusy,
        TooManyQueued, QuickActionNotFound, ScopeNeedsWiderKey, ImageNotFound; IdempotencyKeyReused if the key is
        another message's.
        """
        parent_id = await self._lock(session_id)
        options = {**options_of(message, await self._quick_action(message.quick_action)), **(options or {})}
        chosen = "parent_id" in message.model_fields_set
        if stored := await self._stored_question(session_id, key):
            parent_id = message.parent_id if chosen else stored.parent_id
            asked = (True, message.content, message.attachment_ids, message.document_ids, parent_id, options)
            known = (stored.is_first, stored.content, stored.attachment_ids, stored.document_ids, stored.parent_id)
            same = (*known, stored.options) == asked
            return stored.repeated(same)
        self._check_scope(options)
        await CallerImages(self.connection, self.caller).show(session_id, message.attachment_ids)
        if chosen:
            parent_id = message.parent_id
        parent = None if parent_id is None else await self._find(session_id, parent_id)
        stopped = await self._make_way(session_id, message.on_busy)
        return await self._queue(
            session_id,
            parent,
            stopped,
            question_id=uuid4(),
            content=message.content,
            attachment_ids=message.attachment_ids,
            document_ids=message.document_ids,
            deadline_seconds=message.deadline_seconds,
            options=Jsonb(options),
            key=key,
            max_attempts=max_attempts,
        )

    async def hold(self, session_id: UUID) -> UUID:
        """Keeps others from adding messages to the session until the transaction ends; returns its id.

        Raises SessionNotFound.
        """
        await self._lock(session_id)
        return session_id

    async def regenerate(
        self, message_id: UUID, options: MessageRegenerate, key: str | None, max_attempts: int
    ) -> tuple[UUID, QueuedRun]:
        """Queues another answer to a question and keeps the existing ones; also returns the session's id.

        Raises what `ask` raises.
        """
        session_id = await self._session_of(message_id)
        await self._lock(session_id)
        message = question = await self._find(session_id, message_id)
        if message.role == MessageRole.assistant and message.parent_id is not None:
            question = await self._find(session_id, message.parent_id)
        chosen = "document_ids" in options.model_fields_set
        if stored := await self._stored_question(session_id, key):
            asked = (False, question.id, options.document_ids if chosen else stored.document_ids)
            same = (stored.is_first, stored.question_id, stored.document_ids) == asked
            if options.models is not None:
                same = same and stored.options.get("roles") == answering(options.models)
            return session_id, stored.repeated(same)
        document_ids = options.document_ids
        if not chosen:
            document_ids = await self.value(MessageSql.document_ids, run_id=message.run_id)
        again: RunOptions = await self.value(MessageSql.options, run_id=message.run_id) or RunOptions()
        if options.models is not None:
            again["roles"] = answering(options.models)
        self._check_scope(again)
        parent = None if question.parent_id is None else await self._find(session_id, question.parent_id)
        stopped = await self._make_way(session_id, options.on_busy)
        return session_id, await self._queue(
            session_id,
            parent,
            stopped,
            question_id=question.id,
            content=None,
            attachment_ids=[],
            document_ids=document_ids,
            deadline_seconds=options.deadline_seconds,
            options=Jsonb({name: value for name, value in again.items() if name in OF_MESSAGE}),
            key=key,
            max_attempts=max_attempts,
        )

    async def delete(self, message_id: UUID) -> list[UUID]:
        """Deletes the message with everything below it; returns the runs that were ended.

        Raises MessageNotFound.
        """
        session_id = await self._session_of(message_id)
        head_id = await self._lock(session_id)
        message = await self._find(session_id, message_id)
        subtree = await self.all(MessageSql.subtree, TreeMessage, session_id=session_id, id=message_id)
        ids = [one.id for one in subtree]
        run_ids = [one.run_id for one in subtree if one.role == MessageRole.assistant and one.run_id is not None]
        await self.run(MessageSql.delete, ids=ids)
        await CallerImages(self.connection, self.caller).hide(session_id)
        await self.run(MessageSql.forget_runs, run_ids=run_ids)
        await self.run(MessageSql.delete_runs, run_ids=run_ids)
        if head_id in ids:
            await self.run(MessageSql.set_head, session_id=session_id, head_id=message.parent_id)
        return run_ids

    async def _queue(
        self, session_id: UUID, parent: TreeMessage | None, stopped: Mapping[UUID, int], **values: object
    ) -> QueuedRun:
        await WorkspaceRuns(self.connection, self.workspace_id).admit(self.caller)
        ids = {"run_id": uuid4(), "answer_id": uuid4()}
        new = await self.one(
            MessageSql.ask,
            NewRun,
            **ids,
            **values,
            session_id=session_id,
            parent_id=parent and parent.id,
            # A run waits for its parent if that is an answer; a question's answer is another branch.
            parent_run_id=parent.run_id if parent and parent.role == MessageRole.assistant else None,
            role=self.caller.role.value,
            key_id=self.caller.key_id,
            delegation=self.caller.delegation,
            traceparent=outgoing_headers().get("traceparent"),
        )
        assert new is not None
        return QueuedRun(new.id, new.question_id, new.answer_id, new.created_at, stopped)

    def _check_scope(self, options: RunOptions) -> None:
        """Raises ScopeNeedsWiderKey."""
        if options.get("rag_scope") == "global" and self.caller.readable is None:
            raise ScopeNeedsWiderKey

    async def _stored_question(self, session_id: UUID, key: str | None) -> StoredQuestion | None:
        if key is None:
            return None
        return await self.one(MessageSql.asked_before, StoredQuestion, session_id=session_id, key=key)

    async def _make_way(self, session_id: UUID, on_busy: OnBusy) -> Mapping[UUID, int]:
        """Ends waiting runs; returns them with their attempts. Raises SessionBusy."""
        if on_busy is OnBusy.enqueue:
            return {}
        active: list[UUID] = await self.values(SessionSql.active_run_ids, session_id=session_id)
        if active and on_busy is OnBusy.reject:
            raise SessionBusy(active_run_ids=[str(one) for one in active])
        runs = WorkspaceRuns(self.connection, self.workspace_id)
        outcomes = {run_id: await runs.cancel(self.caller, run_id) for run_id in active}
        return {
            run_id: outcome.attempts for run_id, outcome in outcomes.items() if outcome is not None and outcome.ended
        }

    async def _quick_action(self, action_id: UUID | None) -> QuickAction | None:
        """Raises QuickActionNotFound."""
        if action_id is None:
            return None
        return await CallerQuickActions(self.connection, self.caller).find(action_id)

    async def _session_of(self, message_id: UUID) -> UUID:
        """Raises MessageNotFound."""
        session_id: UUID | None = await self.value(MessageSql.session_of, id=message_id)
        if session_id is None:
            raise MessageNotFound
        return session_id

    async def _lock(self, session_id: UUID) -> UUID | None:
        """Returns the head's id. Raises SessionNotFound."""
        session = await self.one(MessageSql.lock, SessionHead, session_id=session_id)
        if session is None:
            raise SessionNotFound
        return session.head_id

    async def _find(self, session_id: UUID, message_id: UUID) -> TreeMessage:
        """Raises MessageNotFound."""
        message = await self.one(MessageSql.find, TreeMessage, session_id=session_id, id=message_id)
        if message is None:
            raise MessageNotFound
        return message
