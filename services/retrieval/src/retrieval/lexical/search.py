"""The lexical search of one query, in one workspace and one transaction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from relevance.analysis import Analyzer
from relevance.bm25 import Parameters, weighted
from relevance.languages import ENGLISH
from retrieval.lexical.cache import PostingCache
from retrieval.lexical.columns import Int64s
from retrieval.lexical.conditions import ConditionCheck, ConditionVerdict
from retrieval.lexical.lists import PostingLists
from retrieval.lexical.maxscore import ChunkFilter, MaxScore, RankedChunks, contains
from retrieval.lexical.vocabulary import Vocabulary
from retrieval.lexical.words import words_of
from retrieval.ranking.features import Columns
from retrieval.reading.leg import EXCLUDED
from retrieval.reading.reader import IndexReader, ScoredChunk
from retrieval.reading.state import IndexState
from retrieval.text.query import ParsedQuery

MOST_STEMMINGS = 4  # languages of the workspace that a query is analysed in
MOST_CHECKED = 1000  # chunks whose text is read to check conditions
MOST_SOUGHT = 8  # phrases to search for; further ones are only checked in what was found
_CHECKED_TOGETHER = 100
_UNCHECKED = ConditionVerdict(share=0.0, admitted=True)


class LexicalSearch:
    """Searches by words. Call `open` first, then `best` for the best chunks and `features` for those of any chunks."""

    def __init__(self, reader: IndexReader, cache: PostingCache, analyzer: Analyzer, parsed: ParsedQuery) -> None:
        self.analyzer = analyzer
        self.lists = PostingLists(reader, cache)
        self.check = ConditionCheck(reader, analyzer, parsed)
        self.bounded = False
        self._scores: dict[int, float] = {}
        self._weights: dict[str, float] = {}

    async def open(self, state: IndexState, documents: ArrayLike | None, parameters: Parameters) -> None:
        """Reads the weights of the query's words. `documents` are the numbers to search; None: all."""
        self.stemmings: Sequence[str] = state.stemmings[:MOST_STEMMINGS] or [ENGLISH]
        await self.lists.open(state.recent_documents, state.recent_batches)
        vocabulary = Vocabulary(self.lists)
        self.words = await words_of(self.check.wanted, self.analyzer, self.stemmings, vocabulary)
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
        """Returns exactly the `k` best that meet the query's conditions; those with its phrases come first.

        At most MOST_CHECKED chunks are checked for conditions; `bounded` says whether there were more.
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

    async def features(self, chunks: Sequence[int]) -> Columns:
        """Returns exact columns for any chunks (sorted), whichever leg found them: `bm25`, its share of the query's
        mass, whether all words occur, the share of the phrases (0 without any), and which chunks are excluded.
        """
        numbers = np.array(chunks, np.int64)
        scores, every = np.zeros(len(numbers)), np.full(len(numbers), bool(self.query.words))
        for word in self.query.words:
            gained = await self._ranking.look_up(word, numbers)
            scores += gained
            every &= gained > 0
        for place in np.flatnonzero(np.isin(numbers, np.fromiter(self._scores, np.int64))).tolist():
            scores[place] = self._scores[chunks[place]]
        wanted, phrases, excluded = self.check.wanted, np.zeros(len(numbers)), np.zeros(len(numbers))
        if wanted.conditions or wanted.phrases:
            await self.check.read(chunks)
            verdicts = [self.check.verdicts.get(chunk, _UNCHECKED) for chunk in chunks]
            phrases = np.array([verdict.share for verdict in verdicts])
            excluded = np.array([float(not verdict.admitted) for verdict in verdicts])
        if self.limits.banned is not None:
            excluded[contains(self.limits.banned, numbers)] = 1.0
        share = scores / (self.query.mass or 1.0)
        columns = {"bm25": scores, "bm25_share": share, "all_terms": every.astype(float), "phrases": phrases}
        return {**columns, EXCLUDED: excluded}

    async def matched(self, chunks: Sequence[int]) -> dict[int, list[str]]:
        """Returns by chunk the terms of the query that it has: of each word, the one that scores best."""
        numbers, found = np.array(sorted(chunks), np.int64), {chunk: dict[str, None]() for chunk in chunks}
        for word in self.query.words:
            each = [replace(word, weights={term: weight}) for term, weight in word.weights.items()]
            gained = np.array([np.zeros(len(numbers)), *[await self._ranking.look_up(one, numbers) for one in each]])
            for chunk, place in zip(numbers.tolist(), gained.argmax(axis=0).tolist(), strict=True):
                if place:  # the first row is that of no term
                    found[chunk].update(dict.fromkeys(each[place - 1].weights))
        return {chunk: list(terms) for chunk, terms in found.items()}

    async def chunks_with(self, text: str) -> Int64s:
        """Returns the chunks that have every word of the text, by the rules of any of the languages."""
        every: Int64s | None = None
        for terms in self.analyzer.readings(text, self.stemmings):
            chunks = await self.lists.chunks(terms)
            every = chunks if every is None else np.intersect1d(every, chunks, assume_unique=True)
        return np.empty(0, np.int64) if every is None else every

    def weight(self, text: str) -> float:
        """Returns the IDF of the query's rarest word in the text; 0 if there is none."""
        if text not in self._weights:
            words = self.query.words
            masses = (words[at].mass / words[at].word.count for at in self._positions(text))
            self._weights[text] = max(masses, default=0.0)
        return self._weights[text]

    async def _complying(self, ranking: MaxScore, k: int) -> RankedChunks:
        """Returns the best chunks that meet the conditions, in order, at most `k`."""
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
        """Returns the positions of the query's words that are in the text."""
        readings = self.analyzer.readings(text, self.stemmings)
        return {self._places[terms] for terms in readings if terms in self._places}

    def _terms(self, words: Collection[str]) -> set[str]:
        return set[str]().union(*(self.analyzer.terms_of_words(words, stemming) for stemming in self.stemmings))

    async def _banned(self) -> Int64s | None:
        """Returns the chunks with an excluded word. Exclusions of several terms are left to the check of the texts."""
        terms, longer = set[str](), []
        for text in self.check.wanted.excluded:
            by_stemming = [self.analyzer.terms(text, stemming) for stemming in self.stemmings]
            terms.update(found[0] for found in by_stemming if len(found) == 1)
            if any(len(found) > 1 for found in by_stemming):
                longer.append(text)
        self.check.wanted = replace(self.check.wanted, excluded=tuple(longer))
        if not terms:
            return None
        return await self.lists.chunks(terms)
