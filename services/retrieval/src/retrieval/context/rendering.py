"""Renders passages in a fence that their own text can neither close nor imitate. No IO."""

from __future__ import annotations

import re

LONGEST_ATTRIBUTE = 160  # characters
# Also with invisible characters or other brackets between: a model that reads it is not a parser.
_FENCE = re.compile("[<＜﹤](?=[\\s/\u200b-\u200f\u2060\ufeff]*passage)", re.IGNORECASE)
_OF_MARKUP = str.maketrans('"<＜﹤>＞﹥', "'‹‹‹›››")


def fenced(number: int, document: str, section: str | None, pages: tuple[int | None, int | None], content: str) -> str:
    """Returns the block of passage `number`. `content` must be `neutralised`; `pages` are its first and last."""
    named = {"document": document, "section": section, "page": _pages(*pages)}
    attributes = "".join(f' {name}="{attribute(value)}"' for name, value in named.items() if value)
    return f'<passage number="{number}"{attributes}>\n{content}\n</passage>'


def neutralised(text: str) -> str:
    """Returns the text with nothing that could open or close a fence; every character keeps its place."""
    return _FENCE.sub("‹", text)


def attribute(text: str) -> str:
    """Returns the text on one line, with other quotes and brackets, shortened if it is long."""
    line = " ".join(text.translate(_OF_MARKUP).split())
    return line if len(line) <= LONGEST_ATTRIBUTE else f"{line[: LONGEST_ATTRIBUTE - 1]}…"


def _pages(first: int | None, last: int | None) -> str | None:
    if first is None:
        return None
    return str(first) if last in (None, first) else f"{first}-{last}"
