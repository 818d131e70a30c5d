"""Determines the status of each sentence of an answer, and adds citations where no marker has one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from orchestrator.citations.analysis import Analysis
from orchestrator.citations.check import Checked, check
from orchestrator.citations.claims import LONGEST_SENTENCE, AnswerSentence, BareAnswer
from orchestrator.citations.extract import CELL_ENDS
from orchestrator.citations.judgement import (
    NEARLY_COPIED,
    OTHER_LANGUAGE,
    RELATED,
    VERIFIED,
    WORD_FOR_WORD,
    Judgement,
    compare,
    is_foreign,
)
from orchestrator.citations.source import SourceText
from orchestrator.citations.support import CitedSpan, joined, quotations, shortened
from orchestrator.citations.writing import Assessed, AssessedSentence, Finding, written

# A sentence is compared with this many sources, those that share most of its words.
MOST_COMPARED = 4
# A sentence with fewer content words than this occurs in many sources by chance.
LEAST_CONTENT = 3
FREE_WORDS = 3
Decide = Callable[[AnswerSentence, Finding], Finding]
Find = Callable[[AnswerSentence, Sequence[CitedSpan]], Finding]
_ORDER = {"verified": 0, "unclear": 1, "contradicted": 2}
ROW = "the table says so, read with the names of its columns"
CUT = "the run ended before it was checked"
NOTHING_SAYS_IT = "nothing that was retrieved says it"
TOO_LONG = "it is too long to be compared"


def undecided(_sentence: AnswerSentence, finding: Finding) -> Finding:
    """Returns the finding of the rules unchanged."""
    return finding


def assess(checked: Checked, sources: Sequence[SourceText], decide: Decide = undecided) -> Assessed:
    """Compares each sentence with the sources that it cites, and with all others if those do not verify it.

    `decide` may override the finding of the rules.
    """
    return _assessed(checked, lambda sentence, cited: decide(sentence, examine(sentence, cited, sources)))


def assess_quotations(checked: Checked) -> Assessed:
    """Assesses an extractive answer, which says what it quotes, or what the graph has read at the cited place."""
    return _assessed(checked, _quoted, quotations_alone=True)


def _assessed(checked: Checked, find: Find, *, quotations_alone: bool = False) -> Assessed:
    bare = BareAnswer(checked.content, checked.markers, checked.code)
    if (nested := check(bare.text, [], [])).removed:  # [1[2]]: without the inner marker, the rest is a marker
        removed = checked.removed + nested.removed + len(checked.cited)
        return replace(_assessed(nested, find, quotations_alone=quotations_alone), removed=removed)
    spans = {one.number: one for one in checked.cited}
    sentences = bare.quotations() if quotations_alone else bare.sentences()
    places = bare.places(sentences)
    found = [
        find(sentence, [spans[number] for place in own for number in place.numbers])
        for sentence, own in zip(sentences, places, strict=True)
    ]
    return written(bare, list(zip(sentences, places, found, strict=True)), spans, checked.removed)


def examine(sentence: AnswerSentence, cited: Sequence[CitedSpan], sources: Sequence[SourceText]) -> Finding:
    """Returns the status of one sentence of a model's answer, and the spans to cite for it."""
    if sentence.nothing:
        return Finding("not_a_claim", sentence.nothing, cited)
    if len(sentence.said) > LONGEST_SENTENCE:
        return Finding("unclear", TOO_LONG, cited)
    compared = _Comparison(sentence.said, sources)
    return _of_cited(compared, cited) if cited else _of_bare(compared)


def unchecked(content: str) -> list[AssessedSentence]:
    """Returns the sentences of an answer that broke off before it was checked."""
    return [AssessedSentence(one.start, one.end, "unchecked", CUT) for one in BareAnswer(content, [], []).sentences()]


class _Comparison:
    """Compares one sentence with sources, by their numbers from 1; no comparison is made twice."""

    def __init__(self, text: str, sources: Sequence[SourceText]) -> None:
        self.text, self.sources, self.said = text, sources, Analysis(text)
        self._judged: dict[int, Judgement] = {}

    def judged(self, number: int) -> Judgement:
        if number not in self._judged:
            self._judged[number] = compare(self.said, self.sources[number - 1])
        return self._judged[number]

    def best(self, numbers: Sequence[int]) -> int:
        return min(
            numbers, key=lambda number: (_ORDER[self.judged(number).verdict], -self.judged(number).share, number)
        )

    def alike(self) -> list[int]:
        """Returns the sources that share the most with the sentence."""
        stems = self.said.stems
        shared = {
            number: max((len(stems & text.stems) for text in source.texts), default=0)
            for number, source in enumerate(self.sources, 1)
        }
        return [number for number in sorted(shared, key=lambda one: (-shared[one], one)) if shared[number]][
            :MOST_COMPARED
        ]

    def nothing_alike(self, nearest: int | None = None) -> Finding:
        """Returns the finding if no words of the sources say it; for another language that is unclear."""
        if self.sources and all(is_foreign(self.said, source.whole) for source in self.sources):
            return Finding("unclear", OTHER_LANGUAGE, (), nearest)
        return Finding("unsupported", NOTHING_SAYS_IT, (), nearest)

    def together(self, first: int, other: int) -> Judgement:
        return compare(self.said, joined(self.text, self.sources[first - 1], self.sources[other - 1]))

    def only_quotes(self) -> bool:
        """Returns whether the sentence is little more than a quotation, which is compared word for word."""
        around = self.text
        for quote in (quotes := quotations(self.text)):
            around = around.replace(quote, " ")
        rest = Analysis(around)
        return bool(quotes) and len(rest.words) <= FREE_WORDS and not rest.numbers and not rest.denials

    def verifying(self, numbers: Sequence[int]) -> Finding | None:
        """Returns a finding that cites the source that says it all; None without one, or if too little is said."""
        if not numbers or len(self.said.stems) + len(self.said.numbers) < LEAST_CONTENT:
            return None
        number = self.best(numbers)
        judged = self.judged(number)
        if judged.verdict != "verified" or judged.span[0] == judged.span[1]:
            return None
        span = shortened(self.sources[number - 1].content, *judged.span)
        return Finding("verified", judged.reason, [CitedSpan(0, number, *span)], number, attributed=True)


def _quoted(sentence: AnswerSentence, cited: Sequence[CitedSpan]) -> Finding:
    if cited:
        reason = WORD_FOR_WORD if quotations(sentence.said) else "the place that it cites states it"
        reason = ROW if CELL_ENDS in sentence.said else reason
        return Finding("verified", reason, cited, cited[0].passage)
    return Finding("not_a_claim", sentence.nothing or "it quotes nothing")


def _of_cited(compared: _Comparison, cited: Sequence[CitedSpan]) -> Finding:
    """Checks each cited source, then all together, then whether another source verifies the sentence."""
    numbers = list(dict.fromkeys(one.passage for one in cited))
    best = compared.best(numbers)
    judged = compared.judged(best)
    if judged.verdict == "verified":
        return Finding("verified", judged.reason, cited, best)
    if compared.only_quotes():
        return Finding("verified", WORD_FOR_WORD, cited, best)
    joint = [compared.together(best, other) for other in numbers if other != best]
    if any(one.verdict == "verified" for one in joint):
        return Finding("verified", "the sources say so together", cited, best)
    others = [number for number in compared.alike() if number not in numbers]
    if verified := compared.verifying(others):
        return verified
    if judged.verdict == "unclear":
        return Finding("unclear", judged.reason, cited, best)
    joint += [compared.together(best, other) for other in others]
    # Details from another source do not contradict this one, unless this one says nearly everything.
    if judged.share < VERIFIED and any(one.verdict == "unclear" for one in joint):
        return Finding("unclear", f"{judged.reason}; another one may", cited, best)
    return Finding("contradicted", judged.reason, (), best)


def _of_bare(compared: _Comparison) -> Finding:
    """Attributes a sentence without markers to the source that says it; otherwise compares it with the nearest one."""
    alike = compared.alike()
    if not alike:
        return compared.nothing_alike()
    if attributed := compared.verifying(alike):
        return attributed
    best = max(alike, key=lambda number: compared.judged(number).share)
    judged = compared.judged(best)
    if judged.verdict == "contradicted" and judged.share >= NEARLY_COPIED:
        return Finding("contradicted", judged.reason, (), best)
    if judged.verdict == "verified":
        return Finding("unclear", "it says too little to tell what it rests on", (), best)
    if judged.share >= RELATED:
        return Finding("unclear", judged.reason, (), best)
    return compared.nothing_alike(best)
