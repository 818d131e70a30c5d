"""Parses questions with templates of words, slots and alternatives, matched word by word. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

LONGEST_NAME = 8
LONGEST_KINDS = 6
LONGEST_REMARK = 4
SLOTS = {"NAME": LONGEST_NAME, "OTHER": LONGEST_NAME, "KINDS": LONGEST_KINDS, "ANY": LONGEST_REMARK}
Slots = Mapping[str, tuple[int, int]]
"""Start and end of the words of each slot."""


@dataclass(frozen=True)
class Slot:
    name: str


@dataclass(frozen=True)
class Choice:
    """A choice between sequences; an empty one makes the part optional."""

    ways: tuple[Parts, ...]


Parts = tuple["str | Slot | Choice", ...]


@dataclass
class Grammar:
    """The templates of a file, by the label before each `=`."""

    defined: dict[str, Parts] = field(default_factory=dict)
    templates: list[tuple[str, Parts]] = field(default_factory=list)

    @classmethod
    def read(cls, text: str) -> Grammar:
        """Parses `label = template` and `WORD := template`; raises ValueError if a bracket is not closed."""
        grammar = cls()
        for line in text.splitlines():
            if not line.strip() or line.startswith("#"):
                continue
            label, sign, template = (part.strip() for part in line.partition("="))
            parts = _TemplateReading(_tokens(template), grammar.defined).sequence()
            if label.endswith(":"):
                grammar.defined[label.removesuffix(":").strip()] = parts
            else:
                grammar.templates.append((label, parts))
            assert sign
        return grammar

    def matches(self, words: Sequence[str], fits: Callable[[str, int, int], bool]) -> Iterator[tuple[str, Slots]]:
        """Yields label and slots of each template that matches all the words; `fits` checks the words of a slot."""
        for label, parts in self.templates:
            for end, slots in _match(parts, words, 0, {}, fits):
                if end == len(words):
                    yield label, slots
                    break


def _match(
    parts: Parts, words: Sequence[str], at: int, slots: Slots, fits: Callable[[str, int, int], bool]
) -> Iterator[tuple[int, Slots]]:
    if not parts:
        yield at, slots
        return
    first, rest = parts[0], parts[1:]
    if isinstance(first, str):
        if at < len(words) and words[at] == first:
            yield from _match(rest, words, at + 1, slots, fits)
    elif isinstance(first, Slot):
        for end in range(at + 1, min(at + SLOTS[first.name], len(words)) + 1):
            if fits(first.name, at, end):
                yield from _match(rest, words, end, {**slots, first.name: (at, end)}, fits)
    else:
        for way in first.ways:
            yield from _match(way + rest, words, at, slots, fits)


def _tokens(template: str) -> list[str]:
    for sign in "[]()|":
        template = template.replace(sign, f" {sign} ")
    return template.split()


class _TemplateReading:
    """Parses the tokens of one template from the left."""

    def __init__(self, tokens: list[str], defined: Mapping[str, Parts]) -> None:
        self.tokens, self.defined = tokens, defined

    def sequence(self, closing: str = "") -> Parts:
        """Parses up to the closing bracket, or to the end; alternatives become one choice."""
        ways: list[Parts] = []
        parts: list[str | Slot | Choice] = []
        while self.tokens:
            symbol = self.tokens.pop(0)
            if symbol == closing:
                ways.append(tuple(parts))
                return ways[0] if len(ways) == 1 else (Choice(tuple(ways)),)
            if symbol == "|":
                ways.append(tuple(parts))
                parts = []
            elif symbol == "(":
                parts += self.sequence(")")
            elif symbol == "[":
                parts.append(Choice((self.sequence("]"), ())))
            elif symbol in SLOTS:
                parts.append(Slot(symbol))
            elif symbol.isupper():
                parts += self.defined[symbol]
            else:
                parts.append(symbol)
        if closing:
            raise ValueError(f"a bracket is not closed: {closing}")
        return tuple(parts)
