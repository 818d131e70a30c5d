"""The bridge method's reads: the provenance in PostgreSQL, in one transaction, every step bounded."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from uuid import UUID

from contracts.graph_expansion import ExpandedChunk, ExpandRequest, ExpandResponse, LinkedName, PathStep
from knowledge_graph.expansion.bridge import (
    MOST_ONWARD,
    Bridged,
    Lifted,
    Pair,
    QuestionName,
    Start,
    bridged,
    favoured,
    joined,
    least_gain,
    lifted,
    onward,
    pairs_with,
    starts,
    worth_reading,
)
from knowledge_graph.expansion.gazetteer import Gazetteers
from knowledge_graph.expansion.linking import Linked, asks, without_names
from knowledge_graph.expansion.partial_names import content_words, share_a_word
from knowledge_graph.expansion.provenance_reader import ProvenanceReader, Stated
from knowledge_graph.graph_store import StoredEntity

MOST_SEEDS = 8
MOST_STARTS = 100


class Bridging:
    """Links texts with the workspace's names, and follows bridges from those names."""

    def __init__(self, gazetteers: Gazetteers, statement_milliseconds: int = 2_000) -> None:
        self.gazetteers, self.statement_milliseconds = gazetteers, statement_milliseconds

    async def linked(self, workspace_id: UUID, query: str, names: Sequence[str]) -> tuple[list[Linked], str]:
        """Returns the known names of the query by position, after the known ones of `names` (at 0 to 0), and the
        graph's generation.
        """
        async with self._reading(workspace_id) as reading:
            return await reading.linked(query, names), reading.generation

    async def expand(self, workspace_id: UUID, request: ExpandRequest) -> ExpandResponse:
        """Expands by the `bridge` method; the response is empty if no name is known."""
        async with self._reading(workspace_id) as reading:
            linked = await self._linked(reading, request)
            residual = without_names(request.query or "", [one for one in linked if one.end])
            chunks = await self._chunks(reading, _question_names(linked), residual, request) if linked else []
        return ExpandResponse(
            entities=[one.to_contract() for one in entities(linked)],
            names=names_of(linked),
            residual=residual,
            chunks=chunks,
            store="postgres",
            generation=reading.generation,
        )

    @staticmethod
    async def _linked(reading: ProvenanceReader, request: ExpandRequest) -> list[Linked]:
        if request.names:
            return await reading.linked_before(request.names)
        found = await reading.linked(request.query or "", request.entities)
        # Chunks that share a concept are not about one thing: following them leads ordinary questions astray.
        return [one for one in found if not one.is_concept]

    async def _chunks(
        self, reading: ProvenanceReader, question_names: Sequence[QuestionName], residual: str, request: ExpandRequest
    ) -> list[ExpandedChunk]:
        named = await reading.places([one.entity_id for one in question_names])
        is_question = asks(request.query) if request.query else True
        found = [] if request.names else lifted(question_names, named, is_question=is_question)
        chunks = [_about(one) for one in found[: request.limit]]
        if request.max_hops == 0:
            return chunks
        seeds = {(one.document_id, one.chunk_id): one.score for one in request.seeds}
        if not seeds:
            seeds = {one.place: one.score / found[0].score for one in found[:MOST_SEEDS] if found[0].score}
        mentions = await reading.mentions(sorted(seeds))
        begun = starts(seeds, mentions, question_names, named, is_question=is_question)[:MOST_STARTS]
        asks_for = content_words(residual)
        pairs = pairs_with(begun, mentions) if asks_for else {}
        stated = await reading.stated(pairs)
        begun = favoured(begun, {pairs[pair] for pair, relations in stated.items() if states(relations, asks_for)})
        most = max(request.limit, MOST_ONWARD)
        ends = await best_ends(reading, begun, [], most)
        if request.max_hops > 1 and ends:
            known = {one.entity_id for one in question_names} | {one.mention.entity_id for one in begun}
            mentions = await reading.mentions([one.place for one in ends[:MOST_ONWARD]])
            further = onward(ends[:MOST_ONWARD], mentions, known)[:MOST_STARTS]
            ends = await best_ends(reading, further, ends, most)
        ends = ends[: request.limit]
        stated |= await reading.stated({one.pair for end in ends for one in end.start.way} - pairs.keys())
        return chunks + [_bridged(one, stated) for one in ends]

    @asynccontextmanager
    async def _reading(self, workspace_id: UUID) -> AsyncIterator[ProvenanceReader]:
        settings = {"statement_timeout": str(self.statement_milliseconds), "jit": "off"}
        async with self.gazetteers.generations.snapshot(workspace_id, settings) as (connection, generation):
            known = self.gazetteers.of(workspace_id, generation)
            yield ProvenanceReader(connection, workspace_id, generation, known)


async def best_ends(
    reading: ProvenanceReader, begun: Sequence[Start], known: Sequence[Bridged], most: int
) -> list[Bridged]:
    """Returns the best `most` of the known ends and the ends of these bridges.

    First reads the chunks about all names, then mentions only of those by which the best may change.
    """
    least = least_gain(known, most)
    begun = [one for one in begun if one.weight >= least]
    places = await reading.around(begun)
    ends = joined(known, bridged(begun, places))
    if more := worth_reading(begun, places, least_gain(ends, most)):
        await reading.add_mentions(places, more)
        ends = joined(known, bridged(begun, places))
    return ends[:most]


def states(relations: Sequence[Stated], asks_for: Collection[str]) -> bool:
    """Returns whether a relation shares a word with what is asked: "directed by" answers who the director is."""
    return any(share_a_word(content_words(f"{one.phrase} {one.relation_type}"), asks_for) for one in relations)


def entities(linked: Sequence[Linked]) -> list[StoredEntity]:
    """Returns each entity once, in the order of the names."""
    return list({one.entity.id: one.entity for name in linked for one in name.meanings}.values())


def names_of(linked: Sequence[Linked]) -> list[LinkedName]:
    return [
        LinkedName(start=name.start, end=name.end, entity_id=one.entity.id, share=round(one.share, 4))
        for name in linked
        for one in name.meanings
    ]


def _question_names(linked: Sequence[Linked]) -> list[QuestionName]:
    found: dict[str, QuestionName] = {}
    for name in linked:
        for one in name.meanings:
            if one.entity.id not in found or one.share > found[one.entity.id].share:
                found[one.entity.id] = QuestionName(one.entity.id, one.entity.name, one.entity.mentions, one.share)
    return list(found.values())


def _about(one: Lifted) -> ExpandedChunk:
    document_id, chunk_id = one.place
    return ExpandedChunk(
        chunk_id=chunk_id, document_id=document_id, hop=0, path=[one.name], score=round(one.score, 6), about=one.about
    )


def _bridged(one: Bridged, stated: Mapping[Pair, Sequence[Stated]]) -> ExpandedChunk:
    document_id, chunk_id = one.place
    steps = [_step(start, _surest(stated, start)) for start in one.start.way]
    return ExpandedChunk(
        chunk_id=chunk_id,
        document_id=document_id,
        hop=len(steps),
        path=[steps[0].source, *(step.target for step in steps)],
        score=round(one.gain, 6),
        steps=steps,
    )


def _surest(stated: Mapping[Pair, Sequence[Stated]], start: Start) -> Stated | None:
    return next(iter(stated.get(start.pair, ())), None)


def _step(start: Start, stated: Stated | None) -> PathStep:
    mention = start.mention
    relation = None if stated is None else stated.phrase or stated.relation_type.lower().replace("_", " ")
    span = (mention.sentence_start, mention.sentence_end)
    if stated is not None and stated.span_end:
        span = (stated.span_start, stated.span_end)
    return PathStep(
        source=start.source[1],
        target=mention.name,
        relation=relation,
        chunk_id=mention.chunk_id,
        document_id=mention.document_id,
        start=span[0],
        end=span[1],
    )
