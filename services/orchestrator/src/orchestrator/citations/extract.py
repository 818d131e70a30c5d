"""An answer without a chat model: the sentences that match the question best, quoted and cited."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import sqrt

from orchestrator.citations.source import SourceText
from orchestrator.citations.support import CitedSpan, likeness, shortened
from orchestrator.citations.terms import terms
from service_kit.sentences import sentences

MOST_SENTENCES = 4
# A sentence joins the answer when it is about as good as the best one.
NEAR_BEST = 0.7
SAME_WORDS = 0.75
# What a document's fields are worth that have only its title's words of the question.
TITLE_ONLY = 0.3
_MARKER_BEGINS = re.compile(r"[\[【]\s*+\^?\d")
_MARKER_ENDS = re.compile(r"[\]】]")
_LIST_MARK = re.compile(r"^(?:[-*+•]|\d+[.)]|#{1,6}|>)\s+")
_NEXT_ITEM = re.compile(r"(?<!\s)[^\S\n]*+\n\s*+[-*+•]\s++")
_EMPHASIS = re.compile(r"(?<![\w*])(\*{1,3})(?=\S)([^*`]+?)(?<=\S)\1(?![\w*])")
_COMMENT_MARK = re.compile(r"(?m)^[ \t]*(?:/\*\*?|\*/|\*(?=\s)|//+|--+(?=\s)|#+(?=\s))[ \t]*|(?<!\s)\s*+\*/\s*$")
_FIELD = re.compile(r"\s*+[A-Z][\w-]{0,40}+(?: \w{1,40}+)?+:\s")
_DOCSTRING_END = re.compile(r"(?<!\s)\s*+(?:\"{3}|'{3})$")


@dataclass(frozen=True)
class Highlighted:
    """A passage with its best sentences: (start, end, score from 0 to 1); none if they are not known.

    `score` is the passage's own, to be compared with those of the other passages.
    """

    title: str
    content: str
    highlights: Sequence[tuple[int, int, float]]
    score: float = 1.0


@dataclass(frozen=True)
class _Sentence:
    passage: int
    start: int
    end: int
    score: float
    text: str


def extract(question: str, passages: Sequence[Highlighted]) -> tuple[str, list[CitedSpan]]:
    """Returns the answer and its citations, from passages in the order of their rank; ("", []) without a sentence.

    If no passage has highlights, the sentences are chosen by the terms that they share with the question.
    """
    if not any(passage.highlights for passage in passages):
        passages = [replace(one, highlights=likeness(question, SourceText(one.content))) for one in passages]
    asked = terms(question)
    chosen = _choose([_lowered(asked, passages, one) for one in _candidates(passages)])
    paragraphs: list[str] = []
    cited: list[CitedSpan] = []
    for title in dict.fromkeys(passages[one.passage - 1].title for one in chosen):
        quotes = []
        for one in (one for one in chosen if passages[one.passage - 1].title == title):
            cited.append(CitedSpan(len(cited) + 1, one.passage, one.start, one.end))
            quotes.append(f"{one.text} [{len(cited)}]")
        paragraphs.append(f"From {_plain(title)}: " + " ".join(quotes))
    return "\n\n".join(paragraphs), cited


def _candidates(passages: Sequence[Highlighted]) -> list[_Sentence]:
    found = []
    best = max((passage.score for passage in passages), default=0.0)
    for number, passage in enumerate(passages, 1):
        # A sentence is worth more in a passage that answers as a whole.
        weight = sqrt(max(0.0, passage.score) / best) if best > 0 else 1.0
        for start, end, score in passage.highlights:
            span = shortened(passage.content, start, end)
            if terms(passage.content[slice(*span)]):
                found.append(_Sentence(number, *span, score * weight, _displayed(passage.content, *span)))
    if not found and passages and (spans := sentences(passages[0].content)):
        span = shortened(passages[0].content, *spans[0])
        found.append(_Sentence(1, *span, 1.0, _displayed(passages[0].content, *span)))
    return found


def _lowered(asked: frozenset[str], passages: Sequence[Highlighted], one: _Sentence) -> _Sentence:
    """Returns the candidate, lowered if it is the fields at the head of a document and repeats its title alone.

    `Title: …`, `Status: …` answer who wrote it and when; for everything else they resemble the question by the title.
    """
    beyond_title = asked - terms(passages[one.passage - 1].title)
    repeats = bool(beyond_title) and not beyond_title & terms(one.text)
    return replace(one, score=one.score * TITLE_ONLY) if repeats and _fields(passages, one) else one


def _fields(passages: Sequence[Highlighted], one: _Sentence) -> bool:
    """Returns whether all lines of the sentence are fields, of which there are several."""
    lines = passages[one.passage - 1].content[one.start : one.end].splitlines()
    return len(lines) > 1 and all(_FIELD.match(line) for line in lines)


def _choose(candidates: list[_Sentence]) -> list[_Sentence]:
    """Returns the best ones without repetitions, by the rank of the passage and then in its order."""
    chosen: list[_Sentence] = []
    for one in sorted(candidates, key=lambda one: (-one.score, one.passage, one.start)):
        near_best = not chosen or one.score >= NEAR_BEST * chosen[0].score
        if near_best and len(chosen) < MOST_SENTENCES and not any(_same(one, other) for other in chosen):
            chosen.append(one)
    return sorted(chosen, key=lambda one: (one.passage, one.start))


def _same(one: _Sentence, other: _Sentence) -> bool:
    if one.passage == other.passage and one.start < other.end and other.start < one.end:
        return True
    first, second = terms(one.text), terms(other.text)
    return len(first & second) >= SAME_WORDS * max(1, min(len(first), len(second)))


def _displayed(content: str, start: int, end: int) -> str:
    """Returns the sentence on one line in quotation marks, or as code if it contains what looks like a marker."""
    text = _readable(content, start, end)
    if end < len(content) and not content[end].isspace() and content[end - 1].isalnum():
        text += "…"
    if (begins := _MARKER_BEGINS.search(text)) and _MARKER_ENDS.search(text, begins.end()):
        return f"`{text.replace('`', '')}`"
    return f"“{text if text.count('`') % 2 == 0 else text.replace('`', '')}”"


def _readable(content: str, start: int, end: int) -> str:
    """Removes what lays the text out: the bars of a table row, the marks of lists, emphasis and comments."""
    text = _DOCSTRING_END.sub("", content[start:end])
    line = content[content.rfind("\n", 0, start) + 1 : start] + text
    if line.lstrip().startswith("|") and "\n" not in text:
        return " · ".join(cell for part in text.split("|") if (cell := part.strip()))
    if _COMMENT_MARK.match(text):
        text = _COMMENT_MARK.sub("", text)
    text = _NEXT_ITEM.sub(" • ", _LIST_MARK.sub("", text))
    return " ".join(_EMPHASIS.sub(r"\2", text).split())


def _plain(title: str) -> str:
    return " ".join(re.sub(r"[\[\]【】`]", "", title).split()) or "a document"
