"""Refines one workspace: chunk after chunk, with as many concurrent calls as there are slots, within the budget."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from inference.errors import ChatError, CircuitOpen, ProviderUnavailable
from knowledge_graph.refinement.asker import Asker
from knowledge_graph.refinement.records import (
    START,
    CallCost,
    CallOutcome,
    HeldRefinement,
    PendingChunk,
    RefinementBudget,
)
from knowledge_graph.refinement.store import RefinementChunks, Refinements
from knowledge_graph.refinement.texts import TextCache, UnreadDocuments
from service_kit.background import stopped
from service_kit.work import WorkQueue
from service_kit.worker import uninterrupted

UNREAD_AT_ONCE = 50
MOST_REFUSALS = 8
MOST_LOST_LEASES = 5
TOO_MANY_REQUESTS = 429
SKIPPED_DELAY_SECONDS = 60.0


@dataclass(frozen=True)
class ProviderBackoff:
    """The delays for a provider that is down; after `most` consecutive outages the refinement has failed."""

    first_seconds: float = 15.0
    longest_seconds: float = 600.0
    most: int = 10

    def seconds(self, outages: int, requested: float | None) -> float:
        return max(requested or 0.0, min(self.first_seconds * 2.0**outages, self.longest_seconds))


@dataclass(frozen=True)
class Obstacle:
    """The reason why no further call is started. An `outage` passes; anything else needs someone to act."""

    error: str
    outage: bool
    retry_after: float | None = None


class WorkspaceRefinement:
    """Refines one workspace under its lease. `slots` are shared with the other workspaces of the process."""

    def __init__(
        self,
        held: HeldRefinement,
        queue: WorkQueue[HeldRefinement],
        asker: Asker,
        texts: TextCache,
        unread: UnreadDocuments,
        slots: asyncio.Semaphore,
        concurrency: int,
        backoff: ProviderBackoff,
    ) -> None:
        self.held, self.queue, self.asker, self.texts, self.unread = held, queue, asker, texts, unread
        self.slots, self.concurrency, self.backoff = slots, concurrency, backoff
        self.calls: dict[asyncio.Task[None], PendingChunk] = {}
        self.position = START
        self.skipped: set[bytes] = set()
        self.answered = self.refused = 0
        self.obstacle: Obstacle | None = None

    async def execute(self) -> None:
        """Runs until nothing is left or something stops it, and waits for calls in progress. Raises LeaseLost."""
        if self.held.attempts > MOST_LOST_LEASES:
            self.obstacle = Obstacle("refinement broke off several times; see the service's log", outage=False)
        try:
            while not await self.unread.read(self.held.workspace_id, UNREAD_AT_ONCE):
                await self._renew()
            await self._end(within_budget=await self._refine())
        except asyncio.CancelledError:
            await self._cancel_calls()
            await uninterrupted(self._release())
            raise
        finally:
            await self._cancel_calls()

    async def _refine(self) -> bool:
        """Asks about chunks; returns False if the budget ended it."""
        while True:
            budget = await self._renew()
            within_budget = True
            if budget is not None and self.obstacle is None:
                within_budget = await self._begin_calls(budget)
            if not self.calls:
                return within_budget
            done, _ = await asyncio.wait(
                self.calls, timeout=self.queue.lease_seconds / 3, return_when=asyncio.FIRST_COMPLETED
            )
            for call in done:
                del self.calls[call]
                call.result()

    async def _renew(self) -> RefinementBudget | None:
        """Extends the lease; returns the budget, or None if refinement was turned off."""
        async with self.queue.database.workspace(self.held.workspace_id) as connection:
            if await self.queue.extend(connection, self.held):
                return None
            return await Refinements(connection, self.held.workspace_id).budget()

    async def _begin_calls(self, budget: RefinementBudget) -> bool:
        """Fills the free slots; returns False if the budget does not allow the next call."""
        free = self.concurrency - len(self.calls)
        for chunk in await self._next(free) if free else []:
            reserved = sum(self.asker.most_tokens(one.tokens) for one in (*self.calls.values(), chunk))
            if not budget.allows(reserved):
                return False
            self.position = chunk.position
            if chunk.digest not in {one.digest for one in self.calls.values()}:
                self.calls[asyncio.create_task(self._call(chunk))] = chunk
        return True

    async def _next(self, limit: int) -> list[PendingChunk]:
        """Returns the chunks after the last one; at the end starts over once, for chunks to retry."""
        excluded = self.skipped | {one.digest for one in self.calls.values()}
        async with self.queue.database.workspace(self.held.workspace_id) as connection:
            chunks = RefinementChunks(connection, self.held.workspace_id)
            found = await chunks.next_pending(self.position, excluded, limit)
            if not found and self.position != START:
                self.position = START
                found = await chunks.next_pending(self.position, excluded, limit)
            return found

    async def _call(self, chunk: PendingChunk) -> None:
        async with self.slots:
            content = await self.texts.text_of(chunk)
            if content is None:
                self.skipped.add(chunk.digest)
                return
            before = self.answered
            try:
                outcome = await self.asker.ask(content)
            except (ProviderUnavailable, CircuitOpen) as error:
                if _is_busy(error) or self.answered == before:
                    self._stop_for(error, outage=True)
                    return
                outcome = CallOutcome(CallCost(), error=str(error))  # other chunks were answered: this one failed
            except ChatError as error:
                self._stop_for(error, outage=False)
                return
        self._count(outcome)
        await self._record(chunk, outcome)

    def _count(self, outcome: CallOutcome) -> None:
        self.answered += outcome.cost.calls
        self.refused += outcome.final and not outcome.cost.calls
        if self.refused >= MOST_REFUSALS and not self.answered:
            self.obstacle = Obstacle(f"the provider refuses every chunk: {outcome.error}", outage=False)

    def _stop_for(self, error: ChatError, *, outage: bool) -> None:
        retry_after = error.retry_after if isinstance(error, ProviderUnavailable) else None
        if self.obstacle is None or self.obstacle.outage:
            self.obstacle = Obstacle(str(error), outage, retry_after)

    async def _record(self, chunk: PendingChunk, outcome: CallOutcome) -> None:
        """Stores the result and the cost of a call, in one transaction; only the cost if the lease was lost."""
        async with self.queue.database.workspace(self.held.workspace_id) as connection:
            refinements = Refinements(connection, self.held.workspace_id)
            error = None if outcome.error is None else f"chunk {chunk.chunk_id}: {outcome.error}"
            answered = outcome.findings is not None
            if await refinements.spend(self.held, outcome.cost, answered=answered, error=error):
                chunks = RefinementChunks(connection, self.held.workspace_id)
                await chunks.record(chunk.digest, self.asker.model, outcome)

    async def _end(self, *, within_budget: bool) -> None:
        """Releases the work; the results so far are added to the graph."""
        held, obstacle = self.held, self.obstacle
        outages = held.outages if not self.answered else 0
        async with self.queue.database.workspace(held.workspace_id) as connection:
            refinements = Refinements(connection, held.workspace_id)
            await refinements.lock()
            if obstacle and obstacle.outage and outages + 1 < self.backoff.most:
                delay = self.backoff.seconds(outages, obstacle.retry_after)
                columns = {"last_error": obstacle.error, "outages": outages + 1}
                await self.queue.release(connection, held, delay_seconds=delay, refund=True, **columns)
                return
            await RefinementChunks(connection, held.workspace_id).queue_unapplied()
            if obstacle:
                await self.queue.finish(connection, held, "failed", last_error=obstacle.error)
            elif not within_budget:
                await self.queue.finish(connection, held, "budget_exhausted")
            elif self.skipped:
                await self.queue.release(connection, held, delay_seconds=SKIPPED_DELAY_SECONDS, refund=True)
            else:
                await self.queue.finish(connection, held, "waiting", attempts=0)
                await refinements.wake()

    async def _release(self) -> None:
        async with self.queue.database.workspace(self.held.workspace_id) as connection:
            await self.queue.release(connection, self.held, refund=True)

    async def _cancel_calls(self) -> None:
        await stopped(*self.calls)
        self.calls.clear()


def _is_busy(error: ChatError) -> bool:
    return isinstance(error, CircuitOpen) or (
        isinstance(error, ProviderUnavailable) and error.status == TOO_MANY_REQUESTS
    )
