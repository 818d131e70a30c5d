"""Two clients ask, edit, regenerate, switch, stop and delete at once: a tree is left, each prompt is its own path."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contracts.gateway import Role
from contracts.orchestrator import (
    HeadUpdate,
    Message,
    MessageCreate,
    MessageRegenerate,
    MessageRole,
    MessageStatus,
    OnBusy,
    Session,
)
from orchestrator.errors import MessageNotFound
from orchestrator.runs.repository import WorkspaceRuns
from orchestrator.sessions.messages import CallerMessages
from orchestrator.sessions.repository import CallerSessions
from service_kit.auth import Principal
from service_kit.postgres import Connection, Database

# A deed and the message that it is done to, counted among all that there ever were.
NAMES = ["ask", "follow", "begin", "regenerate", "switch", "stop", "answer", "delete"]
DEEDS = st.tuples(st.sampled_from(NAMES), st.integers(0, 30))
# What a worker does to the run that waits longest.
ANSWER = """
WITH ended AS (
    UPDATE run SET state = 'completed', finished_at = now()
    WHERE id = (SELECT id FROM run WHERE state = 'queued' ORDER BY created_at, id LIMIT 1 FOR UPDATE SKIP LOCKED)
    RETURNING id
)
UPDATE message SET content = 'answer ' || message.id, status = 'completed'
FROM ended WHERE message.run_id = ended.id AND message.role = 'assistant'"""
RUN_OF = "SELECT run_id FROM message WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND role = 'assistant'"
STATES = {"completed": "completed", "cancelled": "cancelled", "queued": "pending"}


class Clients:
    """Two clients of one session; `known` are the ids that they have seen, of which some are gone."""

    def __init__(self, database: Database, caller: Principal, session: Session) -> None:
        self.database, self.caller, self.session = database, caller, session
        self.known: list[UUID] = []

    async def do(self, deed: str, number: int) -> None:
        chosen = self.known[number % len(self.known)] if self.known else uuid4()
        async with self.database.workspace(self.caller.workspace_id) as connection:
            messages = CallerMessages(connection, self.caller)
            try:
                await self._do(connection, messages, deed, chosen)
            except MessageNotFound:
                return

    async def _do(self, connection: Connection, messages: CallerMessages, deed: str, chosen: UUID) -> None:
        content, on_busy = f"question {uuid4()}", list(OnBusy)[chosen.int % 2 * 2]
        match deed:
            case "ask":
                run = await messages.ask(self.session.id, MessageCreate(content=content, on_busy=on_busy), None, 3)
            case "follow" | "begin":
                body = MessageCreate(content=content, parent_id=chosen if deed == "follow" else None)
                run = await messages.ask(self.session.id, body, None, 3)
            case "regenerate":
                _, run = await messages.regenerate(chosen, MessageRegenerate(on_busy=on_busy), None, 3)
            case "switch":
                await messages.move_head(self.session.id, HeadUpdate(message_id=chosen, newest=chosen.int % 2 == 0))
                return
            case "stop":
                runs = WorkspaceRuns(connection, self.caller.workspace_id)
                for run_id in await runs.values(RUN_OF, id=chosen):
                    await runs.cancel(self.caller, run_id)
                return
            case "answer":
                await connection.execute(ANSWER)
                return
            case _:
                await messages.delete(chosen)
                return
        self.known += [run.question_id, run.answer_id]

    async def check(self) -> None:
        async with self.database.workspace(self.caller.workspace_id) as connection:
            session = await CallerSessions(connection, self.caller).find(self.session.id)
            listing, runs = CallerMessages(connection, self.caller), WorkspaceRuns(connection, self.caller.workspace_id)
            left = {one.id: one for one in (await listing.tree(session, 200, None)).items}
            assert session.head_id is None or session.head_id in left
            shown = [one.id for one in (await listing.path(session, 200, None)).items]
            assert shown == ([] if session.head_id is None else path(left, session.head_id))
            for one in left.values():
                if one.role is MessageRole.user:
                    continue
                assert one.parent_id is not None
                assert left[one.parent_id].role is MessageRole.user
                assert one.run_id is not None
                run = await runs.find(self.caller, one.run_id)
                assert run is not None
                assert STATES[run.status] == one.status
                assert (one.content != "") == (one.status is MessageStatus.completed)
                answer, *turn = await runs.messages(one.run_id)
                assert answer.id == one.id
                # Answers that were never begun are in the tree, and in no prompt.
                said_before = [at for at in path(left, one.parent_id) if left[at].content]
                assert [said.id for said in turn][::-1] == said_before
                assert [said.content for said in turn] == [left[said.id].content for said in turn]


def path(left: dict[UUID, Message], tip: UUID) -> list[UUID]:
    """Returns the ids from the first message to the tip; fails on a cycle and on a parent that is gone."""
    found: list[UUID] = []
    at: UUID | None = tip
    while at is not None:
        assert at not in found
        found.append(at)
        at = left[at].parent_id
    return found[::-1]


async def test_concurrent_changes_by_two_clients_keep_a_valid_tree(make_database: Callable[[str], Any]) -> None:
    caller, loop = Principal(uuid4(), uuid4(), Role.viewer), asyncio.get_running_loop()
    async with Database(make_database("orchestrator").service, 2).opened() as database:

        async def play(deeds: list[Any]) -> None:
            async with database.workspace(caller.workspace_id) as connection:
                session = await CallerSessions(connection, caller).create(None, None)
            clients = Clients(database, caller, session)
            for pair in deeds:
                await asyncio.gather(*(clients.do(*deed) for deed in pair))
                await clients.check()

        @settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
        @given(deeds=st.lists(st.tuples(DEEDS, DEEDS), max_size=12))
        def check(deeds: list[Any]) -> None:
            asyncio.run_coroutine_threadsafe(play(deeds), loop).result(120)

        await asyncio.to_thread(check)
