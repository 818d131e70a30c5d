"""The union of what the legs found: every candidate with all features, whichever leg found it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from contracts.graph_expansion import GraphMethod
from contracts.retrieval import SearchMode
from relevance.soft_match import SoftMatcher
from retrieval.dense.leg import DenseLeg
from retrieval.graph.leg import GraphLeg
from retrieval.lexical.leg import LexicalLeg
from retrieval.lexical.postings import ORDINAL_BITS
from retrieval.lexical.search import WordFeatures
from retrieval.named.leg import NamedLeg
from retrieval.ranking import fusion
from retrieval.ranking.answerability import LOOKED_AT, match
from retrieval.ranking.fusion import Features
from retrieval.ranking.rule import RankingRule
from retrieval.reading.arrays import array_text
from retrieval.reading.leg import Leg
from retrieval.reading.reader import Cursor, IndexReader, ReadingSql

log = logging.getLogger(__name__)
Rows: TypeAlias = Sequence[tuple[Any, ...]]


@dataclass(frozen=True)
class Wording:
    """One wording of the query and its legs; a leg is None if the mode does not use it."""

    text: str
    lexical: LexicalLeg | None = None
    dense: DenseLeg | None = None

    @property
    def legs(self) -> list[Leg]:
        return [leg for leg in (self.lexical, self.dense) if leg is not None]

    def weight(self, text: str) -> float:
        """Returns the weight of a word; all are equal if the lexical leg did not run."""
        return self.lexical.weight(text) if self.lexical else 1.0


@dataclass
class Candidates:
    """Candidates by chunk. `scores` are those of the mode over all wordings, the others those of the query itself.

    `bm25` and `cosines` lack what could not be computed. `further` are the features for the other wordings, `words`
    those of the lexical leg for every wording.
    """

    rule: RankingRule
    scores: dict[int, float] = field(default_factory=dict)
    features: dict[int, Features] = field(default_factory=dict)
    bm25: dict[int, float] = field(default_factory=dict)
    cosines: dict[int, float] = field(default_factory=dict)
    further: list[dict[int, Features]] = field(default_factory=list)
    words: list[dict[int, WordFeatures]] = field(default_factory=list)
    read: Read | None = None

    def best(self, k: int) -> list[int]:
        """Returns the first `k`: those with the query's phrases first, then by score, then by number."""
        order = [(-self.features[chunk].phrases, -score, chunk) for chunk, score in self.scores.items()]
        return [chunk for _, _, chunk in sorted(order)[:k]]

    def matched(self, chunk: int) -> list[str]:
        """Returns the chunk's terms that are in any wording."""
        return list(dict.fromkeys(term for found in self.words if chunk in found for term in found[chunk].matched))

    def match(self, order: Sequence[int]) -> float:
        """Returns the probability that one of the first few hits answers the query, in any of its wordings."""
        words, vectors = bool(self.bm25), bool(self.cosines) and not self.rule.space.scaled
        every = [[found[chunk] for chunk in order[:LOOKED_AT] if chunk in found] for found in self._under]
        return max((match(hits, words=words, vectors=vectors) for hits in every), default=0.0)

    @property
    def _under(self) -> list[dict[int, Features]]:
        return [self.features, *self.further]


@dataclass(frozen=True)
class _Facts:
    """Title terms by document, and wordpieces by chunk, of chunks whose document exists."""

    titles: Mapping[int, Sequence[str]]
    pieces: Mapping[int, bytes]


@dataclass
class Measured:
    """The candidates as one wording scores them."""

    wording: Wording
    words: dict[int, WordFeatures]
    cosines: dict[int, float]
    features: dict[int, Features] = field(default_factory=dict)

    @property
    def bm25(self) -> dict[int, float]:
        return {chunk: found.score for chunk, found in self.words.items()}

    def add(self, other: Measured) -> None:
        self.words |= other.words
        self.cosines |= other.cosines
        self.features |= other.features


@dataclass
class Read:
    """What has been read about the candidates so far. It is all from one snapshot, so nothing is read again."""

    measured: list[Measured]
    residual: dict[int, float] = field(default_factory=dict)
    chunks: set[int] = field(default_factory=set)


async def collect(
    reader: IndexReader,
    rule: RankingRule,
    wordings: Sequence[Wording],
    graph: GraphLeg | None,
    named: NamedLeg | None,
    matcher: SoftMatcher,
    before: Candidates | None = None,
) -> Candidates:
    """Computes the exact features of every leg's chunks for the other legs, and scores the union by the rule.

    The first wording is the query itself: chunks that it excludes are not returned, whichever wording found them.
    `before` are the candidates collected earlier in the same search, when the legs had found fewer.
    """
    residual = graph.residual if graph else None
    further: list[Leg | None] = [graph, residual, named]
    legs = [leg for wording in wordings for leg in wording.legs] + [leg for leg in further if leg]
    union = sorted({one.chunk for leg in legs for one in leg.candidates})
    read = before.read if before and before.read else Read([Measured(one, {}, {}) for one in wordings])
    if missing := [chunk for chunk in union if chunk not in read.chunks]:
        await _read(reader, read, residual, missing, matcher)
    main = read.measured[0]
    union = [chunk for chunk in union if chunk in main.features]
    if not union:
        return Candidates(rule, read=read)
    measured = _with_graph(read, union, graph)
    _name(measured, named)
    main = measured[0]
    return Candidates(
        rule=rule,
        scores=_scores(rule, measured, union, graph),
        features=main.features,
        bm25={chunk: score for chunk, score in main.bm25.items() if chunk in main.features},
        cosines={chunk: score for chunk, score in main.cosines.items() if chunk in main.features},
        further=[one.features for one in measured[1:]],
        words=[one.words for one in measured],
        read=read,
    )


async def _read(
    reader: IndexReader, read: Read, residual: DenseLeg | None, missing: Sequence[int], matcher: SoftMatcher
) -> None:
    """Adds the features of these candidates, except the graph's; candidates that the query excludes get none."""
    measured, rows, titles, cosines = await _measured(reader, [one.wording for one in read.measured], residual, missing)
    excluded = {chunk for chunk, found in measured[0].words.items() if not found.admitted}
    facts = await _facts(rows, titles, matcher)
    left = [chunk for chunk in missing if chunk not in excluded and chunk in facts.pieces]
    if lost := len(set(missing) - facts.pieces.keys()):
        extra = {"workspace_id": str(reader.workspace_id), "chunks": lost}
        log.warning(
            "left out chunks without a document: the index was changed out of band",
            extra=extra,
        )
    if left:
        await asyncio.to_thread(_complete, measured, left, facts, matcher)
    for one, new in zip(read.measured, measured, strict=True):
        one.add(new)
    read.residual |= cosines
    read.chunks |= set(missing)


def _with_graph(read: Read, union: Sequence[int], graph: GraphLeg | None) -> list[Measured]:
    """Returns the union's features for every wording, with those of the graph in each."""
    evidence = graph.evidence if graph else {}
    residual = read.residual if graph and graph.residual else {}

    def features(own: dict[int, Features]) -> dict[int, Features]:
        found = {chunk: own[chunk] for chunk in union if chunk in own}
        if not evidence:
            return found
        for chunk, one in found.items():
            says, rest = evidence.get(chunk), residual.get(chunk, 0.0)
            if says or rest:
                link, bridge, near = (says.link, says.bridge, says.near) if says else (0.0, 0.0, 0.0)
                found[chunk] = replace(one, residual=rest, link=link, bridge=bridge, graph=near)
        return found

    return [replace(one, features=features(one.features)) for one in read.measured]


def _name(measured: Sequence[Measured], named: NamedLeg | None) -> None:
    """Marks the candidates whose documents the query names."""
    if named is None or not named.documents:
        return
    for one in measured:
        for chunk, features in one.features.items():
            if part := named.feature(chunk):
                one.features[chunk] = replace(features, named=part)


async def _measured(
    reader: IndexReader, wordings: Sequence[Wording], residual: DenseLeg | None, union: Sequence[int]
) -> tuple[list[Measured], Rows, Rows, dict[int, float]]:
    """Returns the words and cosines for each wording, the rows of facts and titles, and the cosines of the residual
    leg. The database works on the pipeline while the words are looked up here.
    """
    async with reader.connection.pipeline():
        facts = await reader.asked(ReadingSql.candidate_facts, {"chunks": array_text(union)}, binary=True)
        documents = sorted({chunk >> ORDINAL_BITS for chunk in union})
        titles = await reader.asked(ReadingSql.candidate_titles, {"documents": array_text(documents)}, binary=True)
        asked = [(wording, await _cosines_asked(reader, wording.dense, union)) for wording in wordings]
        rest = await _cosines_asked(reader, residual, union)
        words = [await wording.lexical.features(union) if wording.lexical else {} for wording in wordings]
        rows, titled = await facts.fetchall(), await titles.fetchall()
        cosines = [await _cosines(wording.dense, cursor) for wording, cursor in asked]
        remaining = await _cosines(residual, rest)
    return [Measured(*one) for one in zip(wordings, words, cosines, strict=True)], rows, titled, remaining


async def _cosines_asked(reader: IndexReader, dense: DenseLeg | None, union: Sequence[int]) -> Cursor | None:
    """Sends the query for the cosines of chunks that the leg did not find."""
    if dense is None or dense.embedder is None or dense.vector is None:
        return None
    found = {one.chunk for one in dense.found}
    missing = [chunk for chunk in union if chunk not in found]
    return await reader.cosines_asked(missing, dense.vector, dense.embedder.space) if missing else None


async def _cosines(dense: DenseLeg | None, missing: Cursor | None) -> dict[int, float]:
    """Returns cosines by chunk; none if the leg has no vector of the query."""
    if dense is None or dense.vector is None:
        return {}
    found = {one.chunk: one.score for one in dense.found}
    return found | dict(await missing.fetchall()) if missing else found


async def _facts(rows: Rows, titled: Rows, matcher: SoftMatcher) -> _Facts:
    titles: dict[int, list[str]] = dict(titled)
    rows = [row for row in rows if row[0] >> ORDINAL_BITS in titles]
    pieces: dict[int, bytes] = {chunk: stored for chunk, stored, _ in rows if stored is not None}
    if texts := {chunk: text for chunk, stored, text in rows if stored is None}:
        made = await asyncio.to_thread(matcher.pieces.distinct, list(texts.values()))
        pieces |= zip(texts, made, strict=True)
    return _Facts(titles, pieces)


def _complete(measured: Sequence[Measured], union: Sequence[int], facts: _Facts, matcher: SoftMatcher) -> None:
    """Computes the features of every candidate for every wording."""
    for one in measured:
        lexical = one.wording.lexical
        soft = matcher(one.wording.text, one.wording.weight, {chunk: facts.pieces[chunk] for chunk in union})
        weights = lexical.query.weights if lexical and lexical.query else {}
        named = {document: fusion.title_named(terms, weights) for document, terms in facts.titles.items()}
        for chunk in union:
            words = one.words.get(chunk)
            if words and not words.admitted:
                continue
            one.features[chunk] = Features(
                cosine=one.cosines.get(chunk, 0.0),
                bm25_share=words.share if words else 0.0,
                soft_match=soft[chunk],
                title_named=named[chunk >> ORDINAL_BITS],
                all_terms=float(words.all_terms) if words else 0.0,
                phrases=words.phrases if words else 0.0,
            )


def _scores(
    rule: RankingRule, measured: Sequence[Measured], union: Sequence[int], graph: GraphLeg | None
) -> dict[int, float]:
    if rule.mode is SearchMode.rrf:
        return _reciprocal_ranks(rule, measured, set(union), graph)
    by_wording = [_wording_scores(rule, one, graph) for one in measured]
    return {
        chunk: score
        for chunk, score in fusion.of_wordings(by_wording[0], by_wording[1:]).items()
        if chunk in measured[0].features
    }


def _wording_scores(rule: RankingRule, one: Measured, graph: GraphLeg | None) -> dict[int, float]:
    if rule.mode is SearchMode.lexical:
        return one.bm25
    if rule.mode is SearchMode.dense:
        return one.cosines
    if rule.mode is SearchMode.convex:
        own: list[tuple[float, dict[int, float], Leg | None]] = [
            (rule.legs.lexical, one.bm25, one.wording.lexical),
            (rule.legs.dense, one.cosines, one.wording.dense),
        ]
        if graph and graph.found:
            own.append((rule.legs.graph, {found.chunk: found.score for found in graph.found}, graph))
        return fusion.convex(
            (weight, fusion.scaled(scores, [found.chunk for found in leg.found])) for weight, scores, leg in own if leg
        )
    features = one.features
    if rule.space.scaled and one.wording.dense:
        between = [found.chunk for found in one.wording.dense.found]
        cosines = fusion.scaled(one.cosines, between)
        residual = graph.residual if graph else None
        found = [each.chunk for each in residual.found] if residual else []
        rest = fusion.scaled({chunk: each.residual for chunk, each in features.items() if each.residual}, found)
        features = {
            chunk: replace(each, cosine=cosines.get(chunk, 0.0), residual=rest.get(chunk, 0.0))
            for chunk, each in features.items()
        }
    weights = rule.space.weights
    scores = {chunk: fusion.absolute(each, weights) for chunk, each in features.items()}
    if graph and graph.by is GraphMethod.hops:
        mine = {each.chunk for leg in one.wording.legs for each in leg.found}
        for chunk in graph.evidence.keys() & scores.keys():
            near, otherwise = graph.evidence[chunk].near, chunk in mine
            scores[chunk] = fusion.over_relations(scores[chunk], near, found_otherwise=otherwise, part=weights.graph)
    return scores


def _reciprocal_ranks(
    rule: RankingRule, measured: Sequence[Measured], union: set[int], graph: Leg | None
) -> dict[int, float]:
    """Fuses the rankings; the further wordings together count half as much as the query itself."""
    rankings: list[tuple[float, Leg]] = [(rule.legs.graph, graph)] if graph else []
    for number, one in enumerate(measured):
        part = 1.0 if number == 0 else 0.5 / (len(measured) - 1)
        own = ((rule.legs.lexical, one.wording.lexical), (rule.legs.dense, one.wording.dense))
        rankings += [(part * weight, leg) for weight, leg in own if leg]
    return fusion.reciprocal_ranks(
        ((weight, [found.chunk for found in leg.candidates if found.chunk in union]) for weight, leg in rankings),
        rule.rrf_k,
    )
