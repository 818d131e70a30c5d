"""An index with a synthetic corpus, loaded, compacted and built as by the service, with the time for each."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
from benchmarks.corpus_loading import SPACE, compaction, load
from benchmarks.figures import Row
from benchmarks.synthetic_corpus import Corpus

from embedded.engines import Engines, postgres
from service_kit.migrate import migrate
from service_kit.postgres import Database

LOADED_LATE = 0.05  # share of the documents that is loaded with the HNSW index in place
LARGE = 500_000  # chunks; from here on the server gets more memory, as an operator would configure it
MEMORY_OF_LARGE = {"shared_buffers": "4GB", "maintenance_work_mem": "4GB", "max_wal_size": "8GB"}
SIZES = """
    SELECT coalesce(of.relname, relation.relname) AS table_name, relation.relname,
           CASE relation.relkind WHEN 'i' THEN coalesce(am.amname, 'index') ELSE 'table' END,
           pg_relation_size(relation.oid) + CASE WHEN relation.relkind = 'r'
               THEN coalesce(pg_total_relation_size(nullif(relation.reltoastrelid, 0)), 0)
                    + pg_relation_size(relation.oid, 'vm') + pg_relation_size(relation.oid, 'fsm') ELSE 0 END AS bytes
    FROM pg_class AS relation
    JOIN pg_namespace ON pg_namespace.oid = relation.relnamespace AND nspname = 'retrieval'
    LEFT JOIN pg_index ON indexrelid = relation.oid
    LEFT JOIN pg_class AS of ON of.oid = indrelid
    LEFT JOIN pg_am AS am ON am.oid = relation.relam
    WHERE relation.relkind IN ('r', 'i')
    ORDER BY 1, 4 DESC
"""
NOT_PER_CHUNK = {"outbox", "handled_event"}  # rows about the loading, deleted after some days


@dataclass(frozen=True)
class LoadedIndex:
    """A loaded index; both URLs are of the same database, and `rows` hold the loading times once it is done."""

    engines: Engines
    corpus: Corpus
    folder: Path
    admin_url: str
    service_url: str
    rows: list[Row]

    @classmethod
    @contextmanager
    def opened(cls, folder: Path, chunks: int, consumers: int) -> Iterator[LoadedIndex]:
        """Loads what is missing; the folder can be reopened."""
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o711)
        if chunks >= LARGE:
            postgres.SETTINGS.update(MEMORY_OF_LARGE)
        with Engines.start(folder / "engines") as engines:
            admin = engines.admin_database_url
            parts = urlsplit(admin)
            service = f"attractor_retrieval:benchmark@{parts.hostname}:{parts.port}"
            index = cls(engines, Corpus(chunks), folder, admin, urlunsplit(parts._replace(netloc=service)), [])
            migrate(index.admin_url, index.service_url, "retrieval", "retrieval")
            note = folder / "loaded.json"
            if not note.exists():
                note.write_text(json.dumps(index.load(consumers)))
            index.rows.extend((name, measured, aim) for name, measured, aim in json.loads(note.read_text()))
            yield index

    def load(self, consumers: int) -> list[Row]:
        """Loads most of the corpus without the approximate index, builds it, and loads the rest."""
        late = len(self.corpus) - max(1, int(LOADED_LATE * len(self.corpus)))
        count, rate = load(self.service_url, self.corpus.wanted, 0, late, consumers)
        folding = self._fold()
        building = self._build()
        with_index, slower = load(self.service_url, self.corpus.wanted, late, len(self.corpus), consumers)
        self._fold()
        self._tidy()
        of = "1 consumer" if consumers == 1 else f"{consumers} consumers"
        return [
            (f"indexed without HNSW ({count} chunks, {of})", f"{rate:.0f} chunks/s", ""),
            (f"indexed with HNSW kept ({with_index} chunks, {of})", f"{slower:.0f} chunks/s", ""),
            ("postings left to be folded into blocks", f"{folding:.1f} s", ""),
            (f"HNSW built ({count} chunks)", f"{building:.0f} s", ""),
        ]

    def sizes(self) -> list[Row]:
        """Returns bytes per chunk of every table and index, after the vacuum that the server would run eventually."""
        with psycopg.connect(self.admin_url) as connection:
            found = connection.execute(SIZES).fetchall()
        chunks = self.corpus.chunks
        kept = [(table, name, kind, size) for table, name, kind, size in found if table not in NOT_PER_CHUNK]
        rows = [("bytes per chunk on disk, text included", f"{sum(row[3] for row in kept) / chunks:.0f}", "4000")]
        for table, name, kind, size in kept:
            if size / chunks >= 1:
                part = "" if kind == "table" else f", {kind} {name}"
                rows.append((f"  {table}{part}", f"{size / chunks:.0f}", ""))
        return rows

    def _build(self) -> float:
        began = time.perf_counter()
        with psycopg.connect(self.admin_url, autocommit=True) as connection:
            connection.execute("SET search_path TO retrieval, public")
            connection.execute(f"SET max_parallel_maintenance_workers = {max(1, (os.cpu_count() or 2) - 1)}")
            connection.execute("SELECT ensure_vector_index(%s, %s)", SPACE)
        return time.perf_counter() - began

    def _fold(self) -> float:
        """Compacts the postings that the consumers' own tasks left over."""

        async def fold() -> float:
            async with Database(self.service_url).opened() as database:
                began = time.perf_counter()
                await compaction(database).work_off()
                return time.perf_counter() - began

        return asyncio.run(fold())

    def _tidy(self) -> None:
        with psycopg.connect(self.admin_url, autocommit=True) as connection:
            connection.execute("SET search_path TO retrieval, public")
            connection.execute("DELETE FROM outbox")  # otherwise its relay would run during the searches
            connection.execute("VACUUM ANALYZE")
            connection.execute("CHECKPOINT")
