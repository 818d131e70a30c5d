"""What every candidate of a search is compared by, in one statement: its words, its document's title, its vector."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Sequence
from typing import NamedTuple

from inference.embedders import SpaceKey
from relevance.wordpieces import Pieces, separated
from retrieval.reading.arrays import array_text
from retrieval.reading.known_rows import KnownRows
from retrieval.reading.reader import IndexReader, ReadingSql
from retrieval.reading.vectors import Halves, from_binary


class CandidateRow(NamedTuple):
    """A chunk's distinct `pieces`, rising, or its `text` if none are stored; the terms of its document's `title`; its
    `vector` of about unit length, None if it has none in the space.
    """

    pieces: Pieces | None
    text: str | None
    title: Collection[str]
    vector: Halves | None


class CandidateRows:
    """The rows of one search's candidates, with vectors in `space`. `known` has what earlier searches read in the same
    `state` of the index.
    """

    def __init__(
        self, reader: IndexReader, state: Hashable, space: SpaceKey, known: KnownRows[int, CandidateRow]
    ) -> None:
        self.reader, self.space, self.known = reader, space, known
        self.state = (reader.workspace_id, state, space)

    async def of(self, chunks: Sequence[int]) -> dict[int, CandidateRow]:
        """Returns rows by chunk; chunks that do not exist are left out."""
        found = await self.known.find(self.state, chunks, self._read)
        return {chunk: row for chunk, rows in found.items() for row in rows}

    async def _read(self, chunks: Sequence[int]) -> Iterable[tuple[int, CandidateRow]]:
        values = {"chunks": array_text(chunks), "model": self.space[0], "dims": self.space[1]}
        rows = await (await self.reader.execute(ReadingSql.candidate_rows, values, binary=True)).fetchall()
        pieces = iter(separated([row[1] for row in rows if row[1] is not None]))
        return [
            (
                number,
                CandidateRow(
                    None if stored is None else next(pieces),
                    text,
                    title or (),
                    None if vector is None else from_binary(vector),
                ),
            )
            for number, stored, text, title, vector in rows
        ]
