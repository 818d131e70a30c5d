"""Splits text into quotable spans: sentences, list items, table rows; blocks of lines for code. No IO.

Spans are (start, end) character offsets into the text that was given, in their order, without white space at the ends.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from service_kit.sentences import Span, sentence_ends, trimmed

_LINE = re.compile(r"[^\n]*\n?")
_FENCE = re.compile(r"\s*(```|~~~)")
_ITEM = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)]|\[[ xX]\])\s+")
_TABLE_ROW = re.compile(r"\s*\|")
# A table's first row names the columns if a rule and another row follow.
_COLUMN_NAMES = re.compile(r"[ \t]*\|[^\n]*\n[ \t]*\|(?=[ \t:|]*+-)[ \t:|-]++\n[ \t]*\|")
_ITEMS_LINES = re.compile(
    r"(?:[ \t]*\n){1,3}[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t][^\n]*+(?:\n[ \t]++[^\s\-*+•\d][^\n]*+)*+"
)
_HEADING = re.compile(r"\s*#{1,6}\s+|[^\n]*?(?:===|---)")
_RULE = re.compile(r"[\s|:=+*~_-]+$")
_WORD = re.compile(r"\w")
LINES_A_BLOCK = 8
LONGEST_LIST = 400  # characters that a sentence ending in a colon may have together with its list

PROSE_TYPES = frozenset({"text/x-markdown", "text/x-rst"})
CODE_TYPES = frozenset(
    {
        "application/javascript",
        "application/json",
        "application/sql",
        "application/toml",
        "application/typescript",
        "application/x-sh",
        "application/xml",
        "application/yaml",
        "text/css",
        "text/javascript",
    }
)


def spans(text: str, *, code: bool = False) -> list[Span]:
    """Returns the quotable spans of a chunk; `code` is for source files."""
    found = _code_blocks(text) if code else _prose(text)
    kept = [(start, end) for start, end in (trimmed(text, *span) for span in found) if _WORD.search(text, start, end)]
    return kept if code else list(_with_lists(text, kept))


def is_code(media_type: str) -> bool:
    """Returns whether a document of this media type is source code rather than prose."""
    kind = media_type.lower()
    return (kind.startswith("text/x-") and kind not in PROSE_TYPES) or kind in CODE_TYPES


def _code_blocks(text: str, offset: int = 0) -> Iterator[Span]:
    """Yields runs of lines without a blank one, cut every LINES_A_BLOCK lines."""
    start, lines, position = offset, 0, offset
    for line in _lines(text):
        blank = not line.strip()
        if blank or lines == LINES_A_BLOCK:
            yield start, position
            start, lines = position, 0
        position += len(line)
        lines += not blank
    yield start, position


def _prose(text: str) -> Iterator[Span]:
    start, position, fence = 0, 0, -1
    for line in _lines(text):
        end = position + len(line)
        if _FENCE.match(line):
            if fence < 0:
                yield from _sentences(text, start, position)
                fence = end
            else:
                yield from _code_blocks(text[fence:position], fence)
                fence = -1
            start = end
        elif fence < 0:
            item = _ITEM.match(line)
            if _TABLE_ROW.match(line):
                yield from _sentences(text, start, position)
                if not _COLUMN_NAMES.match(text, position):
                    yield _cells(text, position, end)
                start = end
            elif not line.strip() or _HEADING.match(line) or _RULE.match(line):
                yield from _sentences(text, start, position)
                yield position, end
                start = end
            elif item:
                yield from _sentences(text, start, position)
                start = position + item.end()
        position = end
    if fence >= 0:
        yield from _code_blocks(text[fence:], fence)
    else:
        yield from _sentences(text, start, position)


def _cells(text: str, start: int, end: int) -> Span:
    """Returns a table row without its outer bars."""
    row = text[start:end]
    return start + len(row) - len(row.lstrip(" \t|")), start + len(row.rstrip(" \t\r\n|"))


def _with_lists(text: str, found: list[Span]) -> Iterator[Span]:
    """Joins a sentence that ends in a colon with its list; if both are too long, it is left out."""
    taken = 0
    for start, end in found:
        if start < taken:
            continue
        last = _list_end(text, end) if text[end - 1] == ":" else end
        if last == end:
            yield start, end
        elif last - start <= LONGEST_LIST:
            taken = last
            yield trimmed(text, start, last)


def _list_end(text: str, position: int) -> int:
    """Returns the end of the list that begins on one of the next lines; `position` if none does."""
    while item := _ITEMS_LINES.match(text, position):
        position = item.end()
    return position


def _sentences(text: str, start: int, end: int) -> Iterator[Span]:
    for stop in sentence_ends(text, start, end):
        yield start, stop
        start = stop
    yield start, end


def _lines(text: str) -> Iterator[str]:
    return (match[0] for match in _LINE.finditer(text) if match[0])
