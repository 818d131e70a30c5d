"""Works one run off: passage after passage, as many calls at a time as there are slots, within the run's budgets."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass

from inference.errors import ChatError, CircuitOpen, ProviderUnavailable
from knowledge_graph.refinement.asker import Asker
from knowledge_graph.refinement.records import START, ClaimedRun, Control, Outcome, Spent, Waiting
from knowledge_graph.refinement.texts import Texts, UnreadDocuments
from knowledge_graph.refinement.work_store import LeaseLost, WorkStore

log = logging.getLogger(__name__)
UNREAD_AT_ONCE = 50
MOST_REJECTIONS = 8
TOO_MANY_REQUESTS = 429
SKIPPED_DELAY_SECONDS = 60.0


@dataclass(frozen=True)
class Backoff:
    """How long a run waits for a provider that is away; after `most` times in a row it has failed."""

    first_seconds: float = 15.0
    longest_seconds: float = 600.0
    most: int = 10

    def seconds(self, outages: int, asked: float | None) -> float:
        return max(asked or 0.0, min(self.first_seconds * 2.0**outages, self.longest_seconds))


@dataclass(frozen=True)
class Trouble:
    """Why no further call is begun. An `outage` passes; anything else someone has to mend."""

    error: str
    outage: bool
    retry_after: float | None = None


class RunWork:
    """`slots` are shared with the other runs of the process; `concurrency` of them at most are this run's."""

    def __init__(
        self,
        run: ClaimedRun,
        store: WorkStore,
        asker: Asker,
        texts: Texts,
        unread: UnreadDocuments,
        slots: asyncio.Semaphore,
        concurrency: int,
        backoff: Backoff,
    ) -> None:
        self.run, self.store, self.asker, self.texts, self.unread = run, store, asker, texts, unread
        self.slots, self.concurrency, self.backoff = slots, concurrency, backoff
        self.calls: dict[asyncio.Task[None], Waiting] = {}
        self.place = START
        self.skipped: set[bytes] = set()
        self.answered = self.rejected = 0
        self.trouble: Trouble | None = None

    async def execute(self) -> None:
        """Until nothing is left, or something stops it; what is under way then is waited for, as it is paid for."""
        try:
            while not await self.unread.read(self.run.workspace_id, UNREAD_AT_ONCE):
                await self.store.renew(self.run)
            await self._end(within_budget=await self._work())
        except LeaseLost:
            log.warning("another process works on the refinement", extra={"run_id": str(self.run.id)})
        except asyncio.CancelledError:
            await self._stop()
            await self.store.give_back(self.run)
            raise
        finally:
            await self._stop()

    async def _work(self) -> bool:
        """False when the budget ended it."""
        while True:
            control = await self.store.renew(self.run)
            within_budget = True
            if control.state == "running" and self.trouble is None:
                within_budget = await self._begin_calls(control)
            if not self.calls:
                return within_budget
            done, _ = await asyncio.wait(
                self.calls, timeout=self.store.lease_seconds / 3, return_when=asyncio.FIRST_COMPLETED
            )
            for call in done:
                del self.calls[call]
                call.result()

    async def _begin_calls(self, control: Control) -> bool:
        """Fills the free slots; False when the budget does not allow the next call."""
        free = self.concurrency - len(self.calls)
        for asked in await self._next(free) if free else []:
            reserved = [self.asker.most_tokens(one.tokens) for one in (*self.calls.values(), asked)]
            if not control.allows(len(reserved), sum(reserved)):
                return False
            self.place = asked.place
            if asked.digest not in {one.digest for one in self.calls.values()}:
                self.calls[asyncio.create_task(self._call(asked))] = asked
        return True

    async def _next(self, limit: int) -> list[Waiting]:
        """After the last passage; at the end once more from the beginning, for what is to be asked again."""
        besides = self.skipped | {one.digest for one in self.calls.values()}
        found = await self.store.next_chunks(self.run, self.place, besides, limit)
        if not found and self.place != START:
            self.place = START
            found = await self.store.next_chunks(self.run, self.place, besides, limit)
        return found

    async def _call(self, asked: Waiting) -> None:
        async with self.slots:
            content = await self.texts.of(asked)
            if content is None:
                self.skipped.add(asked.digest)
                return
            before = self.answered
            try:
                outcome = await self.asker.ask(content)
            except (ProviderUnavailable, CircuitOpen) as error:
                if _is_busy(error) or self.answered == before:
                    self._stumble(error, outage=True)
                    return
                outcome = Outcome(Spent(), error=str(error))  # others were answered meanwhile: it is this passage
            except ChatError as error:
                self._stumble(error, outage=False)
                return
        self._count(outcome)
        await self.store.record(self.run, self.asker.model, asked, outcome)

    def _count(self, outcome: Outcome) -> None:
        self.answered += outcome.spent.calls
        self.rejected += outcome.final and not outcome.spent.calls
        if self.rejected >= MOST_REJECTIONS and not self.answered:
            self.trouble = Trouble(f"the provider refuses every passage: {outcome.error}", outage=False)

    def _stumble(self, error: ChatError, *, outage: bool) -> None:
        retry_after = error.retry_after if isinstance(error, ProviderUnavailable) else None
        if self.trouble is None or self.trouble.outage:
            self.trouble = Trouble(str(error), outage, retry_after)

    async def _end(self, *, within_budget: bool) -> None:
        run, trouble = self.run, self.trouble
        outages = run.outages if not self.answered else 0
        if trouble and trouble.outage and outages + 1 < self.backoff.most:
            delay = self.backoff.seconds(outages, trouble.retry_after)
            await self.store.release(run, "queued", error=trouble.error, outage=True, delay_seconds=delay)
        elif trouble:
            await self.store.release(run, "failed", error=trouble.error)
        elif not within_budget:
            await self.store.release(run, "budget_exhausted")
        elif run.follow and self.skipped:
            await self.store.release(run, "queued", delay_seconds=SKIPPED_DELAY_SECONDS)
        else:
            await self.store.release(run, "waiting" if run.follow else "completed")

    async def _stop(self) -> None:
        calls = list(self.calls)
        for call in calls:
            call.cancel()
        if calls:
            await asyncio.wait(calls)
        self.calls.clear()


def _is_busy(error: ChatError) -> bool:
    return isinstance(error, CircuitOpen) or (
        isinstance(error, ProviderUnavailable) and error.status == TOO_MANY_REQUESTS
    )
