"""Synchronising a folder of 10,000 files in which nothing has changed."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import psycopg

FILES = 10_000


def known(documents: Path, workspace_id: UUID, source_id: str, url: str) -> None:
    """Inserts origins as if all files had been taken in."""
    made, places = [], []
    for number in range(FILES):
        path = documents / f"{number:05}.md"
        path.write_text(f"text {number}")
        state, digest, document_id = path.stat(), hashlib.sha256(b"text %d" % number).hexdigest(), uuid4()
        fingerprint = f"{state.st_size}-{state.st_mtime_ns}-{state.st_ino}"
        made.append((workspace_id, document_id, path.name, "text/markdown", state.st_size, digest, "searchable"))
        places.append(
            (workspace_id, uuid4(), "folder", source_id, path.name, path.name, document_id, fingerprint, digest)
        )
    with psycopg.connect(url) as connection, connection.cursor() as cursor:
        columns = "workspace_id, id, name, media_type, file_size, content_hash, status"
        with cursor.copy(f"COPY ingestion.document ({columns}) FROM STDIN") as copy:
            for row in made:
                copy.write_row(row)
        columns = "workspace_id, id, kind, source_id, path, name, document_id, fingerprint, content_hash"
        with cursor.copy(f"COPY ingestion.origin ({columns}) FROM STDIN") as copy:
            for row in places:
                copy.write_row(row)


async def test_an_unchanged_large_folder_is_compared_without_reading_files(
    make_source: Callable[..., Awaitable[Any]], documents: Path, workspace_id: UUID, database: Any
) -> None:
    source = await make_source()
    known(documents, workspace_id, source.id, database.admin)
    for _ in range(2):
        sync = await source.sync()
        assert (sync["status"], sync["unchanged"], sync["seen"], sync["bytes"]) == ("succeeded", FILES, FILES, 0)
    with psycopg.connect(database.admin) as connection:
        row = connection.execute("SELECT count(*) FROM ingestion.document_stage").fetchone()
    assert row == (0,)
