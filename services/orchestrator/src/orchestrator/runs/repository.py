"""The runs of a workspace, as users read and cancel them, and as attempts read and update them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from uuid import UUID

from psycopg.types.json import Jsonb

from contracts.base import Page
from contracts.events import TurnDiscarded
from contracts.orchestrator import AnswerFeedback, Message, MessageStatus, Run, RunStatus
from contracts.registry import ORCHESTRATOR
from orchestrator.errors import TooManyQueued
from orchestrator.runs.records import AskedMessage, CancelOutcome, ClaimedRun, EarlierMessage, StoredEvent, TurnAnswer
from orchestrator.usage.repository import usage_of
from service_kit.auth import Principal
from service_kit.outbox import Outbox
from service_kit.pagination import decode_cursor, page
from service_kit.repository import Repository
from service_kit.statements import Statements
from service_kit.tracing import outgoing_headers
from service_kit.work import WorkTable

QUEUED, CANCELLED = "orchestrator_run_queued", "orchestrator_run_cancelled"
MOST_QUEUED = 100
NEWEST_MESSAGES, NEWEST_CHARACTERS = 41, 400_000
OF_ANSWER = "CASE WHEN message.role = 'assistant' THEN coalesce(run.{name}, '{{}}') ELSE '{{}}' END AS {name}"
OWN_FEEDBACK = f"""(
    SELECT to_jsonb(given) FROM (
        SELECT {", ".join(AnswerFeedback.model_fields)} FROM feedback
        WHERE feedback.workspace_id = message.workspace_id AND feedback.message_id = message.id
    ) AS given
) AS feedback"""  # noqa: S608  constants
MADE_VERSION = """CASE WHEN message.role = 'assistant' THEN (
    SELECT made.index FROM artifact_version AS made
    WHERE made.workspace_id = message.workspace_id AND made.run_id = message.run_id
) END AS artifact_index"""
CONSIDERED = "CASE WHEN message.role = 'assistant' THEN run.considered END"
COMPUTED = {
    "status": "CASE WHEN message.status = 'pending' AND run.state = 'running' THEN 'running' ELSE message.status END"
    " AS status",
    **{name: OF_ANSWER.format(name=name) for name in ("issues", "steps_executed", "timings")},
    "document_ids": "CASE WHEN message.role = 'user' THEN run.document_ids END AS document_ids",
    "good_match": f"({CONSIDERED} ->> 'good_match')::boolean AS good_match",
    "sources": f"coalesce({CONSIDERED} -> 'sources', '[]') AS sources",
    "feedback": OWN_FEEDBACK,
    "artifact_index": MADE_VERSION,
    "usage": f"CASE WHEN message.role = 'assistant' THEN {usage_of('run').removesuffix(' AS usage')} END AS usage",
}
# Columns of a message and, as `run`, the run that answers it.
MESSAGE_COLUMNS = ", ".join(
    COMPUTED.get(name, f"message.{name}") for name in Message.model_fields if name != "siblings"
)
# Columns of a run and, as `written`, the message that it writes.
RUN_COLUMNS = ", ".join(
    {
        "question_id": "written.parent_id AS question_id",
        "answer_id": "written.id AS answer_id",
        "usage": usage_of("run"),
    }.get(name, f"run.{'state AS status' if name == 'status' else name}")
    for name in Run.model_fields
    if name not in ("answer", "debug")
)

RUNS = WorkTable(
    "run",
    ClaimedRun,
    QUEUED,
    # A turn waits for the answers before it; other branches do not.
    claimable="""NOT EXISTS (
        SELECT FROM run AS parent
        WHERE parent.workspace_id = work.workspace_id AND parent.id = work.parent_run_id
          AND parent.state IN ('queued', 'running'))""",
    user="created_by",
    stop="work.cancel_requested",
    on_claim="attempts_left = work.attempts_left - 1, started_at = coalesce(work.started_at, now())",
    on_finish="finished_at = now(), delegation = NULL",
)


class RunSql(Statements, file="runs.sql", message_columns=MESSAGE_COLUMNS, run_columns=RUN_COLUMNS):
    exists: str
    find: str
    page: str
    cancel: str
    one_at_a_time: str
    queued: str
    retry: str
    messages: str
    document_ids: str
    add_answer: str
    asked: str
    end_answer: str
    touch_session: str
    condense: str
    end_all: str
    hold_session: str
    add_events: str
    events: str
    delete_old_events: str
    abandoned_checkpoints: str
    count_checkpoints: str
    waiting: str
    checkpoint_bytes: str


class WorkspaceRuns(Repository):
    """The runs of one workspace; users find and cancel only their own."""

    async def exists(self, run_id: UUID) -> bool:
        return bool(await self.value(RunSql.exists, id=run_id))

    async def find(self, caller: Principal, run_id: UUID, *, debug: bool = False) -> Run | None:
        return await self.one(RunSql.find, Run, id=run_id, user_id=caller.user_id, debug=debug)

    async def page(
        self, caller: Principal, limit: int, cursor: str | None, session_id: UUID | None, statuses: Sequence[RunStatus]
    ) -> Page[Run]:
        """Returns runs, newest first, without their answers; of all statuses if none are given."""
        at, before = decode_cursor(cursor)
        rows = await self.all(
            RunSql.page,
            Run,
            user_id=caller.user_id,
            session_id=session_id,
            states=[status.value for status in statuses] or None,
            before_at=at,
            before_id=before,
            limit=limit + 1,
        )
        return page(rows, limit, lambda run: (run.created_at, run.id))

    async def cancel(self, caller: Principal, run_id: UUID) -> CancelOutcome | None:
        """Returns None if there was nothing to cancel: the run has ended, or is not the caller's.

        If it ends at once, writes `turn.discarded`, unless its session is temporary.
        """
        outcome = await self.one(RunSql.cancel, CancelOutcome, id=run_id, user_id=caller.user_id)
        if outcome is not None and outcome.ended and not outcome.temporary:
            discarded = TurnDiscarded(session_id=outcome.session_id, run_id=run_id, user_id=caller.user_id)
            await Outbox(ORCHESTRATOR).write(self.connection, self.workspace_id, discarded, str(run_id))
        return outcome

    async def admit(self, caller: Principal) -> None:
        """Raises TooManyQueued if the caller must not queue another run; none is added until the transaction ends."""
        await self.run(RunSql.one_at_a_time, user_id=caller.user_id)
        if await self.value(RunSql.queued, user_id=caller.user_id, most=MOST_QUEUED) >= MOST_QUEUED:
            raise TooManyQueued(f"At most {MOST_QUEUED} runs may wait: let some of them end, or cancel them")

    async def retry(self, caller: Principal, run_id: UUID, max_attempts: int) -> bool:
        """Queues the run again; returns whether it was a failed one of the caller."""
        queued = await self.value(
            RunSql.retry,
            id=run_id,
            user_id=caller.user_id,
            role=caller.role.value,
            key_id=caller.key_id,
            delegation=caller.delegation,
            traceparent=outgoing_headers().get("traceparent"),
            max_attempts=max_attempts,
        )
        return queued is not None

    async def messages(self, run_id: UUID) -> list[EarlierMessage]:
        """Returns the answer to write, its question, then the earlier messages, newest first."""
        return await self.all(
            RunSql.messages, EarlierMessage, id=run_id, limit=NEWEST_MESSAGES, characters=NEWEST_CHARACTERS
        )

    async def document_ids(self, run_id: UUID, scope: str | None) -> list[UUID] | None:
        """Returns the documents that the answer may draw on, from session and message; None: all in the scope."""
        document_ids: list[UUID] | None = await self.value(RunSql.document_ids, id=run_id, scope=scope)
        return document_ids

    async def hold_session(self, run: ClaimedRun) -> bool:
        """Waits for other changes of the session's messages; call it before locking the run itself.

        Returns whether the session is temporary, or gone.
        """
        temporary: bool | None = await self.value(RunSql.hold_session, session_id=run.session_id)
        return temporary is not False

    async def add_answer(self, run: ClaimedRun, answer: TurnAnswer, status: MessageStatus) -> None:
        """Stores the answer, the title if the session has none, and the summary made for it."""
        values = {
            **asdict(answer),
            "status": status.value,
            "citations": Jsonb([citation.model_dump(mode="json") for citation in answer.citations]),
            "sentences": Jsonb([sentence.model_dump(mode="json") for sentence in answer.sentences]),
            "session_id": run.session_id,
            "run_id": run.id,
        }
        await self.run(RunSql.add_answer, **values)
        await self.run(RunSql.touch_session, **values)
        if answer.condensed is not None:
            await self.run(RunSql.condense, **asdict(answer.condensed))

    async def asked(self, run_id: UUID) -> AskedMessage:
        """Returns the message that the run answers."""
        message = await self.one(RunSql.asked, AskedMessage, run_id=run_id)
        assert message is not None, "every answer has its question"
        return message

    async def end_answer(self, run: ClaimedRun, status: RunStatus) -> None:
        """Marks the answer as failed or cancelled."""
        await self.run(RunSql.end_answer, run_id=run.id, status=status.value)

    async def add_events(self, run_id: UUID, events: Sequence[StoredEvent]) -> None:
        """Keeps events of one attempt; does not change events already kept."""
        if events:
            await self.run(
                RunSql.add_events,
                run_id=run_id,
                attempt=events[0].attempt,
                numbers=[event.number for event in events],
                names=[event.name for event in events],
                data=[event.data for event in events],
            )

    async def events(self, run_id: UUID, after: tuple[int, int]) -> list[StoredEvent]:
        """Returns the events after an attempt and number, in order."""
        attempt, number = after
        return await self.all(RunSql.events, StoredEvent, run_id=run_id, attempt=attempt, number=number)

    async def end_all(self) -> list[UUID]:
        """Ends every run, revokes all leases and notifies the processes; returns the ids of all runs."""
        return await self.values(RunSql.end_all)
