"""Resolves the workspace's names: which entity each stands for, and which words are mentions of it.

A name that documents state as an alias of exactly one other name is merged into it. Chains are followed; a cycle is the
entity with the smallest id. Words in earlier chunks become mentions when another document makes them a name, and stop
being mentions when that document goes. The result depends only on the set of statements, never on their order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from uuid import UUID

from knowledge_graph.recording.changes import Changes, Use
from knowledge_graph.recording.rows import CountedHash, DocumentNames, candidate_hash
from service_kit.repository import Repository
from service_kit.statements import Statements

MOST_CHUNKS = 1_000
"""Words that could be a name in more chunks than this are ordinary words: only mentions found as such count."""


@dataclass(frozen=True)
class AliasEdge:
    alias_id: str
    target_id: str
    targets: int


@dataclass(frozen=True)
class MovedName:
    """A name `id` that stood for the entity `old_id` until now."""

    id: str
    old_id: str
    new_id: str


@dataclass(frozen=True)
class KnownName:
    id: str
    hash: int
    entity_id: str
    own: int
    evidence: int
    is_known: bool
    is_widespread: bool
    is_alive: bool


@dataclass(frozen=True)
class NameSpread:
    id: str
    hash: int
    chunks: int


@dataclass(frozen=True)
class NameMark:
    """The new marks of a name."""

    hash: int
    is_known: bool
    chunks: int

    @property
    def is_widespread(self) -> bool:
        return self.chunks > MOST_CHUNKS


@dataclass(frozen=True)
class CandidateChunk:
    document_id: UUID
    first_number: int


@dataclass(frozen=True)
class MatchedCandidate:
    document_id: UUID
    entity_id: str
    surface: str
    surface_key: str
    uses: int


@dataclass(frozen=True)
class MovedMention:
    document_id: UUID
    old_id: str
    new_id: str


@dataclass(frozen=True)
class RelatedPair:
    source_id: str
    target_id: str


def resolve(name: str, edges: Mapping[str, str]) -> str:
    """Returns the entity that a name stands for, by following the edges."""
    seen: dict[str, int] = {}
    while name in edges and name not in seen:
        seen[name] = len(seen)
        name = edges[name]
    if name in seen:
        return min(one for one, place in seen.items() if place >= seen[name])
    return name


class NameSql(Statements, file="names.sql"):
    write: str
    of_entities: str
    count_known: str
    mark: str
    chunks_to_match: str
    match_candidates: str
    aliases: str
    alias_edges: str
    resolve: str
    move_mentions: str
    move_evidence: str
    entity_ids: str
    count_candidates: str
    delete: str


class Names(Repository):
    """The names of a workspace; `changes` collects what sums and projection must apply."""

    async def write(self, old: DocumentNames, new: DocumentNames) -> set[str]:
        """Writes the difference between a document's old and new names; returns the names that changed."""
        changed = sorted(
            name
            for name in old.keys.keys() | new.keys.keys()
            if old.own[name] != new.own[name] or old.evidence[name] != new.evidence[name]
        )
        keys = old.keys | new.keys
        await self.run(
            NameSql.write,
            ids=changed,
            hashes=[candidate_hash(self.workspace_id, name) for name in changed],
            name_keys=[keys[name] for name in changed],
            owns=[new.own[name] - old.own[name] for name in changed],
            evidences=[new.evidence[name] - old.evidence[name] for name in changed],
        )
        return set(changed)

    async def follow_aliases(self, aliases: Iterable[str], changes: Changes) -> list[MovedName]:
        """Moves the names that stand for another entity after statements about `aliases` changed; returns them.

        Their mentions and evidence move along in all documents.
        """
        names = await self._behind(set(aliases))
        edges = await self._edges(names)
        resolved = {name: resolve(name, edges) for name in names}
        moved = await self.all(NameSql.resolve, MovedName, ids=list(resolved), entity_ids=list(resolved.values()))
        if moved:
            await self._move(moved, changes)
        return moved

    async def follow_candidates(
        self, changed: set[str], moved: list[MovedName], spread: Counter[int], changes: Changes
    ) -> None:
        """Makes the candidates of known names mentions, and no others.

        `changed` and `moved` are names; `spread` is the change in the number of chunks with candidates, by hash.
        """
        marks = await self._respread(spread)
        entities = {entity for one in moved for entity in (one.old_id, one.new_id)}
        entities |= set(await self.values(NameSql.entity_ids, ids=sorted(changed)))
        names = await self.all(NameSql.of_entities, KnownName, ids=sorted(entities))
        turned = [one for one in names if one.is_known != one.is_alive]
        counts = await self._count([one.hash for one in turned if one.is_alive])
        marks |= {one.id: NameMark(one.hash, one.is_alive, counts.get(one.hash, 0)) for one in turned}
        await self._mark(marks)
        # Names without mentions before and after can be skipped, however many chunks they are in.
        idle = {one.hash for one in turned if (one.is_widespread if one.is_known else marks[one.id].is_widespread)}
        await self._rematch([one.hash for one in marks.values() if one.hash not in idle], changes)
        await self.run(NameSql.delete, ids=[one.id for one in names if one.own == 0 and one.evidence == 0])

    async def _behind(self, names: set[str]) -> set[str]:
        """Returns the names and all their stated aliases, followed to the end."""
        frontier = found = names
        while frontier:
            frontier = set(await self.values(NameSql.aliases, ids=sorted(frontier))) - found
            found = found | frontier
        return found

    async def _edges(self, names: set[str]) -> dict[str, str]:
        """Returns the unambiguous aliases on the way from the names to their entities."""
        edges: dict[str, str] = {}
        frontier, seen = names, set(names)
        while frontier:
            found = await self.all(NameSql.alias_edges, AliasEdge, ids=sorted(frontier))
            edges |= {one.alias_id: one.target_id for one in found if one.targets == 1}
            frontier = {one.target_id for one in found if one.targets == 1} - seen
            seen |= frontier
        return edges

    async def _move(self, moved: list[MovedName], changes: Changes) -> None:
        olds = [one.old_id for one in moved]
        values = {"ids": [one.id for one in moved], "olds": olds, "news": [one.new_id for one in moved]}
        changes.recounted |= {entity for one in moved for entity in (one.old_id, one.new_id)}
        for mention in await self.all(NameSql.move_mentions, MovedMention, **values):
            changes.mentioned |= {(mention.old_id, mention.document_id), (mention.new_id, mention.document_id)}
        pairs = await self.all(NameSql.move_evidence, RelatedPair, olds=olds)
        changes.resummed |= {(one.source_id, one.target_id) for one in pairs}

    async def _respread(self, spread: Counter[int]) -> dict[str, NameMark]:
        """Returns the marks of known names that have become widespread, or no longer are."""
        changed = [hashed for hashed, chunks in spread.items() if chunks]
        chunks = [spread[hashed] for hashed in changed]
        found = await self.all(NameSql.count_known, NameSpread, hashes=changed, chunks=chunks, most=MOST_CHUNKS)
        return {one.id: NameMark(one.hash, True, one.chunks) for one in found}

    async def _count(self, hashes: list[int]) -> dict[int, int]:
        if not hashes:
            return {}
        found = await self.all(NameSql.count_candidates, CountedHash, hashes=hashes)
        return {one.hash: one.chunks for one in found}

    async def _mark(self, marks: dict[str, NameMark]) -> None:
        if marks:
            await self.run(
                NameSql.mark,
                ids=list(marks),
                knowns=[one.is_known for one in marks.values()],
                chunks=[one.chunks for one in marks.values()],
                widespreads=[one.is_widespread for one in marks.values()],
            )

    async def _rematch(self, hashes: list[int], changes: Changes) -> None:
        """Matches the documents' own chunks, and all chunks with candidates of these names."""
        values = {"document_ids": list(changes.document_ids), "hashes": hashes}
        chunks = await self.all(NameSql.chunks_to_match, CandidateChunk, **values)
        if not chunks:
            return
        found = await self.all(
            NameSql.match_candidates,
            MatchedCandidate,
            document_ids=[one.document_id for one in chunks],
            first_numbers=[one.first_number for one in chunks],
        )
        own = set(changes.document_ids)
        for one in found:
            if one.document_id in own:
                changes.use(Use(one.entity_id, one.surface, "", one.surface_key, one.uses))
                changes.mentioned_after.add((one.entity_id, one.document_id))
            else:
                changes.recounted.add(one.entity_id)
                changes.mentioned.add((one.entity_id, one.document_id))
