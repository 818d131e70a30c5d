"""Separates a model's thinking from its answer if both come in one text, as `<think>...</think>`."""

from inference.chat import ChatDelta

_OPEN = "<think>"
_CLOSE = "</think>"


class ThinkingSplitter:
    """Takes the pieces of one answer in order; a tag may be split between pieces anywhere.

    A block opens only at the beginning of a line, since an answer may mention `<think>` within a line.
    """

    def __init__(self) -> None:
        self._held = ""
        self._thinking = False
        self._line_begins = True
        self._after_block = False

    def feed(self, piece: str) -> list[ChatDelta]:
        """Returns the deltas that are certain by now; the beginning of a possible tag is held back."""
        self._held += piece
        deltas: list[ChatDelta] = []
        while (cut := self._tag()) >= 0:
            deltas += self._emit(self._held[:cut])
            self._held = self._held[cut + len(self._wanted) :]
            self._after_block, self._line_begins = self._thinking, True
            self._thinking = not self._thinking
        certain = len(self._held) - _overlap(self._held, self._wanted)
        deltas += self._emit(self._held[:certain])
        self._held = self._held[certain:]
        return deltas

    def end(self) -> list[ChatDelta]:
        """Returns the rest, after the last piece."""
        rest, self._held = self._held, ""
        return self._emit(rest)

    @property
    def _wanted(self) -> str:
        return _CLOSE if self._thinking else _OPEN

    def _tag(self) -> int:
        """Returns the position of the next expected tag in the held text, or -1."""
        start = self._held.find(self._wanted)
        while not self._thinking and start >= 0 and not self._begins_line(self._held[:start]):
            start = self._held.find(self._wanted, start + 1)
        return start

    def _begins_line(self, before: str) -> bool:
        line = before.rpartition("\n")
        return not line[2].strip() and (bool(line[1]) or self._line_begins)

    def _emit(self, text: str) -> list[ChatDelta]:
        if self._thinking:
            return [ChatDelta(thinking=text)] if text else []
        self._line_begins = self._begins_line(text)
        if self._after_block:
            # The blank lines between the block and the answer belong to neither.
            text = text.lstrip()
            self._after_block = not text
        return [ChatDelta(text=text)] if text else []


def _overlap(text: str, tag: str) -> int:
    """Returns the length of the longest suffix of `text` that is a prefix of `tag`."""
    return next((size for size in range(min(len(text), len(tag) - 1), 0, -1) if text.endswith(tag[:size])), 0)
