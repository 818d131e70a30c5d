"""Turns a query into words, and each word into the terms to search for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field

from relevance.analysis import Analyzer, folded
from relevance.bm25 import QueryWord
from retrieval.lexical import edits
from retrieval.lexical.vocabulary import Vocabulary
from retrieval.text.query import ParsedQuery

MOST_WORDS = 48  # per query; of a longer one, the rarest are searched for
MOST_CORRECTED = 4  # unknown words per query
CORRECTED_FACTOR = 0.7  # a correction is uncertain


@dataclass
class QueryWords:
    """The words of a query; `left_out`: how many are not searched for. `corrected`: known terms by unknown one."""

    words: list[QueryWord]
    left_out: int = 0
    corrected: dict[str, list[str]] = field(default_factory=dict)

    @property
    def terms(self) -> set[str]:
        return {term for word in self.words for term in word.terms}

    async def correct(
        self, vocabulary: Vocabulary, known: Counter[str], stems: Callable[[Collection[str]], Iterable[str]]
    ) -> None:
        """Adds similar known terms to words that have no `known` term."""
        unknown = [at for at, word in enumerate(self.words) if not any(known[term] for term in word.terms)]
        for at in unknown[:MOST_CORRECTED]:
            word = self.words[at]
            for term in word.terms:
                if similar := await vocabulary.similar(term, stems):
                    self.corrected[term] = similar
                    self.words[at] = QueryWord({**word.terms, **dict.fromkeys(similar, CORRECTED_FACTOR)}, word.count)
                    break


async def words_of(
    query: ParsedQuery, analyzer: Analyzer, stemmings: Sequence[str], vocabulary: Vocabulary
) -> QueryWords:
    """Returns the words of a query, analysed by the rules of each language in `stemmings`."""
    counted = Counter(analyzer.readings(query.words, stemmings))
    words = [QueryWord(dict.fromkeys(terms, 1.0), count) for terms, count in counted.items()]
    left_out = 0
    if len(words) > MOST_WORDS:
        words, left_out = await _rarest(words, vocabulary)
    for prefix in query.prefixes[: max(0, MOST_WORDS - len(words))]:
        words.append(await _expanded(prefix, analyzer, stemmings, vocabulary))
    return QueryWords(words, left_out)


async def _rarest(words: Sequence[QueryWord], vocabulary: Vocabulary) -> tuple[list[QueryWord], int]:
    """Returns the rarest known words, in the order of the query, and how many words were left out."""
    known = await vocabulary.frequencies(term for word in words for term in word.terms)

    def rarity(word: QueryWord) -> tuple[int, int, str]:
        frequency, term = min((known[term], term) for term in word.terms if known[term])
        return frequency, -len(term), term

    kept = sorted((word for word in words if any(known[term] for term in word.terms)), key=rarity)[:MOST_WORDS]
    chosen = {id(word) for word in kept}
    return [word for word in words if id(word) in chosen], len(words) - len(kept)


async def _expanded(prefix: str, analyzer: Analyzer, stemmings: Sequence[str], vocabulary: Vocabulary) -> QueryWord:
    """Returns a word that stands for the terms with this prefix, and for the stems of words with it."""
    beginning = folded(prefix)
    terms = await vocabulary.beginning_with(beginning)
    stems = {
        found[0]
        for stemming in stemmings
        for word in edits.endings(beginning)
        if len(found := analyzer.terms(word, stemming)) == 1 and len(found[0]) < len(beginning)
    }
    terms += sorted(await vocabulary.frequencies(stems)) if stems else []
    return QueryWord(dict.fromkeys(terms or [beginning], 1.0))
