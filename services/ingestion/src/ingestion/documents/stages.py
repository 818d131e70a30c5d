"""The table of the stages that documents go through."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import LiteralString
from uuid import UUID

from contracts.ingestion import STAGES, Lane, StageName, WaitingForWorker
from ingestion.documents.rows import ClaimedStage, DocumentKey, StageRow, columns
from ingestion.documents.workers import BESIDE_BULK
from service_kit.repository import Repository, SystemRepository
from service_kit.statements import Statements
from service_kit.tracing import outgoing_headers
from service_kit.work import WorkTable

COLUMNS = columns(StageRow).replace("status", "state AS status").replace("worker", "lease_owner AS worker")
LOST = "The worker died while processing this document, {times} times in a row"


class StageSql(Statements, file="stages.sql", columns=COLUMNS):
    of_documents: LiteralString
    count_ahead: LiteralString
    waiting: LiteralString
    count_queued_bytes: LiteralString
    count_ungraphed: LiteralString
    insert: LiteralString
    restart: LiteralString
    requeue: LiteralString
    reset: LiteralString
    cancel: LiteralString
    hasten: LiteralString
    queue_confirmations: LiteralString
    confirm: LiteralString
    reject: LiteralString
    is_announced: LiteralString
    held: LiteralString
    lock_lease: LiteralString
    start: LiteralString
    finish: LiteralString
    fail: LiteralString
    release: LiteralString
    abandon: LiteralString
    lost: LiteralString
    end_lost: LiteralString
    announced_again: LiteralString
    unanswered: LiteralString


@dataclass(frozen=True)
class WaitingRow:
    lane: str
    documents: int
    oldest_seconds: float


class Stages(Repository):
    async def of_document(self, document_id: UUID) -> list[StageRow]:
        """Returns the stages in the order in which they run."""
        return (await self.of_documents([document_id]))[document_id]

    async def of_documents(self, document_ids: Sequence[UUID]) -> dict[UUID, list[StageRow]]:
        """Returns each document's stages in the order in which they run."""
        rows = await self.all(StageSql.of_documents, StageRow, document_ids=list(document_ids))
        found: dict[UUID, list[StageRow]] = {document_id: [] for document_id in document_ids}
        for row in sorted(rows, key=lambda row: STAGES.index(row.name)):
            found[row.document_id].append(row)
        return found

    async def waiting(self) -> dict[Lane, WaitingForWorker]:
        """Returns, by lane, what waits for a worker; empty lanes are left out."""
        rows = await self.all(StageSql.waiting, WaitingRow)
        return {
            Lane(row.lane): WaitingForWorker(documents=row.documents, oldest_seconds=row.oldest_seconds) for row in rows
        }

    async def count_ahead(self, document_id: UUID) -> int:
        """Returns how many documents of the workspace are processed before this one."""
        return int(await self.value(StageSql.count_ahead, document_id=document_id) or 0)

    async def count_queued_bytes(self, lane: Lane) -> int:
        """Returns the total size of the files that are queued for conversion."""
        return int(await self.value(StageSql.count_queued_bytes, lane=lane) or 0)

    async def count_ungraphed(self) -> int:
        """Returns how many documents the graph does not have yet in their newest version, but will have."""
        return int(await self.value(StageSql.count_ungraphed) or 0)

    async def insert(self, document_id: UUID, lane: Lane, received_at: datetime) -> None:
        """Inserts the stages of a document's first version, with its conversion queued."""
        await self._begin(StageSql.insert, document_id, lane, received_at)

    async def restart(self, document_id: UUID, lane: Lane, received_at: datetime) -> None:
        """Queues the conversion of a new version; workers on the previous one lose their leases."""
        await self._begin(StageSql.restart, document_id, lane, received_at)

    async def requeue(self, stages: Sequence[tuple[UUID, StageName]], lane: Lane | None = None) -> None:
        """Queues these stages of these documents again, in `lane` or in their own."""
        values = {"document_ids": [one for one, _ in stages], "names": [name for _, name in stages], "lane": lane}
        await self.run(StageSql.requeue, **values, traceparent=_traceparent())

    async def reset(self, document_id: UUID, names: Sequence[StageName]) -> None:
        """Sets stages back to waiting for their predecessors."""
        await self.run(StageSql.reset, document_id=document_id, names=list(names))

    async def cancel(self, document_ids: Sequence[UUID]) -> set[UUID]:
        """Cancels queued and running stages; returns the documents that had any."""
        return set(await self.values(StageSql.cancel, document_ids=list(document_ids)))

    async def hasten(self, document_id: UUID) -> None:
        """Moves the document's stages to the interactive lane."""
        await self.run(StageSql.hasten, document_id=document_id)

    async def queue_confirmations(self, document_id: UUID) -> None:
        await self.run(StageSql.queue_confirmations, document_id=document_id)

    async def confirm(self, document_ids: Sequence[UUID], name: StageName, service: str) -> list[UUID]:
        """Records that a service has finished its stage; returns the documents of which that was expected."""
        return await self.values(StageSql.confirm, document_ids=list(document_ids), name=name, worker=service)

    async def reject(
        self, document_id: UUID, name: StageName, service: str, error_class: str, error_message: str
    ) -> bool:
        """Records that a service's stage has failed; returns False if that was not expected."""
        values = {"worker": service, "error_class": error_class, "error_message": error_message}
        return await self.run(StageSql.reject, document_id=document_id, name=name, **values) == 1

    async def is_announced(self, document_id: UUID) -> bool:
        """Returns whether the newest version's conversion has been published."""
        return await self.run(StageSql.is_announced, document_id=document_id) > 0

    async def end_lost(self, document_id: UUID) -> StageName | None:
        """Ends the stage that failed after losing too many workers; returns its name, to be published."""
        failed: StageName | None = await self.value(StageSql.end_lost, document_id=document_id)
        return failed

    async def announced_again(self, document_id: UUID, name: StageName, resend_after: float) -> bool:
        """Records that the conversion is republished; returns False if it is confirmed or it is too early."""
        values = {"name": name, "resend_after": resend_after}
        return await self.run(StageSql.announced_again, document_id=document_id, **values) > 0

    async def _begin(self, sql: str, document_id: UUID, lane: Lane, received_at: datetime) -> None:
        values = {"lane": lane, "received_at": received_at, "traceparent": _traceparent()}
        await self.run(sql, document_id=document_id, **values)


class AllStages(SystemRepository):
    """The stages of all workspaces."""

    async def lost(self) -> list[DocumentKey]:
        """Returns documents with a stage that failed because workers were lost, if not published yet."""
        return await self.all(StageSql.lost, DocumentKey)

    async def unanswered(self, name: StageName, resend_after: float) -> list[DocumentKey]:
        """Returns documents that were published but not confirmed, oldest first."""
        return await self.all(StageSql.unanswered, DocumentKey, name=name, resend_after=resend_after)


def stage_work(max_losses: int) -> WorkTable[ClaimedStage]:
    """Describes conversions and embeddings as leased work, claimed by lane; they fail after `max_losses` lost workers.

    One thread of each worker stays free for other workspaces, no matter how much one workspace has queued.

    The chunks of a lost worker were in its memory only, so chunking restarts with the conversion. A failed stage has no
    `finished_at` until its failure is published.
    """
    return WorkTable(
        name="document_stage",
        row=ClaimedStage,
        channel="ingestion_queue",
        key=("workspace_id", "document_id", "name"),
        waiting="work.state = 'queued' AND work.name IN ('convert', 'embed') AND work.lane = %(lane)s",
        most=f"(SELECT sum(slots + {BESIDE_BULK - 1}) FROM worker WHERE slots > 0"  # noqa: S608  constants
        " AND seen_at > now() - make_interval(secs => %(lease_seconds)s))",
        stop="EXISTS (SELECT FROM document WHERE document.workspace_id = work.workspace_id "
        "AND document.id = work.document_id AND document.status = 'deleting')",
        on_claim="started_at = now(), heartbeat_at = now(), finished_at = NULL, page = NULL, pages = NULL, "
        "error_class = NULL, error_message = NULL",
        on_finish="finished_at = now()",
        on_loss="state = CASE WHEN work.name = 'chunk' THEN 'waiting' "
        f"WHEN work.losses + 1 >= {max_losses} THEN 'failed' ELSE 'queued' END, "
        "losses = work.losses + 1, dispatched_at = NULL, page = NULL, pages = NULL, "
        "error_class = CASE WHEN work.name <> 'chunk' THEN 'worker-lost' END, "
        f"error_message = CASE WHEN work.name <> 'chunk' THEN '{LOST.format(times=max_losses)}' END",
    )


def _traceparent() -> str | None:
    return outgoing_headers().get("traceparent")
