"""Every statement of the worker: leases, passages to ask for, results, documents to graph anew."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from knowledge_graph.refinement.chunks import QUERIES
from knowledge_graph.refinement.records import ClaimedRun, Control, Outcome, Queued, Waiting
from service_kit.postgres import Database

MOST_ATTEMPTS = 3


class LeaseLost(Exception):
    """Another process works on the run."""


class WorkStore:
    """Claiming looks across all workspaces; all else is bound to one."""

    def __init__(self, database: Database, lease_seconds: float) -> None:
        self.database, self.lease_seconds = database, lease_seconds

    async def claim(self) -> ClaimedRun | None:
        async with self.database.system() as connection, connection.cursor(row_factory=class_row(ClaimedRun)) as cursor:
            await cursor.execute(QUERIES["claim_run"], {"lease_seconds": self.lease_seconds})
            return await cursor.fetchone()

    async def renew(self, run: ClaimedRun) -> Control:
        """Raises LeaseLost."""
        values = {**_leased(run), "lease_seconds": self.lease_seconds}
        async with (
            self.database.workspace(run.workspace_id) as connection,
            connection.cursor(row_factory=class_row(Control)) as cursor,
        ):
            await cursor.execute(QUERIES["renew_run"], values)
            control = await cursor.fetchone()
        if control is None:
            raise LeaseLost
        return control

    async def release(
        self, run: ClaimedRun, state: str, *, error: str | None = None, outage: bool = False, delay_seconds: float = 0
    ) -> None:
        """Puts the run down; the graph takes up what was found until now."""
        values = {
            **_leased(run),
            "state": state,
            "error": error,
            "outage": int(outage),
            "delay_seconds": delay_seconds,
        }
        async with self.database.workspace(run.workspace_id) as connection:
            # Waits for documents that are being graphed: the run wakes for what they bring.
            await connection.execute(
                "SELECT FROM refinement_run WHERE workspace_id = %(workspace_id)s AND id = %(id)s FOR UPDATE", values
            )
            await connection.execute(QUERIES["release_run"], values)
            if not outage:
                await connection.execute(QUERIES["queue_unapplied"], values)
            if state == "waiting":
                await connection.execute(QUERIES["wake_run"], values)

    async def give_back(self, run: ClaimedRun) -> None:
        """The process ends: another one may go on at once."""
        async with self.database.workspace(run.workspace_id) as connection:
            await connection.execute(
                "UPDATE refinement_run SET lease_token = NULL, lease_expires_at = NULL "
                "WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND lease_token = %(lease_token)s",
                _leased(run),
            )

    async def next_chunks(
        self, run: ClaimedRun, after: tuple[UUID, int], besides: Collection[bytes], limit: int
    ) -> list[Waiting]:
        """Those of the run after a place, in the order of documents, without the texts in `besides`."""
        values = {
            "workspace_id": run.workspace_id,
            "document_ids": run.document_ids,
            "after_document": after[0],
            "after_number": after[1],
            "except": list(besides),
            "limit": limit,
        }
        async with (
            self.database.workspace(run.workspace_id) as connection,
            connection.cursor(row_factory=class_row(Waiting)) as cursor,
        ):
            await cursor.execute(QUERIES["next_chunks"], values)
            return await cursor.fetchall()

    async def record(self, run: ClaimedRun, model: str, asked: Waiting, outcome: Outcome) -> None:
        """What a call brought and what it took, in one transaction. Of a text that is gone nothing is kept, and nothing
        by a run that was put down meanwhile."""
        workspace_id = run.workspace_id
        text = {"workspace_id": workspace_id, "digest": asked.digest}
        async with self.database.workspace(workspace_id) as connection:
            spent = outcome.spent
            cursor = await connection.execute(
                QUERIES["spend"],
                {
                    **_leased(run),
                    "calls": spent.calls,
                    "input_tokens": spent.input_tokens,
                    "output_tokens": spent.output_tokens,
                    "answered": outcome.findings is not None,
                    "error": None if outcome.error is None else f"passage {asked.chunk_id}: {outcome.error}",
                },
            )
            is_leased = (await cursor.fetchone() or (False,))[0]
            if not is_leased or not await (await connection.execute(QUERIES["passages_of_text"], text)).fetchall():
                return
            found = outcome.findings
            cursor = await connection.execute(
                QUERIES["put_result"],
                {
                    **text,
                    "state": "done" if found else "failed" if outcome.final else "again",
                    "attempts": 1,
                    "found": Jsonb(found.stored()) if found else None,
                    "model": model,
                    "error": outcome.error,
                },
            )
            attempts = (await cursor.fetchone() or (0,))[0]
            if found and attempts:
                # A graph that holds a result of this text holds one that was removed.
                await connection.execute(
                    "UPDATE refinement_chunk SET applied = false "
                    "WHERE workspace_id = %(workspace_id)s AND digest = %(digest)s AND applied",
                    text,
                )
            if not found and attempts >= MOST_ATTEMPTS:
                await connection.execute(
                    "UPDATE refinement_result SET state = 'failed' "
                    "WHERE workspace_id = %(workspace_id)s AND digest = %(digest)s",
                    text,
                )
            await connection.execute(QUERIES["queue_settled"], text)

    async def claim_queued(self, lease_seconds: float) -> Queued | None:
        """The document that waits longest; each further attempt leases it for longer."""
        async with self.database.system() as connection, connection.cursor(row_factory=class_row(Queued)) as cursor:
            await cursor.execute(QUERIES["claim_queued"], {"seconds": lease_seconds})
            return await cursor.fetchone()

    async def finish_queued(self, queued: Queued) -> None:
        """Unless it was asked for again meanwhile: then it is to be done at once."""
        document = {"workspace_id": queued.workspace_id, "document_id": queued.document_id}
        async with self.database.workspace(queued.workspace_id) as connection:
            await connection.execute(QUERIES["finish_queued"], {**document, "sequence": queued.sequence})
            await connection.execute(
                "UPDATE refinement_queue SET available_at = now(), attempts = 0 "
                "WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s",
                document,
            )

    async def is_unapplied(self, workspace_id: UUID, document_id: UUID) -> bool:
        """Whether the document's graph holds other results than there are."""
        values = {"workspace_id": workspace_id, "document_id": document_id}
        async with self.database.workspace(workspace_id) as connection:
            cursor = await connection.execute(QUERIES["is_unapplied"], values)
            return bool((await cursor.fetchone() or (False,))[0])


def _leased(run: ClaimedRun) -> dict[str, object]:
    return {"workspace_id": run.workspace_id, "id": run.id, "lease_token": run.lease_token}
