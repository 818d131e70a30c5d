"""One query, by its words, against one workspace in one transaction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from relevance.analysis import Analyzer
from relevance.bm25 import Parameters, WeightedQuery, weighted
from relevance.languages import ENGLISH
from retrieval.lexical.cache import PostingCache
from retrieval.lexical.columns import Int64s
from retrieval.lexical.conditions import ConditionCheck, TextConditions
from retrieval.lexical.lists import DecodedBlock, PostingLists
from retrieval.lexical.maxscore import ChunkFilter, MaxScore, RankedChunks, contains
from retrieval.lexical.postings import TermPostings
from retrieval.lexical.vocabulary import Vocabulary
from retrieval.lexical.words import QueryWords, words_of
from retrieval.reading.reader import IndexReader, ScoredChunk
from retrieval.reading.state import IndexState
from retrieval.text.query import ParsedQuery

MOST_STEMMINGS = 4  # languages of the workspace that a query is read in
MOST_CHECKED = 1000  # chunks whose text is read, where a condition needs it
MOST_SOUGHT = 8  # phrases that chunks are sought for; of more it is said who has them
_CHECKED_TOGETHER = 100

Cache: TypeAlias = PostingCache[DecodedBlock | TermPostings]


@dataclass(frozen=True)
class MatchedTerms:
    """The terms of each word of the query, and for each of some chunks the position of the one that it has, or -1.

    They are named in explanations only.
    """

    words: Sequence[tuple[Sequence[str], NDArray[np.intp]]]

    def of(self, place: int) -> list[str]:
        """Returns the terms that the chunk at this place has, each once."""
        found = ((terms, int(positions[place])) for terms, positions in self.words)
        return list(dict.fromkeys(terms[position] for terms, position in found if position >= 0))


class WordFeatures(NamedTuple):
    """What one chunk has of the query. `score` is its BM25, `share` that of the query's mass, 0 to 1; `phrases` is the
    share of the phrases, 0 without any. What is not `admitted` must not be returned.
    """

    score: float
    share: float
    all_terms: bool
    phrases: float
    admitted: bool
    terms: MatchedTerms
    place: int

    @property
    def matched(self) -> list[str]:
        """The terms that it has."""
        return self.terms.of(self.place)


class LexicalSearch:
    """Open it, then ask for the best chunks and for the features of any."""

    def __init__(
        self, reader: IndexReader, cache: Cache, analyzer: Analyzer, parsed: ParsedQuery, wanted: TextConditions
    ) -> None:
        self.reader, self.analyzer, self.parsed = reader, analyzer, parsed
        self.lists = PostingLists(reader, cache)
        self.stemmings: Sequence[str] = [ENGLISH]
        self.words = QueryWords([])
        self.query: WeightedQuery = weighted([], {}, 0, 0)
        self.limits = ChunkFilter()
        self.check = ConditionCheck(reader, analyzer, wanted)
        self.bounded = False
        self._ranking = MaxScore(self.lists, self.query, self.limits)
        self._scores: dict[int, float] = {}
        self._places: dict[tuple[str, ...], int] = {}

    async def open(self, state: IndexState, documents: ArrayLike | None, parameters: Parameters) -> None:
        """Reads what the query's words are worth. `documents` are the numbers to search among; None: all."""
        self.stemmings = state.stemmings[:MOST_STEMMINGS] or [ENGLISH]
        await self.lists.open(state.recent_documents, state.recent_batches)
        vocabulary = Vocabulary(self.reader, self.lists.groups, self.lists.recent)
        self.words = await words_of(self.parsed, self.analyzer, self.stemmings, vocabulary)
        frequencies = await self.lists.read_headers(self.words.terms)
        await self.words.correct(vocabulary, Counter(frequencies), self._terms)
        frequencies = await self.lists.read_headers(self.words.terms)
        self.query = weighted(self.words.words, frequencies, state.chunks, state.terms, parameters)
        numbers = None if documents is None else np.unique(np.asarray(documents, np.int64))
        self._places = {
            tuple(term for term, factor in word.terms.items() if factor == 1.0): at
            for at, word in enumerate(self.words.words)
        }
        self.limits = ChunkFilter(numbers, await self._banned())
        self._ranking = MaxScore(self.lists, self.query, self.limits)

    async def best(self, k: int) -> list[ScoredChunk]:
        """Exactly the `k` best that comply with the query's conditions; what has its phrases comes first.

        At most MOST_CHECKED chunks are read for a condition: `bounded` says whether there were more.
        """
        ranking, wanted = self._ranking, self.check.wanted
        if wanted.conditions:
            found = await self._complying(ranking, k)
        else:
            found = await ranking.best(k)
        scores = dict(zip(found.chunks.tolist(), found.scores.tolist(), strict=True))
        if wanted.phrases and not wanted.strict:
            for phrase in wanted.phrases[:MOST_SOUGHT]:
                if required := self._positions(phrase):
                    more = await ranking.best(k, required)
                    scores |= zip(more.chunks.tolist(), more.scores.tolist(), strict=True)
            await self.check.read(scores)
        self._scores = scores
        shares = {chunk: verdict.share for chunk, verdict in self.check.verdicts.items()}
        admitted = [
            chunk for chunk in scores if chunk not in self.check.verdicts or self.check.verdicts[chunk].admitted
        ]
        order = sorted(admitted, key=lambda chunk: (-shares.get(chunk, 0.0), -scores[chunk], chunk))
        return [ScoredChunk(chunk, scores[chunk]) for chunk in order[:k]]

    async def features(self, chunks: Iterable[int]) -> dict[int, WordFeatures]:
        """Exact for every chunk, whoever found it."""
        numbers = np.unique(np.fromiter(chunks, np.int64))
        scores = np.zeros(len(numbers))
        matched: list[tuple[Sequence[str], NDArray[np.intp]]] = []
        for word in self.query.words:
            gained, by = await self._ranking.look_up(word, numbers)
            scores += gained
            matched.append((list(word.weights), np.where(gained > 0, by, -1)))
        wanted = self.check.wanted
        if wanted.conditions or wanted.phrases:
            await self.check.read(numbers.tolist())
        banned = set() if self.limits.banned is None else set(numbers[contains(self.limits.banned, numbers)].tolist())
        every = np.full(len(numbers), bool(matched))
        for _, positions in matched:
            every &= positions >= 0
        terms, found = MatchedTerms(matched), {}
        for place, (chunk, sum_of_words, all_terms) in enumerate(
            zip(numbers.tolist(), scores.tolist(), every.tolist(), strict=True)
        ):
            score = self._scores.get(chunk, sum_of_words)
            verdict = self.check.verdicts.get(chunk)
            phrases, admitted = (verdict.share, verdict.admitted) if verdict else (0.0, True)
            admitted = admitted and chunk not in banned
            share = self.query.share(score)
            found[chunk] = WordFeatures(score, share, all_terms, phrases, admitted, terms, place)
        return found

    def weight(self, text: str) -> float:
        """The IDF of the rarest of the query's words that stand in the text; 0 where none does."""
        words = self.query.words
        return max((words[at].mass / words[at].word.count for at in self._positions(text)), default=0.0)

    async def _complying(self, ranking: MaxScore, k: int) -> RankedChunks:
        """Returns the best chunks that comply, in order, until there are `k` of them."""
        wanted = self.check.wanted
        texts = [*wanted.sections, *(wanted.phrases if wanted.strict else ())]
        found = await ranking.best(MOST_CHECKED, {position for text in texts for position in self._positions(text)})
        kept: list[int] = []
        for start in range(0, len(found.chunks), _CHECKED_TOGETHER):
            some = found.chunks[start : start + _CHECKED_TOGETHER].tolist()
            await self.check.read(some)
            kept += [start + at for at, chunk in enumerate(some) if self.check.verdicts[chunk].admitted]
            if len(kept) >= k:
                break
        self.bounded = len(kept) < k and len(found.chunks) == MOST_CHECKED
        return RankedChunks(found.chunks[kept[:k]], found.scores[kept[:k]])

    def _positions(self, text: str) -> set[int]:
        """Returns the positions of the query's words that stand in the text."""
        readings = self.analyzer.readings(text, self.stemmings)
        return {self._places[terms] for terms in readings if terms in self._places}

    def _terms(self, text: str) -> set[str]:
        return {term for stemming in self.stemmings for term in self.analyzer.terms(text, stemming)}

    async def _banned(self) -> Int64s | None:
        """The chunks with an excluded word. What is more than one term is left to the check of the chunks."""
        terms, longer = set[str](), []
        for text in self.check.wanted.excluded:
            by_stemming = [self.analyzer.terms(text, stemming) for stemming in self.stemmings]
            terms.update(found[0] for found in by_stemming if len(found) == 1)
            if any(len(found) > 1 for found in by_stemming):
                longer.append(text)
        self.check.wanted = replace(self.check.wanted, excluded=longer)
        if not terms:
            return None
        return await self.lists.chunks(terms)
