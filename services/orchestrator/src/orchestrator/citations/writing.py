"""Writes an answer with the markers that its check left; the text itself is unchanged."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from orchestrator.citations.claims import AnswerSentence, BareAnswer, MarkerPlace
from orchestrator.citations.support import CitedSpan

Status = Literal["verified", "unclear", "contradicted", "unsupported", "not_a_claim", "unchecked"]
_LAST_STOP = re.compile(r"(?<=[\w)\]%`*'’])[.!]$")


@dataclass(frozen=True)
class Finding:
    """What the sources say about a sentence; `spans` are to be cited for it, `passage` was compared."""

    status: Status
    reason: str
    spans: Sequence[CitedSpan] = ()
    passage: int | None = None
    attributed: bool = False


@dataclass(frozen=True)
class AssessedSentence:
    """Characters `start` to `end` of the final text; `citations` are the numbers of its markers."""

    start: int
    end: int
    status: Status
    reason: str
    citations: Sequence[int] = ()
    attributed: bool = False
    passage: int | None = None


@dataclass(frozen=True)
class Assessed:
    """The final text: the answer's, except for its markers. `removed` counts the removed citations."""

    content: str
    cited: Sequence[CitedSpan]
    sentences: Sequence[AssessedSentence]
    removed: int


Written = tuple[AnswerSentence, Sequence[MarkerPlace], Finding]


def written(
    bare: BareAnswer,
    found: Sequence[Written],
    spans: Mapping[int, CitedSpan],
    removed: int,
    before: Sequence[CitedSpan] = (),
) -> Assessed:
    """Returns the final text; `spans` are the answer's own citations. Markers are numbered in order of appearance.

    `before` are the citations of the text that this one continues; their numbering is continued.
    """
    pen = _Pen(bare.text, before)
    sentences = []
    for sentence, places, finding in found:
        put = [(place.at, place.blanks, [spans[number] for number in place.numbers]) for place in places]
        if finding.status == "contradicted":
            removed += sum(len(place.numbers) for place in places)
            put = []
        elif finding.attributed:
            at, blanks = (places[-1].at, places[-1].blanks) if places else (_before_stop(bare.text, sentence), 1)
            put = [(at, blanks, list(finding.spans))]
            if not places and bare.code_around(at):
                put, finding = [], replace(finding, spans=(), attributed=False)
        leading = [one for one in put if one[0] <= sentence.start]
        pen.write_to(min([sentence.start, *(at for at, _, _ in leading)]))
        numbers: list[int] = []
        start = pen.length + (leading[0][1] if leading else 0)
        for at, blanks, cited in put:
            pen.write_to(at)
            numbers += pen.cite(blanks, cited)
        pen.write_to(sentence.end)
        sentences.append(
            AssessedSentence(
                start, pen.length, finding.status, finding.reason, numbers, finding.attributed, finding.passage
            )
        )
    pen.write_to(len(bare.text))
    return Assessed("".join(pen.pieces), pen.cited, sentences, removed)


class _Pen:
    """Copies a text and inserts markers."""

    def __init__(self, text: str, before: Sequence[CitedSpan]) -> None:
        self.text = text
        self.pieces: list[str] = []
        self.at, self.length = 0, 0
        self.cited = list(before)
        self._numbers = {(one.passage, one.start, one.end): one.number for one in before}

    def write_to(self, place: int) -> None:
        if place > self.at:
            self._put(self.text[self.at : place])
            self.at = place

    def cite(self, blanks: int, cited: Sequence[CitedSpan]) -> list[int]:
        """Writes the markers; returns their numbers."""
        numbers = []
        for one in cited:
            key = one.passage, one.start, one.end
            if key not in self._numbers:
                self._numbers[key] = len(self.cited) + 1
                self.cited.append(replace(one, number=self._numbers[key]))
            if self._numbers[key] not in numbers:
                numbers.append(self._numbers[key])
        self._put(" " * blanks + "".join(f"[{number}]" for number in numbers))
        return numbers

    def _put(self, text: str) -> None:
        self.pieces.append(text)
        self.length += len(text)


def _before_stop(text: str, sentence: AnswerSentence) -> int:
    """Returns the position for a marker: before the full stop, or in the last cell of a row."""
    sentence_text = text[sentence.start : sentence.end]
    if sentence_text.startswith("|") and sentence_text.endswith("|") and len(sentence_text) > 1:
        return sentence.start + len(sentence_text[:-1].rstrip())
    stop = _LAST_STOP.search(sentence_text, max(0, len(sentence_text) - 2))
    return sentence.start + stop.start() if stop else sentence.end
