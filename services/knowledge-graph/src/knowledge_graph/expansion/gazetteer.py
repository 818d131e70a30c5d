"""The names of workspaces in memory, so that linking a text takes no statement. Each copy is of one generation."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from array import array
from bisect import bisect_left
from collections import OrderedDict
from dataclasses import dataclass
from uuid import UUID

from psycopg.errors import QueryCanceled

from knowledge_graph.graph_store import StoredEntity
from knowledge_graph.recording.generation import Generations
from service_kit.repository import Repository
from service_kit.statements import Statements

MOST_BYTES = 64 << 20
MOST_NAMES = MOST_BYTES // 200
"""Workspaces with more names are not read: they would hardly fit."""
BYTES_OF_A_COPY = 1_000
"""What a copy takes besides its names."""
RESTS = 20
"""A workspace that changes all the time is read again after this many times the duration of its last reading."""
READING = {"statement_timeout": "30s", "work_mem": "64MB", "jit": "off"}
MOST_MEANINGS = 3


class GazetteerSql(Statements, file="gazetteer.sql"):
    count_names: str
    count_chunks: str
    all_names: str


@dataclass(frozen=True)
class NamedEntity(StoredEntity):
    """An entity that a name may stand for: it has this name, or `uses` mentions spelled so."""

    uses: int
    is_exact: bool


@dataclass(frozen=True)
class _Stored:
    starts: bytes
    ends: bytes
    rows: bytes


class Gazetteer:
    """The names of a workspace at `generation`, and the number of its `chunks`. It is read until the time `due`.

    Names are sorted by their ids (`entity_id` of the key), whose first 64 bits are in `starts`; the entities of one are
    JSON that ends in `rows` at its number in `ends`.
    """

    def __init__(self, generation: str, chunks: int, starts: bytes, ends: bytes, rows: bytes) -> None:
        self.generation, self.chunks, self.rows, self.due = generation, chunks, rows, 0.0
        self.starts, self.ends = _numbers(starts), _numbers(ends)
        self.nbytes = len(starts) + len(ends) + len(rows) + BYTES_OF_A_COPY

    def entities(self, name_id: str) -> list[NamedEntity]:
        """Returns the entities that the name may stand for, most likely first."""
        try:
            start = int(name_id[:16], 16)
        except ValueError:
            return []  # a caller's id that is none
        at = bisect_left(self.starts, start)
        while at < len(self.starts) and self.starts[at] == start:
            known, found = json.loads(self.rows[self.ends[at - 1] if at else 0 : self.ends[at]])
            if known == name_id:
                return [NamedEntity(*one) for one in found]
            at += 1
        return []


class Gazetteers:
    """Copies of the names of the workspaces searched last, up to `most_bytes`."""

    def __init__(self, generations: Generations, most_bytes: int = MOST_BYTES) -> None:
        self.generations, self.most_bytes = generations, most_bytes
        self._kept: OrderedDict[UUID, Gazetteer] = OrderedDict()
        self._wanted: dict[UUID, None] = {}
        self._is_wanted = asyncio.Event()

    @property
    def nbytes(self) -> int:
        return sum(one.nbytes for one in self._kept.values())

    def of(self, workspace_id: UUID, generation: str) -> Gazetteer | None:
        """Returns the copy of this generation; without one, returns None and has `run` read it."""
        kept = self._kept.get(workspace_id)
        if kept is not None and kept.generation == generation:
            self._kept.move_to_end(workspace_id)
            return kept
        if kept is None or time.monotonic() >= kept.due:
            self._wanted[workspace_id] = None
            self._is_wanted.set()
        return None

    async def run(self) -> None:
        """Reads the names that are wanted, one workspace after the other, until cancelled."""
        while True:
            await self._is_wanted.wait()
            self._is_wanted.clear()
            while self._wanted:
                await self.fill(self._wanted.popitem()[0])

    async def fill(self, workspace_id: UUID) -> None:
        """Reads the names of a workspace; none if they are too many."""
        start = time.monotonic()
        try:
            found = await self._read(workspace_id)
        except QueryCanceled:
            found = None
        kept = found or Gazetteer("", 0, b"", b"", b"")
        kept.due = time.monotonic() + RESTS * (time.monotonic() - start)
        self._kept[workspace_id] = kept
        self._kept.move_to_end(workspace_id)
        while self.nbytes > self.most_bytes and len(self._kept) > 1:
            self._kept.popitem(last=False)

    async def _read(self, workspace_id: UUID) -> Gazetteer | None:
        async with self.generations.snapshot(workspace_id, READING) as (connection, generation):
            rows = Repository(connection, workspace_id)
            if int(await rows.value(GazetteerSql.count_names)) > MOST_NAMES:
                return None
            chunks = int(await rows.value(GazetteerSql.count_chunks))
            found = await rows.one(GazetteerSql.all_names, _Stored, most=MOST_MEANINGS)
        assert found is not None
        read = Gazetteer(generation, chunks, found.starts, found.ends, found.rows)
        return read if read.nbytes <= self.most_bytes else None


def _numbers(big_endian: bytes) -> array[int]:
    numbers = array("Q", big_endian)
    if sys.byteorder == "little":
        numbers.byteswap()
    return numbers
