"""Storage for 1,000 versions of a 50 kB artifact, and the time to compare and undo, in the service."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlsplit, urlunsplit
from uuid import UUID, uuid4

import psycopg
from benchmarks.figures import Row, spread

from contracts.artifacts import ArtifactPut
from contracts.gateway import Role
from embedded.engines import Engines
from orchestrator.artifacts.editing import ArtifactEditing
from orchestrator.sessions.repository import CallerSessions
from service_kit.auth import Principal
from service_kit.migrate import migrate
from service_kit.postgres import Database

VERSIONS, CHARACTERS, ASKED = 1_000, 50_000, 200
STORED = "SELECT count(*), sum(length(body)) FROM artifact_version"
ON_DISK = "SELECT pg_total_relation_size('artifact_version')"


async def artifact_versions() -> list[Row]:
    """Measures versions that each reword one sentence of the previous one."""
    caller = Principal(uuid4(), uuid4(), Role.viewer)
    with Engines.temporary() as engines:
        admin = engines.admin_database_url
        place = urlsplit(admin)
        login = f"attractor_orchestrator:benchmark@{place.netloc.rpartition('@')[2]}"
        service = urlunsplit(place._replace(netloc=login))
        migrate(admin, service, "orchestrator", "orchestrator")
        async with Database(service).opened() as database:
            using: Any = ArtifactEditing(database, None, None)  # type: ignore[arg-type]  # neither is asked here
            session_id = await written(database, using, caller)
            chosen = random.Random(7)
            pairs = [(chosen.randint(1, VERSIONS), chosen.randint(1, VERSIONS)) for _ in range(ASKED)]
            compared = [await timed(using.compare, caller, session_id, *pair) for pair in pairs]
            undone = [await timed(using.undo, caller, session_id, None) for _ in range(ASKED)]
        with psycopg.connect(admin, options="-c search_path=orchestrator,public") as connection:
            count, stored = connection.execute(STORED).fetchone() or (0, 0)
            [on_disk] = connection.execute(ON_DISK).fetchone() or (0,)
    return [
        (f"{count:,} versions of 50 kB: bytes of their texts; of the table", f"{stored:,}; {on_disk:,}", "below 50 MB"),
        ("two versions compared, any two of them", spread(compared), "p95 50 ms"),
        ("undo", spread(undone), "p95 50 ms"),
    ]


async def written(database: Database, using: ArtifactEditing, caller: Principal) -> UUID:
    chosen = random.Random(7)
    words = [f"w{number}" for number in range(5_000)]

    def sentence() -> str:
        return " ".join(chosen.choices(words, k=15)).capitalize() + chosen.choice([". ", ".\n", ".\n\n"])

    sentences: list[str] = []
    while sum(map(len, sentences)) < CHARACTERS:
        sentences.append(sentence())
    async with database.workspace(caller.workspace_id) as connection:
        session = await CallerSessions(connection, caller).create(None, None)
    for _ in range(VERSIONS):
        sentences[chosen.randrange(len(sentences))] = sentence()
        await using.put(caller, session.id, ArtifactPut(text="".join(sentences)), None)
    return session.id


async def timed(work: Callable[..., Awaitable[object]], *arguments: object) -> float:
    start = time.perf_counter()
    await work(*arguments)
    return time.perf_counter() - start


if __name__ == "__main__":
    for row in asyncio.run(artifact_versions()):
        print(*row, sep="  ")
