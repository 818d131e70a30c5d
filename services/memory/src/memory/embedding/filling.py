"""The background task that embeds memories without a vector of the configured model, one user after another."""

from __future__ import annotations

import logging
from dataclasses import asdict, dataclass
from uuid import UUID

from inference.errors import EmbeddingError
from memory.embedding.work import IDLE, TABLE, LeasedOwner
from memory.preparation import Preparation, SpokenText, said_in_context
from service_kit.notifications import Notifications
from service_kit.postgres import Database
from service_kit.repository import Repository
from service_kit.statements import Statements
from service_kit.work import WorkQueue
from service_kit.worker import Worker

log = logging.getLogger(__name__)
LEASE_SECONDS = 60.0
AT_ONCE = 32
RETRY_SECONDS = 10.0


class EmbeddingSql(Statements, file="embedding.sql"):
    lock_owner: str
    lacking: str
    fill: str


@dataclass(frozen=True)
class Lacking:
    """A memory without a vector of the model, and the message before it if it is a message."""

    id: UUID
    content: str
    speaker: str
    before_content: str | None
    before_speaker: str | None

    @property
    def in_context(self) -> str:
        before = None
        if self.before_content is not None:
            before = SpokenText(self.before_speaker or "", self.before_content)
        return said_in_context(SpokenText(self.speaker, self.content), before)


class EmbeddingFilling:
    """`worker` runs until cancelled. If the model is unavailable, a user's memories are retried later."""

    def __init__(self, database: Database, notifications: Notifications, preparation: Preparation) -> None:
        self.database, self.preparation = database, preparation
        self.model = preparation.embedder.space.model
        self.queue = WorkQueue(database, TABLE, LEASE_SECONDS)
        self.worker = Worker(self.queue, self.fill, notifications, 1, model=self.model)

    async def fill(self, owner: LeasedOwner) -> None:
        """Embeds the user's memories until none lacks a vector."""
        while await self._some(owner):
            pass

    async def _some(self, owner: LeasedOwner) -> bool:
        """Embeds a batch; returns whether there may be more. Raises LeaseLost."""
        async with self.database.workspace(owner.workspace_id) as connection:
            await self.queue.extend(connection, owner)
            rows = Repository(connection, owner.workspace_id)
            values = {"user_id": owner.user_id, "model": self.model, "limit": AT_ONCE}
            lacking = await rows.all(EmbeddingSql.lacking, Lacking, **values)
            if not lacking:
                await self.queue.finish(connection, owner, IDLE, model=self.model)
                return False
        try:
            filled = await self.preparation.embedded(
                [one.content for one in lacking], [one.in_context for one in lacking]
            )
        except EmbeddingError as error:
            log.warning(
                "memories not embedded yet; will retry", exc_info=error, extra={"workspace_id": str(owner.workspace_id)}
            )
            async with self.database.workspace(owner.workspace_id) as connection:
                await self.queue.release(connection, owner, delay_seconds=RETRY_SECONDS)
            return False
        async with self.database.workspace(owner.workspace_id) as connection:
            rows = Repository(connection, owner.workspace_id)
            await rows.value(EmbeddingSql.lock_owner, user_id=owner.user_id)
            await self.queue.extend(connection, owner)
            each = [
                {"id": one.id, "content": one.content, "user_id": owner.user_id, **asdict(prepared)}
                for one, prepared in zip(lacking, filled, strict=True)
            ]
            await rows.many(EmbeddingSql.fill, each)
        return True
