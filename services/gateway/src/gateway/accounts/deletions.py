"""The tables of deleted workspaces: who deleted which, and what each service confirmed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from psycopg.types.json import Jsonb

from contracts.gateway import WorkspaceDeletion
from contracts.ingestion import StoreReceipt
from contracts.registry import GATEWAY
from service_kit.repository import Repository, SystemRepository
from service_kit.statements import Statements

Counts = Mapping[str, int]


class DeletionSql(Statements, file="deletions.sql"):
    insert: str
    insert_receipts: str
    lock: str
    find: str
    list_receipts: str
    confirm: str
    settle: str
    add_stream_entries: str
    due: str


@dataclass(frozen=True)
class DeletionRow:
    workspace_id: UUID
    requested_by: UUID
    requested_at: datetime
    completed_at: datetime | None


@dataclass(frozen=True)
class ReceiptRow:
    """`confirmed_at` is None until the service has answered."""

    service: str
    removed: dict[str, int]
    remaining: dict[str, int]
    confirmed_at: datetime | None


class DueDeletions(SystemRepository):
    async def claim(self, first_seconds: float, longest_seconds: float) -> list[UUID]:
        """Returns the workspaces whose deletion is now due to be announced again."""
        return await self.values(DeletionSql.due, first=first_seconds, longest=longest_seconds)


class Deletion(Repository):
    """The deletion of one workspace."""

    async def insert(self, requested_by: UUID, again_seconds: float, services: Iterable[str]) -> None:
        """Records the deletion, with an open receipt for the gateway and for each of the services."""
        await self.run(DeletionSql.insert, requested_by=requested_by, again=again_seconds)
        await self.run(DeletionSql.insert_receipts, services=[GATEWAY, *services])

    async def lock(self) -> None:
        await self.run(DeletionSql.lock)

    async def find(self) -> DeletionRow | None:
        return await self.one(DeletionSql.find, DeletionRow)

    async def receipt(self, row: DeletionRow) -> WorkspaceDeletion:
        receipts = await self.all(DeletionSql.list_receipts, ReceiptRow)
        return WorkspaceDeletion(
            workspace_id=row.workspace_id,
            requested_at=row.requested_at,
            completed_at=row.completed_at,
            pending=[one.service for one in receipts if one.confirmed_at is None],
            services=[
                StoreReceipt.model_validate(one, from_attributes=True)
                for one in receipts
                if one.confirmed_at is not None
            ],
        )

    async def confirm(self, service: str, removed: Counts, remaining: Counts) -> bool:
        """Records a service's counts; returns whether there is a receipt for it."""
        values = {"removed": Jsonb(dict(removed)), "remaining": Jsonb(dict(remaining))}
        return await self.run(DeletionSql.confirm, service=service, **values) > 0

    async def settle(self, settle_seconds: float) -> bool:
        """Completes the deletion if every service has confirmed; returns whether no service is left to ask."""
        return bool(await self.value(DeletionSql.settle, settle=settle_seconds, gateway=GATEWAY))

    async def add_stream_entries(self, removed: int, remaining: int) -> None:
        """Adds the events deleted from the streams to the gateway's own receipt."""
        await self.run(DeletionSql.add_stream_entries, removed=removed, remaining=remaining, gateway=GATEWAY)
