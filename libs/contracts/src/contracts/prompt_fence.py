"""Passages in a prompt, in a fence that their own text can neither close nor imitate. No IO."""

from __future__ import annotations

import re
from collections.abc import Callable

LONGEST_ATTRIBUTE = 160  # characters
# A model is not a parser: it may take other brackets, or a name with invisible characters in it, for a fence.
_INVISIBLE = "\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufe00-\ufe0f\ufeff"
_OF_MARKUP = str.maketrans('"<＜﹤>＞﹥', "'‹‹‹›››")


def neutralising(*names: str) -> Callable[[str], str]:
    """Returns a function that makes a text safe: nothing in it can open or close a fence with these names.

    Offsets in the text do not change.
    """
    words = "|".join(f"[{_INVISIBLE}]*+".join(name) for name in names)
    fence = re.compile(f"[<＜﹤](?=[\\s/／{_INVISIBLE}]*+(?:{words}))", re.IGNORECASE)
    return lambda text: fence.sub("‹", text)


def fenced(number: int, document: str, section: str | None, pages: tuple[int | None, int | None], content: str) -> str:
    """Returns the block of passage `number`. `content` must be neutralised; `pages` are its first and last."""
    named = {"document": document, "section": section, "page": _pages(*pages)}
    attributes = "".join(f' {name}="{attribute(value)}"' for name, value in named.items() if value)
    return f'<passage number="{number}"{attributes}>\n{content}\n</passage>'


def attribute(text: str) -> str:
    """Returns the text as an attribute's value: on one line, quotes and brackets replaced, shortened if it is long."""
    line = " ".join(text.translate(_OF_MARKUP).split())
    return line if len(line) <= LONGEST_ATTRIBUTE else f"{line[: LONGEST_ATTRIBUTE - 1]}…"


def _pages(first: int | None, last: int | None) -> str | None:
    if first is None:
        return None
    return str(first) if last in (None, first) else f"{first}-{last}"
