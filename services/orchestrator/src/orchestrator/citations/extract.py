"""Answers without a chat model: quotes and cites the sentences and rows that answer the question."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import dropwhile, groupby, pairwise

from orchestrator.citations.answering import (
    coverage,
    gives_reason,
    has_value,
    is_step,
    ranked,
    tells_of_document,
    tells_of_event,
)
from orchestrator.citations.candidates import ADDRESS, PassageHeading, QuotationCandidate
from orchestrator.citations.question import Kind, QuestionPart, parts_of
from orchestrator.citations.quotable import QuotablePart, parts_of_passage, with_reason
from orchestrator.citations.source import SourceText
from orchestrator.citations.support import CitedSpan, likeness, shortened
from orchestrator.citations.terms import terms
from relevance.designators import asks_for_overview, designators, subject_of_overview
from service_kit.sentences import sentences

MOST_SENTENCES = 4
# If the question asks for a list.
MOST_OF_SEVERAL = 6
MOST_OF_OVERVIEW = 3
# Shorter ones before the text are its date, its author and the like.
WORDS_OF_SENTENCE = 8
# A sentence is added to the answer if its score is at least this share of the best.
NEAR_BEST, NEAR_OF_SEVERAL = 0.8, 0.55
SAME_WORDS = 0.75
CELL_ENDS = " · "
_ABSTRACT = re.compile(
    r"\b(?:abstract|summary|overview|introduction|in short|decision|what happened|zusammenfassung|überblick"
    r"|kurzfassung|einleitung|entscheidung|was geschah|was passiert)\b",
    re.I,
)
_LABEL = re.compile(r"^[\W_]*+[\w -]{1,40}:\s*$")
_ASKS_FOR_ADDRESS = re.compile(r"\b(?:address|link|url|website|where|adresse|webseite|wo)s?\b", re.I)
_ABOUT_EVENTS: frozenset[Kind] = frozenset({"reason", "person", "time", "duration", "amount"})
_SENTENCE_ENDS = re.compile(r"\s\w++\W{0,3}[.!?]\W{0,3}$")
_MARKER_BEGINS = re.compile(r"[\[【]\s*+\^?\d")
_MARKER_ENDS = re.compile(r"[\]】]")
_LIST_MARK = re.compile(r"^(?:[-*+•]|\d+[.)]|#{1,6}|>)\s+")
_NEXT_ITEM = re.compile(r"(?<!\s)[^\S\n]*+\n\s*+[-*+•]\s++")
_EMPHASIS = re.compile(r"(?<![\w*])(\*{1,3})(?=\S)([^*`]+?)(?<=\S)\1(?![\w*])")
_COMMENT_MARK = re.compile(r"(?m)^[ \t]*(?:/\*\*?|\*/|\*(?=\s)|//+|--+(?=\s)|#+(?=\s))[ \t]*|(?<!\s)\s*+\*/\s*$")
_DOCSTRING_END = re.compile(r"(?<!\s)\s*+(?:\"{3}|'{3})$")


@dataclass(frozen=True)
class Highlighted:
    """A passage with its best sentences: (start, end, score from 0 to 1); none if unknown.

    `score` is the passage's own and comparable between passages. `section` is its heading, `place` its index among its
    document's passages, from 0. `document_name` is the name of the file.
    """

    title: str
    content: str
    highlights: Sequence[tuple[int, int, float]]
    score: float = 1.0
    section: str = ""
    place: int = 0
    document_name: str = ""


@dataclass(frozen=True)
class _Quotation:
    passage: int
    start: int
    end: int
    score: float
    text: str
    row: bool = False

    @cached_property
    def terms(self) -> frozenset[str]:
        return terms(self.text)


def extract(question: str, passages: Sequence[Highlighted], about: Sequence[str] = ()) -> tuple[str, list[CitedSpan]]:
    """Returns the answer and its citations, from passages in order of rank; ("", []) without a sentence.

    The best answer comes first, followed by other quotes from its document in text order; steps are all in text order.
    If no passage has highlights, the terms shared with the question measure similarity. With `about`, only parts with
    one of these names are quoted. If the question names a member of a series (PEP 572), another one (PEP 703) is quoted
    only where it mentions it. An overview of it, or of a document called by its whole title, is the beginning of its
    abstract or decision, or else of its text.
    Addresses alone are quoted only if one is asked for.
    """
    if overview := _overview(question, passages):
        return _written(overview, passages, [])
    asks_for_address = bool(_ASKS_FOR_ADDRESS.search(question))
    asked = parts_of(question)
    candidates = _candidates(passages := _alike(question, passages), asked, addresses=asks_for_address)
    if candidates and not (candidates := _of_series(question, candidates, passages)):
        return "", []
    if not asks_for_address:
        candidates = [one for one in candidates if not _is_address(one)]
    if about:
        candidates = [one for one in candidates if one.names(about)]
    chosen: list[_Quotation] = []
    for one, found in zip(asked, ranked(asked, candidates), strict=True):
        best = [_quotation(passages, score, candidate) for score, candidate in found[: 3 * MOST_OF_SEVERAL]]
        _add(chosen, best, one, len(asked))
    if not chosen and not about:
        chosen = _beginning(passages)
    steps = any(one.kind == "step" for one in asked)
    return _written(_as_they_stand(chosen, passages, steps=steps), passages, asked)


def _is_address(one: QuotationCandidate) -> bool:
    """Returns whether the part is an address, perhaps with a label."""
    rest = ADDRESS.sub(" ", one.part.said)
    return not terms(rest) or (rest != one.part.said and bool(_LABEL.match(rest)))


def _overview(question: str, passages: Sequence[Highlighted]) -> list[_Quotation]:
    """Returns the first sentences of each document, called by number or whole title, whose overview is wanted."""
    asked = designators(question) if asks_for_overview(question) else frozenset()
    subject = terms(subject_of_overview(question))
    by_document: dict[str, list[int]] = {}
    for at, passage in enumerate(passages):
        by_title = len(subject) > 1 and terms(passage.title) == subject
        if by_title or designators(f"{passage.title} {passage.document_name}") & asked:
            by_document.setdefault(passage.document_name, []).append(at)
    most = max(1, MOST_OF_OVERVIEW // max(1, len(by_document)))
    chosen: list[_Quotation] = []
    for places in by_document.values():
        places.sort(key=lambda at: (not _ABSTRACT.search(_heading(passages[at])), passages[at].place))
        found = [
            _quotation(passages, 1.0, QuotationCandidate(at + 1, part, PassageHeading("", ""), 1.0))
            for at in places
            for part in parts_of_passage(passages[at].content, ())
            if not part.is_row and _SENTENCE_ENDS.search(part.said)
        ]
        own: list[_Quotation] = []
        for one in [*dropwhile(lambda one: len(one.text.split()) < WORDS_OF_SENTENCE, found)] or found:
            if own and _within(own[-1], one):  # it brings along the sentence that it refers to
                own.pop()
            own.append(one)
            if len(own) == most:
                break
        chosen += own
    return chosen


def _of_series(
    question: str, candidates: list[QuotationCandidate], passages: Sequence[Highlighted]
) -> list[QuotationCandidate]:
    """Returns the candidates without those of other members of a series than the question names."""
    asked = designators(question, in_capitals=True)
    series = {name for name, _ in asked}

    def stays(one: QuotationCandidate) -> bool:
        passage = passages[one.passage - 1]
        own = designators(f"{passage.title} {passage.document_name}")
        if own & asked or series.isdisjoint(name for name, _ in own):
            return True
        return bool(designators(f"{one.part.before} {one.part.said} {passage.section}") & asked)

    return [one for one in candidates if stays(one)] if asked else candidates


def unexplained(question: str, passages: Sequence[Highlighted], cited: Sequence[CitedSpan]) -> bool:
    """Returns whether the question asks for a reason, and no citation gives one by its words or heading."""
    whys = [one for one in parts_of(question) if one.kind == "reason"]
    return bool(whys) and not any(
        gives_reason(why, one) for one in _quoted_parts(question, passages, cited) for why in whys
    )


def untold(question: str, passages: Sequence[Highlighted], cited: Sequence[CitedSpan]) -> bool:
    """Returns whether no citation tells of what the question supposes to have happened ("Why was it rejected?"), or
    none has a number or a person that it asks for."""
    asked = [one for one in parts_of(question) if one.kind in _ABOUT_EVENTS]
    quotations = _quoted_parts(question, passages, cited) if asked else []  # none if it is an overview
    return bool(quotations) and any(
        not any(tells(one, part) for part in quotations) for one in asked for tells in (tells_of_event, has_value)
    )


def _quoted_parts(
    question: str, passages: Sequence[Highlighted], cited: Sequence[CitedSpan]
) -> list[QuotationCandidate]:
    places = {(one.passage, one.start, one.end) for one in cited}
    quoted = {passage for passage, _, _ in places}
    alike = _alike(question, passages)
    candidates = _candidates(alike, parts_of(question), of=quoted)
    return [one for one in candidates if (one.passage, one.part.start, one.part.end) in places]


def names_and_tells(question: str, passages: Sequence[Highlighted]) -> bool:
    """Returns whether a passage has the author, the date and the like of a document that the question names."""
    asked = parts_of(question)
    return any(tells_of_document(part, one) for one in _candidates(passages, asked) for part in asked)


def covered(question: str, passages: Sequence[Highlighted]) -> float:
    """Returns the largest weighted share of the question's words, from 0 to 1, in one place of the passages.

    Words of another language with word lists count nearly as much.
    """
    candidates = _candidates(passages, asked := parts_of(question))
    return max(coverage(one, candidates) for one in asked)


def _alike(question: str, passages: Sequence[Highlighted]) -> Sequence[Highlighted]:
    """Returns the passages with highlights, from shared terms if the search found none."""
    if any(passage.highlights for passage in passages):
        return passages
    return [replace(one, highlights=likeness(question, SourceText(one.content))) for one in passages]


def _as_they_stand(chosen: Sequence[_Quotation], passages: Sequence[Highlighted], *, steps: bool) -> list[_Quotation]:
    """Groups the quotations by document, in text order except that the best answer comes first. If `steps` are asked
    for, a document's steps come first."""
    titles = list(dict.fromkeys(passages[one.passage - 1].title for one in chosen))

    def standing(one: _Quotation) -> tuple[int, bool, int, int]:
        passage = passages[one.passage - 1]
        is_first = is_step(one.text) if steps else one is chosen[0]
        return titles.index(passage.title), not is_first, passage.place, one.start

    return sorted(chosen, key=standing)


def _candidates(
    passages: Sequence[Highlighted],
    asked: Sequence[QuestionPart],
    *,
    addresses: bool = False,
    of: Collection[int] | None = None,
) -> list[QuotationCandidate]:
    """Returns the quotable parts of the passages, or only of those with the numbers `of`. If a reason is asked for, one
    in the following sentence also comes together with what it is the reason for."""
    headings = [
        PassageHeading(passage.title, passage.section, passage.document_name, passage.place == 0)
        for passage in passages
    ]
    found = [
        QuotationCandidate(number, part, headings[number - 1], passage.score, addresses)
        for number, passage in enumerate(passages, 1)
        if of is None or number in of
        for part in parts_of_passage(passage.content, passage.highlights)
    ]
    unexplained_terms = frozenset[str]().union(*(one.terms for one in asked if one.kind == "reason"))
    explained = [
        replace(reason, part=whole)
        for one, reason in (pairwise(found) if unexplained_terms else ())
        if one.passage == reason.passage
        and unexplained_terms & one.own - reason.own
        and (whole := with_reason(passages[one.passage - 1].content, one.part, reason.part))
    ]
    return [*found, *explained]


def _add(chosen: list[_Quotation], found: Sequence[_Quotation], asked: QuestionPart, parts: int) -> None:
    """Adds the best answer to one part of the question, and others that are about as good and say something else."""
    most = MOST_OF_SEVERAL if asked.several else max(1, MOST_SENTENCES // parts)
    near = NEAR_OF_SEVERAL if asked.several else NEAR_BEST
    good = [one for one in found if one.score >= near * found[0].score]
    added: list[_Quotation] = []
    for one in good:
        whole = next((at for at, other in enumerate(chosen) if _within(other, one)), None)
        if whole is not None:
            chosen[whole] = replace(one, score=max(one.score, chosen[whole].score))
        elif not any(_same(one, other) for other in chosen):
            chosen.append(one)
        elif one not in added and not any(_same(one, other) for other in added):
            added.append(one)  # it was chosen for another part
            continue
        else:
            continue
        added.append(one)
        if len(added) == most:
            return


def _written(
    chosen: Sequence[_Quotation], passages: Sequence[Highlighted], asked: Sequence[QuestionPart]
) -> tuple[str, list[CitedSpan]]:
    """Returns the answer; title and heading, which cannot be cited, are mentioned if they have what was asked."""
    paragraphs: list[str] = []
    cited: list[CitedSpan] = []
    words = frozenset[str]().union(*(one.terms for one in asked))
    own = ((one, passages[one.passage - 1]) for one in chosen)
    with_heading = {(passage.title, passage.section) for one, passage in own if _heading_answers(one, passage, words)}
    for place, quotations in groupby(chosen, lambda one: _place(passages[one.passage - 1], with_heading)):
        quotes = []
        for one in quotations:
            cited.append(CitedSpan(len(cited) + 1, one.passage, one.start, one.end))
            quotes.append(f"{one.text} [{len(cited)}]")
        paragraphs.append(f"From {place}: " + " ".join(quotes))
    return "\n\n".join(paragraphs), cited


def _heading_answers(one: _Quotation, passage: Highlighted, asked: frozenset[str]) -> bool:
    """Returns whether the heading has a word of the question that neither title nor quotation has."""
    return not (terms(_heading(passage)) & asked - one.terms).issubset(terms(passage.title))


def _place(passage: Highlighted, with_heading: Collection[tuple[str, str]]) -> str:
    title = _plain(passage.title)
    return f"{title} › {_plain(_heading(passage))}" if (passage.title, passage.section) in with_heading else title


def _heading(passage: Highlighted) -> str:
    return passage.section.rpartition(" > ")[2]


def _beginning(passages: Sequence[Highlighted]) -> list[_Quotation]:
    """Returns the first sentence of the best passage, for questions that share nothing with any part."""
    spans = sentences(passages[0].content) if passages else []
    if not spans:
        return []
    span = shortened(passages[0].content, *spans[0])
    return [_Quotation(1, *span, 1.0, _displayed(passages[0].content, *span))]


def _quotation(passages: Sequence[Highlighted], score: float, one: QuotationCandidate) -> _Quotation:
    part, content = one.part, passages[one.passage - 1].content
    text = _row(part) if part.is_row else _displayed(content, part.start, part.end)
    return _Quotation(one.passage, part.start, part.end, score, text, part.is_row)


def _within(one: _Quotation, other: _Quotation) -> bool:
    return one.passage == other.passage and other.start <= one.start and one.end <= other.end


def _same(one: _Quotation, other: _Quotation) -> bool:
    if one.passage == other.passage and one.start < other.end and other.start < one.end:
        return True
    first, second = one.terms, other.terms
    if one.row and other.row:  # rows of a table have much in common
        return first == second
    return len(first & second) >= SAME_WORDS * max(1, min(len(first), len(second)))


def _row(part: QuotablePart) -> str:
    """Returns the cells with their column names."""
    named = [
        f"{name}: {cell}" if name else cell
        for name, cell in zip([*part.columns, *("" for _ in part.cells)], part.cells, strict=False)
        if cell
    ]
    return _in_quotes(" ".join(_EMPHASIS.sub(r"\2", CELL_ENDS.join(named)).split()))


def _displayed(content: str, start: int, end: int) -> str:
    """Returns the sentence on one line in quotation marks, or as code if part of it looks like a marker."""
    text = _readable(content, start, end)
    if end < len(content) and not content[end].isspace() and content[end - 1].isalnum():
        text += "…"
    return _in_quotes(text)


def _in_quotes(text: str) -> str:
    if (begins := _MARKER_BEGINS.search(text)) and _MARKER_ENDS.search(text, begins.end()):
        return f"`{text.replace('`', '')}`"
    return f"“{text if text.count('`') % 2 == 0 else text.replace('`', '')}”"


def _readable(content: str, start: int, end: int) -> str:
    """Removes markup: the bars of table rows, list marks, emphasis and comments."""
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
