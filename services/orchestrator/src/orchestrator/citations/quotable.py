"""Splits a passage into quotable parts: sentences with the antecedents of their pronouns, rows, fields."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from orchestrator.citations.kind_patterns import REASON_FOR_IT
from orchestrator.citations.support import LONGEST_QUOTE, shortened
from orchestrator.citations.terms import terms
from service_kit.sentences import BLOCKS, Span, sentences, trimmed

MOST_CELLS = 12
_LINE = re.compile(r"[^\n]+")
_ROW = re.compile(r"[ \t]*\|")
_RULE = re.compile(r"[ \t|:+=-]+")
_FIELD = re.compile(r"[ \t]*(?:[-*+•][ \t]+)?([A-Z][\w-]{0,40}(?: \w{1,40}){0,2}):[ \t]+(?=\S)")
_CODE = re.compile(
    r"[{};=]\s*$|^\s*(?:@|def |class |import |from \S+ import |const |return |SELECT |CREATE |\$ |>>>)|\(\)", re.M
)
# A sentence with a list; the items can also be quoted one by one.
_ITEMS = re.compile(r"\n[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]")
_ITEM = re.compile(r"\n{1,2}[ \t]*+(?:[-*+•]|\d{1,3}[.)])[ \t]++[^\n]++(?:\n[ \t]++(?![-*+•\s]|\d{1,3}[.)])[^\n]++)*+")
# Says nothing by itself and belongs to the text that follows.
_LABEL = re.compile(
    r"(?:step|schritt|phase)\s\d{1,3}\.|(?:[-*+•]\s{1,4})?[^\W_][\w-]{0,30}(?:\s[\w-]{1,20}){0,2}:", re.IGNORECASE
)
_REFERS = re.compile(
    r"[\W_]*+(?:(?:and|but|so|then|also|instead|still|therefore|however),?\s)?(?:"
    r"(?:it|they|he|she|its|their|his|her|both|neither|before that|since then|until then|after that|instead)\b"
    r"|(?:we|i|you|nobody|somebody|everybody|wir|ich) (?:\w+ ){1,4}(?:it|them|this|that|es|sie)\b"
    r"|(?-i:[A-Z])\w{1,40} (?:(?-i:[A-Z])\w{1,40} )?\w{2,40}(?:ed|s) (?:it|them|this)\b"
    r"|(?:with|in|on|at|by|for|after|since|from|within|until) [^.,;\n]{1,60}(?:, [^.,;\n]{1,60})?, (?:it|they|he|she)\b"
    r"|the (?:second|other|latter|former|same) \w+"
    r"|(?:this|these|that|those)\s(?:is|are|was|were|can|could|may|might|must|will|would|should|does|did|do|has|have|had"
    r"|alone|means|meant|makes|made|took|gives|gave|allows|let|lets|explains|happens|happened)\b"
    r"|(?:er|sie|es|diese[rsnm]?|dies|das(?=\s(?-i:[a-zäöü]))|davor|seitdem|vorher|ihre?[nmrs]?|seine?[nmrs]?|davon"
    r"|dafür|stattdessen)\s)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class QuotablePart:
    """Characters `start` to `end` of a passage. `said` is its own text, `before` the sentence that it refers to.

    `columns` are the column names of `cells`; both are empty except for a row or a field, a line `Name: value`.
    """

    start: int
    end: int
    said: str
    columns: Sequence[str] = ()
    cells: Sequence[str] = ()
    likeness: float | None = None
    before: str = ""
    is_field: bool = False

    @property
    def is_row(self) -> bool:
        return bool(self.cells)


def parts_of_passage(content: str, highlights: Sequence[tuple[int, int, float]]) -> list[QuotablePart]:
    """Returns the quotable parts in order. `highlights` are the most similar spans found by the search, with scores."""
    rows = {row.start: row for row in _rows(content)}
    taken = [*((row.start, row.end) for row in rows.values()), *_headers(content)]
    spans = [*((row.start, row.end) for row in rows.values()), *_prose(content, taken, highlights)]
    found: list[QuotablePart] = []
    label: Span | None = None
    for start, end in sorted(spans):
        if _LABEL.fullmatch(content, start, end) and not _ITEM.match(content, end):
            label = start, end
            continue
        if label and not content[label[1] : start].strip() and start not in rows:
            start = label[0]
        label = None
        likeness = max((score for first, last, score in highlights if first < end and start < last), default=None)
        if row := rows.get(start):
            found.append(replace(row, likeness=likeness))
            continue
        found.append(_sentence(content, (start, end), found[-1] if found else None, likeness))
    return found


def with_reason(content: str, told: QuotablePart, reason: QuotablePart) -> QuotablePart | None:
    """Returns a sentence and the next one as one part, if the next one gives a reason; otherwise None."""
    if told.is_row or reason.is_row or reason.before or not REASON_FOR_IT.search(reason.said):
        return None
    if told.end > reason.start or not _joins(content, told, (reason.start, reason.end)):
        return None
    return replace(reason, start=told.start, before=content[told.start : told.end])


def _sentence(content: str, span: Span, before: QuotablePart | None, likeness: float | None) -> QuotablePart:
    start, end = span
    said = content[start:end]
    follows = before is not None and not before.is_row and before.end <= start
    if before and follows and _REFERS.match(said) and _joins(content, before, span):
        return QuotablePart(before.start, end, said, likeness=likeness, before=content[before.start : before.end])
    if said.endswith(":") and (end := _list_after(content, start, end)) != span[1]:
        return QuotablePart(start, end, said, likeness=likeness)
    return QuotablePart(*shortened(content, start, end), said, likeness=likeness)


def _list_after(content: str, start: int, end: int) -> int:
    """Returns the end of the list introduced by what ends at `end`, as far as a quotation from `start` reaches."""
    while (item := _ITEM.match(content, end)) and item.end() - start <= LONGEST_QUOTE:
        end = item.end()
    return end


def _joins(content: str, before: QuotablePart, span: Span) -> bool:
    return "\n\n" not in content[before.end : span[0]] and span[1] - before.start <= LONGEST_QUOTE


def _headers(content: str) -> Iterator[Span]:
    """Yields the headers of tables, which say nothing without their rows."""
    for match in _LINE.finditer(content) if "|" in content else ():
        if _ROW.match(match[0]) and _heads(content, match.end()):
            yield match.span()


def _prose(content: str, rows: Sequence[Span], highlights: Sequence[tuple[int, int, float]]) -> Iterator[Span]:
    """Yields the highlights, which exclude code, and the sentences beside them."""
    taken = [*rows]
    for start, end, _ in highlights:
        if not _overlaps((start, end), taken) and not _RULE.fullmatch(content, start, end):
            taken.append((start, end))
            yield start, end
    whole = [span for span in taken if not _ITEMS.search(content[slice(*span)])]
    for start, end in sentences(content, BLOCKS):
        if (
            (start, end) in taken
            or _overlaps((start, end), whole)
            or is_code(content[start:end])
            or content.startswith("#", start)
        ):
            continue
        if terms(content[start:end]):
            yield start, end


def _rows(content: str) -> Iterator[QuotablePart]:
    """Yields table rows except headers, and lines `Name: value` if there are several in a row."""
    names: list[str] = []
    header: list[str] | None = None
    fields: list[QuotablePart] = []
    for match in _LINE.finditer(content):
        start, end = trimmed(content, *match.span())
        line = content[start:end]
        if _ROW.match(line):
            cells = [cell.strip() for cell in line.strip("| \t").split("|")]
            if _RULE.fullmatch(line):
                names = header or []
            elif header is None and _heads(content, match.end()):
                header = cells
            else:
                bars = len(line) - len(line.lstrip("| \t"))
                yield _row(start + bars, start + len(line.rstrip("| \t")), names, cells)
            continue
        names, header = [], None
        field = _FIELD.match(line)
        if field and len(line) <= LONGEST_QUOTE:
            fields.append(QuotablePart(start, end, line, (field[1],), (line[field.end() :],), is_field=True))
        else:
            yield from fields if len(fields) > 1 else ()
            fields = []
    yield from fields if len(fields) > 1 else ()


def _heads(content: str, end: int) -> bool:
    """Returns whether the next line is the rule below a table's header."""
    following = _LINE.match(content, end + 1)
    return following is not None and bool(_ROW.match(following[0])) and bool(_RULE.fullmatch(following[0]))


def _row(start: int, end: int, names: Sequence[str], cells: list[str]) -> QuotablePart:
    if len(names) != len(cells) or len(cells) > MOST_CELLS:
        names = [" ".join(names), *("" for _ in cells[1:])] if names and len(cells) != len(names) else list(names)
    is_field = len(cells) == 2 and not any(names)
    if is_field:
        names, cells = [cells[0]], [cells[1]]
    return QuotablePart(start, end, " | ".join(cells), tuple(names), tuple(cells), is_field=is_field)


def is_code(text: str) -> bool:
    """Returns whether the text looks like source code."""
    return bool(_CODE.search(text))


def _overlaps(span: Span, others: Sequence[Span]) -> bool:
    return any(span[0] < end and start < span[1] for start, end in others)
