"""Splits an answer into sentences, and finds those that make no claim."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from orchestrator.citations.analysis import Analysis
from orchestrator.citations.markers import PlacedMarker
from orchestrator.citations.support import unmarked
from orchestrator.citations.terms import terms
from service_kit.sentences import LINES, Span, sentences, trimmed

LONGEST_SENTENCE = 2_000
LONGEST_COURTESY = 80
SHORT_ITEM = 4
_HEADING = re.compile(r"\s*+#{1,6}\s")
_TABLE_RULE = re.compile(r"[ |:]*+-[ |:-]*+(?=\n|$)")
_BOLD_LINE = re.compile(r"(\*\*|__)[^*_.!?]{1,80}\1:?")
_ITEM = re.compile(r"\s*+(?:[-*+•]|\d{1,3}[.)])\s")
_ABSENT = re.compile(
    r"\W*+(?:(?:unfortunately|sorry|leider)\W++)?(?:"
    r"(?:I|ich) (?:\w+ ){0,3}(?:not|nothing|no|cannot|can['’]t|couldn['’]t|don['’]t|didn['’]t|nicht|nichts|keine?)\b"
    r"|(?:none of )?(?:the|these|this|die) (?:\w+ )?(?:passages?|documents?|sources?|context|dokumente|quellen) (?:"
    r"(?:do not|does not|don['’]t|doesn['’]t) (?:\w+ )?"
    r"(?:say|mention|contain|state|tell|specify|give|provide|answer|include|describe|name|cover)\b"
    r"|(?:say|mention|contain|state|nennen|enthalten|sagen)s? (?:\w+ )?(?:nothing|no|nichts|nicht|keine?)\b)"
    r"|there (?:is|are) (?:no|nothing)\b (?:\w+ ){0,2}(?:information|mention|passages?|documents?|sources?)\b)",
    re.IGNORECASE,
)
_COURTESY = re.compile(
    r"\W*+(?:hello|hi|hey|thanks|thank you|you['’]re welcome|you are welcome|glad|happy to|let me know|feel free|sure"
    r"|of course|certainly|at your service|please (?:ask|tell|let)|hallo|guten (?:tag|morgen|abend)|danke|gerne?|bitte"
    r"|natürlich)\b",
    re.IGNORECASE,
)
_BUT = re.compile(r"\b(?:but|however|although|because|aber|jedoch|weil)\b", re.IGNORECASE)


@dataclass(frozen=True)
class AnswerSentence:
    """Characters `start` to `end` of an answer without markers. `nothing` is the reason if it makes no claim.

    `said` is the text to compare: without layout marks, and for a short item with `lead`, the introduction of its list.
    """

    start: int
    end: int
    said: str
    nothing: str = ""
    lead: str = ""


@dataclass(frozen=True)
class MarkerPlace:
    """The position of markers in the text without them (`at`), and in the answer."""

    at: int
    blanks: int
    marker: PlacedMarker

    @property
    def numbers(self) -> Sequence[int]:
        return self.marker.numbers


class BareAnswer:
    """An answer without its markers: `text`, and their positions in it."""

    def __init__(self, content: str, markers: Sequence[PlacedMarker], code: Sequence[Span]) -> None:
        parts: list[str] = []
        self.markers: list[MarkerPlace] = []
        ends, removed = [0], [0]
        at, length = 0, 0
        for marker in markers:
            start = at + len(content[at : marker.start].rstrip(" "))
            parts.append(content[at:start])
            length += start - at
            self.markers.append(MarkerPlace(length, marker.start - start, marker))
            at = marker.end
            ends.append(at)
            removed.append(at - length)
        self.text = "".join([*parts, content[at:]])
        shift = [removed[bisect_right(ends, start) - 1] for start, _ in code]
        self.code = [(start - less, end - less) for (start, end), less in zip(code, shift, strict=True)]
        self._code_starts = [start for start, _ in self.code]

    def code_around(self, place: int) -> Span | None:
        """Returns the code that contains the position."""
        at = bisect_left(self._code_starts, place) - 1
        return self.code[at] if at >= 0 and place < self.code[at][1] else None

    def sentences(self, lead: str = "") -> list[AnswerSentence]:
        """Returns the sentences outside code; quotations are not split. `lead` introduced a list before them."""
        return list(self._described(list(self._whole(sentences(self.text))), lead))

    def quotations(self) -> list[AnswerSentence]:
        """Returns the text before each marker, and the sentences after the last marker of a line."""
        spans: list[Span] = []
        places = [marker.at for marker in self.markers]
        lines = [0, *(match.end() for match in LINES.finditer(self.text)), len(self.text)]
        for start, end in pairwise(lines):
            for place in places[bisect_right(places, start) : bisect_right(places, end)]:
                spans.append((start, place))
                start = place
            if self.text[start:end].strip():
                spans.append((start, end))
        return list(self._described(trimmed(self.text, *span) for span in spans))

    def places(self, sentences: Sequence[AnswerSentence]) -> list[list[MarkerPlace]]:
        """Returns the markers of each sentence; a marker at the start of a line belongs to the sentence after it."""
        found: list[list[MarkerPlace]] = [[] for _ in sentences]
        starts = [sentence.start for sentence in sentences]
        for marker in self.markers if sentences else ():
            at = max(0, bisect_right(starts, marker.at) - 1)
            after_line = "\n" in self.text[sentences[at].end : marker.at] or marker.at < starts[at]
            if after_line and at + 1 < len(starts) and "\n" not in self.text[marker.at : starts[at + 1]]:
                at += 1
            found[at].append(marker)
        return found

    def shown(self, sentence: AnswerSentence, places: Sequence[MarkerPlace]) -> Span:
        """Returns the sentence's span in the answer, including its markers."""
        start, end = self._offset(sentence.start), self._offset(sentence.end)
        markers = [place.marker for place in places]
        return min([start, *(one.start for one in markers)]), max([end, *(one.end for one in markers)])

    def _offset(self, place: int) -> int:
        before = bisect_left(self.markers, place, key=lambda one: one.at) - 1
        last = self.markers[before] if before >= 0 else None
        return last.marker.end + place - last.at if last else place

    def _whole(self, spans: Sequence[Span]) -> Iterator[Span]:
        """Joins spans that were split within a quotation or code."""
        begin, straight, curved = None, 0, 0
        for at, (start, end) in enumerate(spans):
            piece = self.text[start:end]
            begin = start if begin is None else begin
            straight += piece.count('"')
            curved += piece.count("“") - piece.count("”")
            following = spans[at + 1][0] if at + 1 < len(spans) else len(self.text)
            on_line = at + 1 < len(spans) and "\n" not in self.text[end:following]
            open_still = straight % 2 or curved > 0 or self.code_around(end) is not None
            if not (on_line and open_still and end - begin < LONGEST_SENTENCE):
                yield begin, end
                begin, straight, curved = None, 0, 0

    def _described(self, spans: Iterable[Span], lead: str = "") -> Iterator[AnswerSentence]:
        for start, end in spans:
            text = self.text[start:end]
            if self._is_code(start, end, text):
                continue
            nothing = self._nothing(text, end)
            item = bool(_ITEM.match(self.text[self.text.rfind("\n", 0, start) + 1 : end]))
            if text.rstrip("* ").endswith(":"):
                lead = text
            elif not item:
                lead = ""
            short = item and lead and len(Analysis(text[:LONGEST_SENTENCE]).words) < SHORT_ITEM
            yield AnswerSentence(start, end, unmarked(f"{lead} {text}" if short else text), nothing, lead)

    def _is_code(self, start: int, end: int, text: str) -> bool:
        """Returns whether the span is in a fenced block; inline code may be part of a claim."""
        code = self.code_around(start + 1)
        fenced = code is not None and not self.text[slice(*code)].endswith("`")
        return code is not None and code[1] >= end and (fenced or text.startswith(("```", "~~~")))

    def _nothing(self, text: str, end: int) -> str:
        if text.endswith("?"):
            return "a question"
        if _HEADING.match(text) or _BOLD_LINE.fullmatch(text) or self._heads_table(text, end):
            return "a heading"
        if text.rstrip("* ").endswith(":"):
            return "it leads to what follows"
        if not terms(text[:LONGEST_SENTENCE]):
            return "it says nothing to compare"
        if _ABSENT.match(text) and not _BUT.search(text):
            return "it says that something was not found"
        if _COURTESY.match(text) and len(text) < LONGEST_COURTESY:
            return "a courtesy"
        return ""

    def _heads_table(self, text: str, end: int) -> bool:
        return text.startswith("|") and _TABLE_RULE.match(self.text, end + 1) is not None
