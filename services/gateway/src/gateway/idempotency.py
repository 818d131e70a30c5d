"""Creates that may be sent twice: the second is told what the first was told.

One row per caller's key and Idempotency-Key, written in the transaction of the create: a second request that comes at
the same time waits for the first one's commit.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar
from uuid import UUID, uuid4

from psycopg.rows import dict_row
from psycopg.types.json import Jsonb
from pydantic import BaseModel

from contracts.base import Resource
from gateway.errors import IdempotencyKeyReused
from service_kit.postgres import Connection, Database
from service_kit.queries import load

LIFETIME = timedelta(hours=24)
SQL = load("gateway")
R = TypeVar("R", bound=Resource)


@dataclass(frozen=True)
class Attempt:
    """One sending of a create. `key` is None when the caller gave no Idempotency-Key: then nothing is remembered."""

    api_key_id: UUID
    key: str | None
    path: str
    body: BaseModel

    @property
    def request_sha256(self) -> bytes:
        return hashlib.sha256(f"{self.path}\n{self.body.model_dump_json()}".encode()).digest()


async def once(
    connection: Connection,
    workspace_id: UUID,
    attempt: Attempt,
    kind: type[R],
    create: Callable[[UUID], Awaitable[R]],
) -> R:
    """`create`, given a new id, unless this attempt was made before; raises IdempotencyKeyReused for another body."""
    if attempt.key is None:
        return await create(uuid4())
    values: dict[str, Any] = {
        "workspace_id": workspace_id,
        "api_key_id": attempt.api_key_id,
        "idempotency_key": attempt.key,
        "request_sha256": attempt.request_sha256,
        "lifetime": LIFETIME,
    }
    claimed = await (await connection.execute(SQL["claim_idempotency_key"], values)).fetchone()
    if claimed:
        answer = await create(uuid4())
        await connection.execute(SQL["keep_answer"], values | {"answer": Jsonb(answer.model_dump(mode="json"))})
        return answer
    async with connection.cursor(row_factory=dict_row) as cursor:
        stored = await (await cursor.execute(SQL["read_answer"], values)).fetchone()
    if stored is None or bytes(stored["request_sha256"]) != attempt.request_sha256:
        raise IdempotencyKeyReused
    return kind.model_validate(stored["answer"])


async def forget_expired(database: Database) -> None:
    """Removes what no caller can ask for again."""
    async with database.system() as connection:
        await connection.execute("DELETE FROM idempotent_create WHERE created_at < now() - %s", (LIFETIME,))
