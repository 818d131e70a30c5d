"""Asks an entailment model about sentences that the rules leave open, and applies its answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from inference.entailment import EntailmentScores, TextPair
from orchestrator.citations.assess import TOO_LONG
from orchestrator.citations.claims import AnswerSentence
from orchestrator.citations.judgement import BY_ITS_WORDS
from orchestrator.citations.source import SourceText
from orchestrator.citations.support import CitedSpan, best_sentence
from orchestrator.citations.writing import Finding

# A model's judgement below this probability is ignored.
SURE = 0.5
MOST_ASKED = 48
LONGEST_PREMISE = 1_500
MODEL_SAYS_SO = "the source says so in other words, by an entailment model"
MODEL_SAYS_OTHERWISE = "the source says otherwise, by an entailment model"
_OPEN = frozenset({"unclear", "unsupported", "contradicted"})


class SecondLook:
    """Collects open sentences while an answer is assessed; with the model's scores, decides them in a second pass.

    Sentences that the rules find word for word are not asked about. If the two disagree, the sentence is unclear.
    """

    def __init__(self, sources: Sequence[SourceText]) -> None:
        self.sources = sources
        self.asked: dict[str, TextPair] = {}
        self._answered: dict[str, EntailmentScores] = {}

    def collect(self, sentence: AnswerSentence, finding: Finding) -> Finding:
        """Records the sentence if it is open."""
        if _is_open(finding) and len(self.asked) < MOST_ASKED and sentence.said not in self.asked:
            premise = evidence(sentence.said, self.sources[(finding.passage or 1) - 1])
            self.asked[sentence.said] = TextPair(premise, sentence.said)
        return finding

    def answer(self, scores: Sequence[EntailmentScores]) -> None:
        """Takes the model's scores of each pair in `asked`."""
        self._answered = dict(zip(self.asked, scores, strict=True))

    def decide(self, sentence: AnswerSentence, finding: Finding) -> Finding:
        """Returns the finding, revised by the model."""
        scores = self._answered.get(sentence.said)
        if scores is None or finding.passage is None or not _is_open(finding):
            return finding
        if scores.contradiction >= SURE and finding.status == "unclear":
            return Finding("contradicted", MODEL_SAYS_OTHERWISE, (), finding.passage)
        if scores.contradiction >= SURE and finding.status == "verified":
            reason = f"{finding.reason}, but an entailment model finds that it says otherwise"
            return replace(finding, status="unclear", reason=reason)
        if scores.entailment < SURE or finding.status == "verified":
            return finding
        spans = finding.spans or self._span(sentence.said, finding.passage)
        attributed = finding.attributed or (bool(spans) and not finding.spans)
        if finding.status == "contradicted":
            reason = f"{finding.reason}, but an entailment model finds that it says so"
            return Finding("unclear", reason, spans, finding.passage, attributed)
        return Finding("verified", MODEL_SAYS_SO, spans, finding.passage, attributed)

    def _span(self, sentence_text: str, passage: int) -> Sequence[CitedSpan]:
        span = best_sentence(sentence_text, self.sources[passage - 1])
        return [CitedSpan(0, passage, *span)] if span else ()


def evidence(sentence_text: str, source: SourceText) -> str:
    """Returns the source with its heading, cut to the surroundings of the most similar sentence."""
    content = source.content
    if len(content) > LONGEST_PREMISE:
        start, end = best_sentence(sentence_text, source) or (0, 0)
        first = max(0, min(start - (LONGEST_PREMISE - (end - start)) // 2, len(content) - LONGEST_PREMISE))
        content = content[first : first + LONGEST_PREMISE]
    return f"{source.heading}\n{content}".strip()


def _is_open(finding: Finding) -> bool:
    if finding.passage is None or finding.reason == TOO_LONG:
        return False
    return finding.status in _OPEN or (finding.status == "verified" and finding.reason == BY_ITS_WORDS)
