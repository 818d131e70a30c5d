"""What a new version of a document changes. No IO.

A chunk with the same text under the same headings keeps its number, and with it its vectors in every embedding space;
it keeps its postings too if the title, which every chunk is found by, and the language of the document are the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from contracts.ingestion import Chunk
from relevance.languages import ENGLISH


@dataclass(frozen=True)
class StoredChunk:
    """A chunk of the indexed version, with the number of its terms and of its postings.

    `embedded`: whether it has a vector in the space of the new version's vectors.
    """

    number: int
    chunk_id: str
    chunk_index: int
    heading_path: list[str]
    terms: int
    postings: int
    embedded: bool


@dataclass(frozen=True)
class Naming:
    """The names that a document's chunks are found by, and the rules by which its words become terms."""

    name: str
    title: str | None
    stemming: str = ENGLISH

    def of(self, chunk_index: int) -> list[str]:
        """Returns the names that a chunk is found by: the title, and for the first chunk the file's name too."""
        if self.title is None:
            return [self.name]
        return [self.title, self.name] if chunk_index == 0 else [self.title]


@dataclass(frozen=True)
class ChunkChanges:
    """Changes by position in the new version. `kept`: the number that a chunk already has.

    `posted` and `embedded` need postings and vectors; `reworded` are kept numbers whose old postings are deleted,
    `removed` are numbers of chunks that are deleted.
    """

    kept: dict[int, int]
    new: list[int]
    posted: list[int]
    embedded: list[int]
    reworded: list[int]
    removed: list[int]


def compare(
    stored: Sequence[StoredChunk], before: Naming | None, chunks: Sequence[Chunk], after: Naming
) -> ChunkChanges:
    """Compares a new version with the indexed one (`before` and `stored`; None and empty if there is none)."""
    known = {one.chunk_id: one for one in stored}
    changes = ChunkChanges({}, [], [], [], [], [])
    restemmed = before is not None and before.stemming != after.stemming
    for position, chunk in enumerate(chunks):
        same = known.pop(chunk.chunk_id, None)
        if same is None or before is None or same.heading_path != chunk.heading_path:
            changes.new.append(position)
            changes.posted.append(position)
            changes.embedded.append(position)
            continue
        changes.kept[position] = same.number
        if not same.embedded:
            changes.embedded.append(position)
        if restemmed or before.of(same.chunk_index) != after.of(chunk.chunk_index):
            changes.posted.append(position)
            changes.reworded.append(same.number)
    kept = set(changes.kept.values())
    changes.removed.extend(one.number for one in stored if one.number not in kept)
    return changes
