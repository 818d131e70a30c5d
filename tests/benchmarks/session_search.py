"""Latency of searching one user's sessions in the service, without HTTP."""

from __future__ import annotations

import asyncio
import random
import time
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import psycopg
from benchmarks.figures import Row, spread

from contracts.gateway import Role
from embedded.engines import Engines
from orchestrator.sessions.search import SessionTexts
from service_kit.auth import Principal
from service_kit.migrate import migrate
from service_kit.postgres import Database

SESSIONS, TURNS = 10_000, 5
SEARCHES, PAGE = 100, 20
VOCABULARY = 60_000
# Zipf-distributed words: the logarithm of the rank is uniform.
WORD = f"'w' || floor(exp(random() * ln({VOCABULARY})))::integer"
TEXT = f"(SELECT string_agg({WORD}, ' ') FROM generate_series(1, {{0}} + n * 0))"  # n: a new text per row
FILL = f"""
INSERT INTO session (workspace_id, id, created_by, title, created_at)
SELECT %(workspace_id)s, gen_random_uuid(), %(user_id)s, {TEXT.format(4)}, now() - n * interval '1 hour'
FROM generate_series(1, %(sessions)s) AS n;
INSERT INTO run (workspace_id, id, session_id, created_by, role, state, attempts_left, created_at)
SELECT %(workspace_id)s, gen_random_uuid(), session.id, %(user_id)s, 'viewer', 'completed', 1,
       session.created_at + n * interval '1 minute'
FROM session, generate_series(1, %(turns)s) AS n;
INSERT INTO message (workspace_id, id, session_id, run_id, role, content, created_at)
SELECT %(workspace_id)s, gen_random_uuid(), turn.session_id, turn.id, 'user', {TEXT.format(12)}, turn.created_at
FROM (SELECT *, attempts_left AS n FROM run) AS turn;
INSERT INTO message (workspace_id, id, session_id, run_id, role, content, created_at)
SELECT %(workspace_id)s, gen_random_uuid(), turn.session_id, turn.id, 'assistant', {TEXT.format(120)}, turn.created_at
FROM (SELECT *, attempts_left AS n FROM run) AS turn;
"""


async def session_search() -> list[Row]:
    """Searches for words of any frequency, single and in pairs, and for prefixes."""
    caller = Principal(uuid4(), uuid4(), Role.viewer)
    rows: list[Row] = []
    with Engines.temporary() as engines:
        admin = engines.admin_database_url
        place = urlsplit(admin)
        login = f"attractor_orchestrator:benchmark@{place.netloc.rpartition('@')[2]}"
        service = urlunsplit(place._replace(netloc=login))
        migrate(admin, service, "orchestrator", "orchestrator")
        with psycopg.connect(admin, autocommit=True, options="-c search_path=orchestrator,public") as connection:
            values = {"workspace_id": caller.workspace_id, "user_id": caller.user_id}
            for statement in FILL.strip().rstrip(";").split(";\n"):
                connection.execute(statement.encode(), {**values, "sessions": SESSIONS, "turns": TURNS})
            connection.execute("VACUUM ANALYZE")
        async with Database(service).opened() as database:
            for name, queries in searches(random.Random(7)).items():
                seconds = [await searched(database, caller, query) for query in queries]
                rows.append(
                    (f"search in {SESSIONS:,} sessions of {2 * TURNS} messages: {name}", spread(seconds), "p95 50 ms")
                )
    return rows


def searches(chosen: random.Random) -> dict[str, list[str]]:
    def word(lowest: int, highest: int) -> str:
        return f"w{chosen.randint(lowest, highest)}"

    return {
        "the most frequent words": [word(1, 20) for _ in range(SEARCHES)],
        "frequent words": [word(20, 500) for _ in range(SEARCHES)],
        "other words": [word(500, VOCABULARY) for _ in range(SEARCHES)],
        "two frequent words": [f"{word(1, 500)} {word(1, 500)}" for _ in range(SEARCHES)],
        "a word and the beginning of one": [f"{word(20, VOCABULARY)} {word(10, 99)}" for _ in range(SEARCHES)],
        "a word and its follower's first letter": [f"{word(20, VOCABULARY)} w" for _ in range(SEARCHES)],
        "no such word": [f"x{number}" for number in range(SEARCHES)],
    }


async def searched(database: Database, caller: Principal, query: str) -> float:
    start = time.perf_counter()
    async with database.workspace(caller.workspace_id) as connection:
        await SessionTexts(connection, caller).search(query, PAGE, None)
    return time.perf_counter() - start


if __name__ == "__main__":
    for row in asyncio.run(session_search()):
        print(*row, sep="  ")
