"""Handles code fences that models put around their output, or leave open. Pure."""

from __future__ import annotations

import re

_FENCE = re.compile(r"^ {0,3}(`{3,20}|~{3,20})([^\n`]{0,100})$", re.MULTILINE)
_PLAIN = ("", "markdown", "md", "text")


def leaves_open(text: str) -> bool:
    """Returns whether the text leaves a code block open (CommonMark 4.5)."""
    opened: str | None = None
    for found in _FENCE.finditer(text.replace("\r\n", "\n")):
        marks, info = found[1], found[2].strip()
        if opened is None:
            opened = marks
        elif marks[0] == opened[0] and len(marks) >= len(opened) and not info:
            opened = None
    return opened is not None


class FenceFilter:
    """Streams a text without a fence that encloses all of it.

    From Markdown, only a fence of plain text or Markdown is removed, from code any; `language` is the one it named.
    """

    def __init__(self, *, code: bool) -> None:
        self.code = code
        self.language: str | None = None
        self._held = ""
        self._begun, self._fenced = False, False

    def feed(self, text: str) -> str:
        """Returns the text that can be shown now: the last line is held back while it may close the fence."""
        self._held += text
        if not self._begun:
            first, newline, rest = self._held.lstrip().partition("\n")
            if not newline and len(first) < 100 and (not first or first.startswith(("`", "~"))):
                return ""
            self._begun = True
            found = _FENCE.match(first.rstrip("\r"))
            language = found[2].strip().lower().partition(" ")[0] if found else ""
            if found and (self.code or language in _PLAIN):
                self._fenced, self.language, self._held = True, language or None, rest
            else:
                self._held = self._held.lstrip("\n")
        if not self._fenced:
            shown, self._held = self._held, ""
            return shown
        at = self._held.rstrip("`~ \r\n\t")
        shown, self._held = at, self._held[len(at) :]
        return shown

    def end(self) -> str:
        """Returns the rest."""
        held, self._held = self._held, ""
        if not self._fenced:
            return held
        body = held.rstrip()
        cut = body.rfind("\n")
        last = body[cut + 1 :].strip()
        return body[: cut + 1] if len(last) >= 3 and not last.strip("`~") else held


def without_fence(text: str, *, code: bool) -> str:
    """Returns the text without an enclosing fence."""
    fences = FenceFilter(code=code)
    return fences.feed(text) + fences.end()
