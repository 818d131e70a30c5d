"""Upgrade of documents from before their sources were stored with them: other services are informed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import psycopg
import pytest

import service_kit.migrate
from contracts.events import DOCUMENTS, DocumentDescribed, Event

BEFORE = "ingestion/0006_origins_of_sources.sql"
SOURCES = "ingestion/0007_sources_of_documents.sql"
DOCUMENT = """
    INSERT INTO document (workspace_id, id, name, media_type, file_size, content_hash, chunk_count, status, authors,
                          pages, source_type, source_name, source_path, written_at)
    VALUES (%s, %s, 'a.md', 'text/markdown', 7, %s, %s, %s, '{Ada}', 3, 'folder', 'Notes', 'x/a.md', '2024-05-01Z')
"""
ORIGIN = """
    INSERT INTO origin (workspace_id, id, kind, source_id, path, name, document_id)
    VALUES (%s, gen_random_uuid(), 'folder', %s, %s, 'a.md', %s)
"""
SOURCE = """
    INSERT INTO source (workspace_id, id, name, kind, config, on_removed)
    VALUES (%s, %s, 'Notes', 'folder', '{}', 'delete')
"""


def _without_later(than: str, migrations: Iterator[tuple[str, str]]) -> list[tuple[str, str]]:
    return [one for one in migrations if not one[0].startswith("ingestion/") or one[0] <= than]


async def test_every_converted_document_is_republished(make_database: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    every = service_kit.migrate.migrations
    with monkeypatch.context() as before:
        before.setattr(service_kit.migrate, "migrations", lambda package: _without_later(BEFORE, every(package)))
        urls = make_database("ingestion")
    workspace, sources = uuid4(), sorted([uuid4(), uuid4()])
    told, converting, deleting = uuid4(), uuid4(), uuid4()
    with psycopg.connect(urls.admin) as connection:
        connection.execute("SET search_path = ingestion, public")
        for document, chunks, status in (
            (told, 2, "searchable"),
            (converting, None, "processing"),
            (deleting, 1, "deleting"),
        ):
            connection.execute(DOCUMENT, (workspace, document, document.hex, chunks, status))
        for number, source in enumerate(sources):
            connection.execute(SOURCE, (workspace, source))
            connection.execute(ORIGIN, (workspace, source, str(number), told))
        connection.execute("DELETE FROM outbox")
    monkeypatch.setattr(service_kit.migrate, "migrations", lambda package: _without_later(SOURCES, every(package)))
    assert service_kit.migrate.migrate(urls.admin, urls.service, "ingestion", "ingestion") == [SOURCES]
    with psycopg.connect(urls.admin) as connection:
        connection.execute("SET search_path = ingestion, public")
        ((stream, data),) = connection.execute("SELECT stream, event FROM outbox").fetchall()
        kept = connection.execute("SELECT source_ids FROM document WHERE id = %s", (told,)).fetchone()
    event = Event.model_validate(data)
    described = DocumentDescribed.model_validate(event.data)
    assert (stream, event.type, event.workspace_id) == (DOCUMENTS, DocumentDescribed.event_type, workspace)
    assert (described.document_id, described.source_ids, described.source_type) == (told, sources, "folder")
    assert described.metadata == {
        "authors": ["Ada"],
        "pages": 3,
        "file_size": 7,
        "source": {"name": "Notes", "path": "x/a.md"},
    }
    assert described.written_at is not None
    assert kept == (sources,)
