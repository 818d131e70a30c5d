"""The union of what the legs found, each candidate with all features, whichever leg found it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from contracts.retrieval import SearchMode
from retrieval.dense.leg import DenseLeg
from retrieval.lexical.leg import LexicalLeg
from retrieval.ranking import fusion
from retrieval.ranking.fusion import Features
from retrieval.search.reader import IndexReader

LOOKED_AT_FOR_GOOD_MATCH = 3


@dataclass
class Candidates:
    """By chunk. `scores` are those of the mode; `bm25` and `cosines` lack what could not be computed."""

    scores: dict[int, float] = field(default_factory=dict)
    features: dict[int, Features] = field(default_factory=dict)
    matched: dict[int, list[str]] = field(default_factory=dict)
    bm25: dict[int, float] = field(default_factory=dict)
    cosines: dict[int, float] = field(default_factory=dict)

    def best(self, k: int) -> list[int]:
        """The first `k`; equals in the order in which they were indexed."""
        return sorted(self.scores, key=lambda chunk: (-self.scores[chunk], chunk))[:k]

    def has_good_match(self, order: Sequence[int]) -> bool:
        """Whether one of the first few is likely to answer."""
        first = [self.features[chunk] for chunk in order[:LOOKED_AT_FOR_GOOD_MATCH]]
        return any(fusion.is_good_match(features, dense=bool(self.cosines)) for features in first)


async def collect(
    reader: IndexReader, mode: SearchMode, lexical: LexicalLeg | None, dense: DenseLeg | None
) -> Candidates:
    """Reads what the legs do not know of each other's chunks, exactly, and scores the union by the mode's rule."""
    rankings = [[one.chunk for one in leg.found] for leg in (lexical, dense) if leg is not None]
    union = sorted({chunk for ranking in rankings for chunk in ranking})
    candidates = Candidates()
    if not union:
        return candidates
    if dense and dense.embedder and dense.vector is not None:
        candidates.cosines = {one.chunk: one.score for one in dense.found}
        missing = [chunk for chunk in union if chunk not in candidates.cosines]
        candidates.cosines |= await reader.cosines_of(missing, dense.vector, dense.embedder.space)
    await _read_features(reader, candidates, union, lexical)
    if mode is SearchMode.hybrid:
        candidates.scores = {chunk: fusion.absolute(candidates.features[chunk]) for chunk in union}
    elif mode is SearchMode.rrf:
        candidates.scores = fusion.reciprocal_ranks(rankings)
    else:
        candidates.scores = candidates.bm25 if mode is SearchMode.lexical else candidates.cosines
    return candidates


async def _read_features(
    reader: IndexReader, candidates: Candidates, union: Sequence[int], lexical: LexicalLeg | None
) -> None:
    found = await lexical.features(union) if lexical else {}
    query = lexical.query if lexical else None
    titles = await reader.titles_of(union) if query else {}
    for chunk in union:
        candidates.matched[chunk] = []
        candidates.features[chunk] = Features(cosine=candidates.cosines.get(chunk, 0.0))
        if query:
            words = found[chunk]
            candidates.matched[chunk], candidates.bm25[chunk] = words.matched, words.score
            candidates.features[chunk] = Features(
                cosine=candidates.cosines.get(chunk, 0.0),
                bm25_share=words.share,
                title_named=fusion.title_named(titles.get(chunk, []), query.weights),
                all_terms=float(words.all_terms),
            )
