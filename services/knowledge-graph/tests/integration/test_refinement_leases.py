"""What a process that died leaves behind, and what comes too late."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from uuid import uuid4

import pytest

from contracts.graph_refinement import RefinementRequest, RefinementSettingsUpdate
from knowledge_graph.extraction.records import Extraction, SourceChunk, SourceDocument
from knowledge_graph.refinement import chunks
from knowledge_graph.refinement.findings import Findings
from knowledge_graph.refinement.records import START, Outcome, Spent, Waiting
from knowledge_graph.refinement.run_store import RunStore
from knowledge_graph.refinement.settings_store import RefinementSettingsStore
from knowledge_graph.refinement.work_store import LeaseLost, WorkStore
from service_kit.postgres import Database

TEXT = "The AuthService greets the UserDB every day."
FOUND = Outcome(Spent(1, 100, 10), Findings({"AuthService": "SERVICE"}, ()))


class Prepared:
    """A workspace with one document of one passage, refinement turned on."""

    def __init__(self, database, principal):
        self.database, self.principal, self.workspace_id = database, principal, principal.workspace_id
        self.document_id, self.runs = uuid4(), RunStore(database)
        self.store = WorkStore(database, 30)

    async def graph(self, text=TEXT):
        document = SourceDocument("notes.md", None, False, (SourceChunk("c1", text),))
        async with self.database.workspace(self.workspace_id) as connection:
            await connection.execute(
                "INSERT INTO graphed_document (workspace_id, document_id, version, name, chunks, entities, relations, "
                "method, chunks_key) VALUES (%s, %s, 1, 'notes.md', 1, 0, 0, 'patterns', 'key') ON CONFLICT DO NOTHING",
                (self.workspace_id, self.document_id),
            )
            return await chunks.take_up(
                connection, self.workspace_id, self.document_id, document, Extraction("patterns")
            )

    async def start(self, **asked):
        return await self.runs.start(self.principal, RefinementRequest(max_calls=5, **asked), "small")

    async def next(self, run) -> Waiting:
        (found,) = await self.store.next_chunks(run, START, [], 5)
        return found

    async def spent(self, run_id):
        run = await self.runs.get(self.workspace_id, run_id)
        return run.calls, run.input_tokens, run.output_tokens

    async def execute(self, statement):
        async with self.database.workspace(self.workspace_id) as connection:
            return await connection.execute(statement)

    async def results(self):
        async with self.database.workspace(self.workspace_id) as connection:
            cursor = await connection.execute("SELECT state FROM refinement_result")
            return [row[0] for row in await cursor.fetchall()]


@pytest.fixture
async def prepared(make_database, principal) -> AsyncIterator[Prepared]:
    async with Database(make_database("knowledge_graph").service, 3).opened() as database:
        prepared = Prepared(database, principal)
        await prepared.graph()
        settings = RefinementSettingsStore(database)
        await settings.change(principal.workspace_id, RefinementSettingsUpdate(enabled=True), 0)
        yield prepared


async def test_a_dead_process_s_run_is_taken_up_when_its_lease_ends(prepared):
    await prepared.start()
    dead = await prepared.store.claim()
    assert dead is not None
    assert await prepared.store.claim() is None
    await prepared.execute("UPDATE refinement_run SET lease_expires_at = now() - interval '1 second'")
    living = await prepared.store.claim()
    assert living is not None
    assert (living.id, living.lease_token != dead.lease_token) == (dead.id, True)
    with pytest.raises(LeaseLost):
        await prepared.store.renew(dead)
    # The dead one was only slow: its answer is paid for, but the run is another's by now.
    waiting = await prepared.next(living)
    await prepared.store.record(dead, "small", waiting, FOUND)
    assert (await prepared.spent(dead.id), await prepared.results()) == ((1, 100, 10), [])
    await prepared.store.release(dead, "completed")
    assert (await prepared.runs.get(prepared.workspace_id, dead.id)).state == "running"
    await prepared.store.record(living, "small", waiting, FOUND)
    assert (await prepared.spent(dead.id), await prepared.results()) == ((2, 200, 20), ["done"])


async def test_an_answer_about_a_text_that_is_gone_is_not_kept(prepared):
    started = await prepared.start()
    run = await prepared.store.claim()
    waiting = await prepared.next(run)
    await prepared.graph("Something else is written about the LedgerDB now.")
    await prepared.store.record(run, "small", waiting, FOUND)
    assert (await prepared.spent(started.id), await prepared.results()) == ((1, 100, 10), [])
    assert (await prepared.next(run)).digest != waiting.digest


async def test_a_text_is_asked_three_times_at_most(prepared):
    await prepared.start()
    run = await prepared.store.claim()
    waiting = await prepared.next(run)
    for expected in (["again"], ["again"], ["failed"]):
        await prepared.store.record(run, "small", waiting, Outcome(Spent(1), error="no JSON"))
        assert await prepared.results() == expected
    assert await prepared.store.next_chunks(run, START, [], 5) == []


async def test_a_document_that_comes_while_a_run_goes_to_rest_wakes_it(prepared):
    await prepared.start(follow=True)
    run = await prepared.store.claim()
    await prepared.store.release(run, "waiting")
    again = await prepared.store.claim()
    assert again is not None
    assert again.id == run.id
    await prepared.store.record(again, "small", await prepared.next(again), FOUND)
    await prepared.store.release(again, "waiting")
    assert await prepared.store.claim() is None
    await prepared.graph(f"{TEXT} And more.")
    assert await prepared.store.claim() is not None


async def test_documents_wait_for_their_results_once(prepared):
    await prepared.start()
    run = await prepared.store.claim()
    await prepared.store.record(run, "small", await prepared.next(run), FOUND)
    queued = await prepared.store.claim_queued(60)
    assert queued is not None
    assert (queued.document_id, await prepared.store.claim_queued(60)) == (prepared.document_id, None)
    assert await prepared.store.is_unapplied(prepared.workspace_id, prepared.document_id)
    joined = await prepared.graph()
    assert [one.surface for one in joined.mentions] == ["AuthService"]
    assert not await prepared.store.is_unapplied(prepared.workspace_id, prepared.document_id)
    await prepared.store.finish_queued(replace(queued, sequence=queued.sequence - 1))  # asked for again meanwhile
    again = await prepared.store.claim_queued(60)
    assert again is not None
    await prepared.store.finish_queued(again)
    assert await prepared.store.claim_queued(60) is None
