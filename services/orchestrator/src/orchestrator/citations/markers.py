"""Finds citation markers in an answer while it is being written.

A marker is `[1]`, `[1, 2]`, `[1-3]`, `[^1]` or the same in `【】`, with numbers from 1 to 999, anywhere but in code:
text between backticks, or in a fenced block, is passed on untouched (so `a[1]` in code survives, and a[1] in prose is a
citation). `[0]` and `[2024]` are not markers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from orchestrator.citations.support import Claim
from orchestrator.citations.terms import terms
from service_kit.sentences import Span, sentences

Resolve = Callable[[int, Claim], int | None]

_NUMBER = r"[1-9]\d{0,2}"
# Every repetition is bounded, so that a possible marker never holds back more than a line.
_LIST = rf"{_NUMBER}(?:\s{{0,2}}[,;–-]\s{{0,2}}{_NUMBER}){{0,11}}"
_MARKER = re.compile(rf"[\[【]\s{{0,2}}\^?({_LIST})\s{{0,2}}(?:†[^\]】\n]{{0,60}})?[\]】]")
_UNFINISHED = re.compile(r"[\[【]\s{0,2}\^?[\d\s,;–-]{0,100}(?:†[^\]】\n]{0,60})?")
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_MAYBE_FENCE = re.compile(r"[ \t]*(?:`*|~*)")
_SPECIAL = re.compile(r"[\[【`\n]")
_SENTENCE_END = re.compile(r"[.!?…](?=\s)|\n")
_LONGEST_CODE_SPAN = 400
_REMEMBERED = 2_000
_PLACE = "\ue000"  # replaces markers in the remembered text
_OPENED = re.compile(rf"[\[【][\s^\d,;–{_PLACE}-]*$")


@dataclass(frozen=True)
class PlacedMarker:
    """Adjacent markers, from `start` to `end` of a text."""

    start: int
    end: int
    numbers: Sequence[int]


class MarkerScanner:
    """Passes text on with each marker replaced by what `resolve(number, claim)` returns, or removed if that is None.

    Text is held back only as long as it may turn out to be part of a marker, or is needed to know a marker's context.
    The result does not depend on how the text is cut into pieces. `markers` and `code` are the positions of markers and
    code (fenced or between backticks) in the result.
    """

    def __init__(self, resolve: Resolve) -> None:
        self.resolve = resolve
        self.removed, self.length = 0, 0
        self.markers: list[PlacedMarker] = []
        self.code: list[Span] = []
        self._pending, self._shown_text, self._space, self._fence = "", "", "", ""
        self._line_start, self._after_removal = True, False

    def feed(self, text: str) -> str:
        """Returns what may be shown by now."""
        self._pending += text
        return "".join(self._advance(final=False))

    def end(self) -> str:
        """Returns the rest."""
        rest = "".join(self._advance(final=True))
        return rest if self._after_removal else rest + self._space

    def _advance(self, *, final: bool) -> Iterator[str]:
        while self._pending:
            piece = self._in_fence(final) if self._fence else self._in_prose(final)
            if piece is None:
                return
            self.length += len(piece)
            yield piece

    def _in_fence(self, final: bool) -> str | None:
        line, newline, _ = self._pending.partition("\n")
        if self._line_start and not newline and not final and _MAYBE_FENCE.fullmatch(line.rstrip()):
            return None
        closing = self._line_start and _FENCE.fullmatch(line.rstrip())
        if closing and closing[1].startswith(self._fence):
            self._fence = ""
        return self._take_code(len(line) + len(newline))

    def _in_prose(self, final: bool) -> str | None:
        if self._line_start and (fence := self._opens_fence(final)) is not False:
            return None if fence is None else self._take_code(fence)
        special = _SPECIAL.search(self._pending)
        if special is None or special.start() > 0:
            return self._take(special.start() if special else len(self._pending))
        if special[0] == "`":
            return self._code_span(final)
        if special[0] == "\n":
            return self._take(1)
        return self._marker(final)

    def _opens_fence(self, final: bool) -> int | Literal[False] | None:
        """Returns the length of a line that opens a fence; False if it opens none, None if not known yet."""
        line, newline, _ = self._pending.partition("\n")
        opening = _FENCE.match(line)
        undecided = not newline and not final
        if opening is None:
            return None if undecided and _MAYBE_FENCE.fullmatch(line) else False
        if undecided:
            return None
        if opening[1][0] == "`" and "`" in line[opening.end() :]:
            return False
        self._fence = opening[1]
        return len(line) + len(newline)

    def _code_span(self, final: bool) -> str | None:
        """Passes on a span between equal runs of backticks; a run without a match in the paragraph is text."""
        run = re.match("`+", self._pending)
        assert run is not None
        paragraph = self._pending[: _LONGEST_CODE_SPAN + 1].split("\n\n", 1)[0]
        closing = re.compile(rf"(?<!`){re.escape(run[0])}(?!`)").search(paragraph, run.end())
        if closing and (final or closing.end() < len(self._pending)) and closing.end() <= _LONGEST_CODE_SPAN:
            return self._take_code(closing.end())
        if not final and paragraph == self._pending and len(paragraph) <= _LONGEST_CODE_SPAN:
            return None
        return self._take(run.end())

    def _marker(self, final: bool) -> str | None:
        marker = _MARKER.match(self._pending)
        if marker is None:
            unfinished = _UNFINISHED.fullmatch(self._pending)
            return None if unfinished and not final else self._take(1)
        claim = self._claim(self._pending[marker.end() :], final)
        if claim is None:
            return None
        self._pending = self._pending[marker.end() :]
        shown = self._resolved(marker[1], claim)
        opened = _OPENED.search(self._shown_text)
        self._shown_text = (self._shown_text + _PLACE)[-_REMEMBERED:]
        self._line_start = False
        if not shown and opened:
            return self._take_gap()
        if not shown:
            self._after_removal = True
            return ""
        space, self._space, self._after_removal = self._space, "", False
        markers = "".join(f"[{number}]" for number in shown)
        start = self.length + len(space)
        self.markers.append(PlacedMarker(start, start + len(markers), shown))
        return space + markers

    def _take_gap(self) -> str:
        """Returns an ellipsis if the text around a removed marker would form another marker: `[2[9]]`."""
        gap, self._space, self._after_removal = f"{self._space}…", "", False
        return gap

    def _resolved(self, numbers: str, claim: Claim) -> list[int]:
        shown: list[int] = []
        for number in _expanded(numbers):
            resolved = self.resolve(number, claim)
            if resolved is None:
                self.removed += 1
            elif resolved not in shown:
                shown.append(resolved)
        return shown

    def _claim(self, following: str, final: bool) -> Claim | None:
        """Returns the text that the marker supports: the sentence before it on its line, otherwise the one after it."""
        line = self._shown_text.rpartition("\n")[2]
        if not terms(line):
            end = _SENTENCE_END.search(following)
            if end is None and not final:
                return None
            sentence = _MARKER.sub(" ", following[: end.end()] if end else following)
            if terms(sentence):
                return Claim(sentence, sentence)
            line = self._shown_text
        spans = sentences(line.rstrip(_PLACE + " \n"))
        sentence = line[spans[-1][0] : spans[-1][1]] if spans else ""
        segments = [segment for segment in sentence.split(_PLACE) if terms(segment)]
        return Claim(segments[-1] if segments else "", sentence.replace(_PLACE, " "))

    def _take_code(self, length: int) -> str:
        text = self._take(length)
        end = self.length + len(text) + len(self._space)
        self.code.append((end - length, end))
        return text

    def _take(self, length: int) -> str:
        """Passes on `length` characters; trailing spaces wait, as they are dropped if a removed marker follows."""
        text, self._pending = self._pending[:length], self._pending[length:]
        self._shown_text = (self._shown_text + text)[-_REMEMBERED:]
        self._line_start = text.endswith("\n")
        if self._after_removal and text[0] in " .,;:!?)\n":
            self._space = ""
        whole = self._space + text
        self._after_removal = False
        kept = whole.rstrip(" ")
        self._space = whole[len(kept) :]
        return kept


def _expanded(numbers: str) -> Iterator[int]:
    for part in re.split(r"(?<!\s)\s*+[,;]\s*+", numbers):
        first, *last = (int(number) for number in re.split(r"(?<!\s)\s*+[–-]\s*+", part))
        yield from range(first, min(last[-1], first + 20) + 1) if last and last[-1] >= first else [first, *last]
