"""Leases of refinement: what a dead process leaves behind, and results that come too late."""

from __future__ import annotations

from collections.abc import AsyncIterator
from uuid import UUID, uuid4

import pytest
from work_conformance import WorkCase, WorkConformance

from knowledge_graph.extraction.records import Extraction, SourceChunk, SourceDocument
from knowledge_graph.refinement import chunks
from knowledge_graph.refinement.findings import Findings
from knowledge_graph.refinement.records import START, CallCost, CallOutcome, HeldRefinement
from knowledge_graph.refinement.store import REFINEMENT, REGRAPHING, RefinementChunks, Refinements
from service_kit.notifications import Notifications
from service_kit.postgres import Database
from service_kit.work import LeaseLost, WorkQueue

TEXT = "The AuthService greets the UserDB every day."
FOUND = CallOutcome(CallCost(1, 100, 10), Findings({"AuthService": "SERVICE"}, ()))


class Prepared:
    """A workspace with one document of one chunk, and refinement turned on."""

    def __init__(self, database: Database, workspace_id: UUID) -> None:
        self.database, self.workspace_id, self.document_id = database, workspace_id, uuid4()
        self.queue = WorkQueue(database, REFINEMENT, 30)
        self.documents = WorkQueue(database, REGRAPHING, 60)

    async def graph(self, text: str = TEXT) -> Extraction:
        document = SourceDocument("notes.md", None, False, (SourceChunk("c1", text),))
        async with self.database.workspace(self.workspace_id) as connection:
            await connection.execute(
                "INSERT INTO graphed_document (workspace_id, document_id, version, name, chunks, entities, relations, "
                "method, chunks_key) VALUES (%s, %s, 1, 'notes.md', 1, 0, 0, 'patterns', 'key') ON CONFLICT DO NOTHING",
                (self.workspace_id, self.document_id),
            )
            extracted = {self.document_id: (document, Extraction("patterns"))}
            joined = await chunks.join_results(connection, self.workspace_id, extracted)
            return joined[self.document_id]

    async def claim(self) -> HeldRefinement:
        (held,) = await self.queue.claim(1)
        return held

    async def next_digest(self) -> bytes:
        async with self.database.workspace(self.workspace_id) as connection:
            (found,) = await RefinementChunks(connection, self.workspace_id).next_pending(START, [], 5)
        return found.digest

    async def record(self, held: HeldRefinement, digest: bytes, outcome: CallOutcome = FOUND) -> None:
        async with self.database.workspace(self.workspace_id) as connection:
            refinements = Refinements(connection, self.workspace_id)
            if await refinements.spend(held, outcome.cost, answered=outcome.findings is not None, error=None):
                await RefinementChunks(connection, self.workspace_id).record(digest, "small", outcome)

    async def rest(self, held: HeldRefinement) -> None:
        """Ends the work as `WorkspaceRefinement` does when nothing is left."""
        async with self.database.workspace(self.workspace_id) as connection:
            refinements = Refinements(connection, self.workspace_id)
            await refinements.lock()
            await self.queue.finish(connection, held, "waiting")
            await refinements.wake()

    async def spent(self) -> tuple[int, int, int]:
        async with self.database.workspace(self.workspace_id) as connection:
            row = await Refinements(connection, self.workspace_id).find()
        assert row is not None
        return row.calls, row.input_tokens, row.output_tokens

    async def results(self) -> list[str]:
        async with self.database.workspace(self.workspace_id) as connection:
            cursor = await connection.execute("SELECT state FROM refinement_result")
            return [row[0] for row in await cursor.fetchall()]


@pytest.fixture
async def prepared(make_database, workspace_id) -> AsyncIterator[Prepared]:
    async with Database(make_database("knowledge_graph").service, 3).opened() as database:
        prepared = Prepared(database, workspace_id)
        await prepared.graph()
        async with database.workspace(workspace_id) as connection:
            await Refinements(connection, workspace_id).change(enabled=True, max_tokens=1_000_000)
        yield prepared


async def test_a_result_after_a_lost_lease_is_paid_for_but_not_applied(prepared):
    dead = await prepared.claim()
    assert await prepared.queue.claim(1) == []
    async with prepared.database.system() as connection:
        await connection.execute("UPDATE refinement SET lease_expires_at = now() - interval '1 second'")
    assert await prepared.queue.recover() == 1
    living = await prepared.claim()
    assert living.attempts == 2
    digest = await prepared.next_digest()
    await prepared.record(dead, digest)
    assert (await prepared.spent(), await prepared.results()) == ((1, 100, 10), [])
    with pytest.raises(LeaseLost):
        await prepared.rest(dead)
    await prepared.record(living, digest)
    assert (await prepared.spent(), await prepared.results()) == ((2, 200, 20), ["done"])


async def test_an_answer_about_a_deleted_text_is_discarded(prepared):
    held, digest = await prepared.claim(), await prepared.next_digest()
    await prepared.graph("Something else is written about the LedgerDB now.")
    await prepared.record(held, digest)
    assert (await prepared.spent(), await prepared.results()) == ((1, 100, 10), [])
    assert await prepared.next_digest() != digest


async def test_a_text_is_sent_at_most_three_times(prepared):
    held, digest = await prepared.claim(), await prepared.next_digest()
    for expected in (["again"], ["again"], ["failed"]):
        await prepared.record(held, digest, CallOutcome(CallCost(1), error="no JSON"))
        assert await prepared.results() == expected


async def test_a_document_that_arrives_while_refinement_goes_idle_wakes_it(prepared):
    await prepared.rest(await prepared.claim())
    again = await prepared.claim()
    await prepared.record(again, await prepared.next_digest())
    await prepared.rest(again)
    assert await prepared.queue.claim(1) == []
    await prepared.graph(f"{TEXT} And more.")
    assert len(await prepared.queue.claim(1)) == 1


async def test_disabling_stops_the_current_holder_and_prevents_new_claims(prepared):
    held = await prepared.claim()
    async with prepared.database.workspace(prepared.workspace_id) as connection:
        assert not await prepared.queue.extend(connection, held)
        await Refinements(connection, prepared.workspace_id).change(enabled=False, max_tokens=None)
    async with prepared.database.workspace(prepared.workspace_id) as connection:
        assert await prepared.queue.extend(connection, held)
    await prepared.rest(held)
    assert await prepared.queue.claim(1) == []


async def test_a_document_with_new_results_is_regraphed_once_unless_queued_again(prepared):
    await prepared.record(await prepared.claim(), await prepared.next_digest())
    (held,) = await prepared.documents.claim(5)
    assert (held.document_id, await prepared.documents.claim(5)) == (prepared.document_id, [])

    async def is_unapplied() -> bool:
        async with prepared.database.workspace(prepared.workspace_id) as connection:
            return await RefinementChunks(connection, prepared.workspace_id).is_unapplied(prepared.document_id)

    assert await is_unapplied()
    async with prepared.database.workspace(prepared.workspace_id) as connection:
        await RefinementChunks(connection, prepared.workspace_id).queue_unapplied()
    joined = await prepared.graph()
    assert [one.surface for one in joined.mentions] == ["AuthService"]
    assert not await is_unapplied()
    async with prepared.database.workspace(prepared.workspace_id) as connection:
        assert not await RefinementChunks(connection, prepared.workspace_id).delete_queued(held)
        await prepared.documents.release(connection, held, refund=True)
    (again,) = await prepared.documents.claim(5)
    async with prepared.database.workspace(prepared.workspace_id) as connection:
        assert await RefinementChunks(connection, prepared.workspace_id).delete_queued(again)
    assert await prepared.documents.claim(5) == []


class TestRegraphQueue(WorkConformance):
    """The queue of documents to graph again keeps the promises of leased work."""

    @pytest.fixture
    async def case(self, make_database) -> AsyncIterator[WorkCase]:
        url = make_database("knowledge_graph").service
        async with Database(url, 6).opened() as database:

            async def add(workspace_id: UUID, count: int) -> None:
                async with database.workspace(workspace_id) as connection:
                    for _ in range(count):
                        await connection.execute(
                            "INSERT INTO refinement_queue (workspace_id, document_id) VALUES (%s, %s)",
                            (workspace_id, uuid4()),
                        )

            yield WorkCase(
                queue=lambda owner, seconds: WorkQueue(database, REGRAPHING, seconds, owner),
                add=add,
                notifications=Notifications(url, REGRAPHING.channel),
                finished="done",
            )
