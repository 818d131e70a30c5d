"""The query language: every text is a query, read in one pass. No IO.

One regular expression finds the operators; what it does not recognise is text. `std::vector`, `http://x`, `12:30`,
`5" disk` and `**bold**` are text, because an operator stands at the beginning of a word and its name is a known one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

FIELDS = ("title", "name", "section", "tag", "type", "language", "source")
NAMING_FIELDS = ("title", "name", "section")  # their values are also words to search for
DOCUMENT_NAMES = ("title", "name")
PREFIXED = "*"  # ends a value of these that is the beginning of a word
MOST_OPERATORS = 32  # per query; any further ones are text
_QUOTES = '"\u201c\u201d\u201e\u201f\u00ab\u00bb\u301d\u301e\uff02'
_OPERAND = re.compile(
    rf"""
    (?<![^\s(\[{{])                                          # at the beginning of a word
    (?P<minus>-(?=[\w{_QUOTES}]))?
    (?:(?P<field>{"|".join(FIELDS)}):(?=[\w./+\#{_QUOTES}-]))?
    (?:
        [{_QUOTES}](?P<phrase>[^{_QUOTES}]*+)[{_QUOTES}]
      | (?P<prefix>\w[\w.-]*+)\*(?=[\s,;.!?)\]}}]|$)
      | (?P<word>[^\s{_QUOTES}]++)
    )
    """,
    re.VERBOSE | re.IGNORECASE,
)
_AFTER_WORD = ",;.!?)]}"


@dataclass(frozen=True)
class ParsedQuery:
    """A parsed query.

    `text` is the query without its operators, for embedding. `words` are searched for in the chunks; they include those
    of phrases and naming fields, but not the `prefixes`. `excluded` are words and phrases that must not occur. `fields`
    are the values by lower-case field name, all of which must match; a value of the title or the name that ends in
    PREFIXED matches the beginning of a word. If `strict`, the phrases must match too.
    """

    text: str
    words: str
    phrases: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    strict: bool = False

    @property
    def sections(self) -> tuple[str, ...]:
        return self.fields.get("section", ())

    @property
    def conditions(self) -> bool:
        """True if a chunk itself must meet a condition, not only its document."""
        return bool(self.excluded or self.sections or (self.strict and self.phrases))


def parse(query: str, *, strict: bool = False) -> ParsedQuery:
    """Parses a query. Only a `strict` one excludes words; otherwise `-word` is text."""
    reading = _Reading(strict)
    end = 0
    for operand in _OPERAND.finditer(query):
        reading.add_text(query[end : operand.start()])
        if reading.operators >= MOST_OPERATORS or not reading.take(operand):
            reading.add_text(operand[0])
        end = operand.end()
    reading.add_text(query[end:])
    return reading.result(query)


class _Reading:
    """What has been parsed so far."""

    def __init__(self, strict: bool) -> None:
        self.strict, self.operators = strict, 0
        self.text: list[str] = []
        self.words: list[str] = []
        self.phrases: list[str] = []
        self.prefixes: list[str] = []
        self.excluded: list[str] = []
        self.fields: dict[str, list[str]] = {}

    def add_text(self, part: str, *, also_in_words: bool = True) -> None:
        self.text.append(part)
        if also_in_words:
            self.words.append(part)

    def take(self, operand: re.Match[str]) -> bool:
        """Takes the operand if it is an operator; returns whether it is one."""
        quoted, prefix, word = operand["phrase"], operand["prefix"], operand["word"]
        value = " ".join(quoted.split()) if quoted is not None else prefix or (word or "").rstrip(_AFTER_WORD)
        if not value:
            return False
        if operand["minus"]:
            taken = self._exclude(operand, value)
        elif operand["field"]:
            taken = self._limit(operand["field"].lower(), value, prefixed=prefix is not None)
        elif quoted is not None:
            self.phrases.append(value)
            self.add_text(f" {value} ")
            taken = True
        else:
            taken = prefix is not None and self._expand(prefix)
        self.operators += taken
        return taken

    def _exclude(self, operand: re.Match[str], value: str) -> bool:
        if self.strict:
            self.excluded.append(f"{operand['field']}:{value}" if operand["field"] else value)
        return self.strict

    def _limit(self, name: str, value: str, *, prefixed: bool) -> bool:
        prefixed = prefixed and name in DOCUMENT_NAMES
        self.fields.setdefault(name, []).append(f"{value}{PREFIXED}" if prefixed else value)
        if name in NAMING_FIELDS and not (prefixed and self._expand(value)):
            self.add_text(f" {value} ")
        return True

    def _expand(self, prefix: str) -> bool:
        """Takes the prefix, unless it is a single ASCII character; a single ideogram is a useful prefix."""
        if len(prefix) == 1 and prefix.isascii():
            return False
        self.prefixes.append(prefix)
        self.add_text(f" {prefix} ", also_in_words=False)
        return True

    def result(self, query: str) -> ParsedQuery:
        text = " ".join("".join(self.text).split())
        fields = {name: _distinct(values) for name, values in self.fields.items()}
        return ParsedQuery(
            text=text or " ".join(value for values in fields.values() for value in values) or query.strip(),
            words="".join(self.words).strip(),
            phrases=_distinct(self.phrases),
            prefixes=_distinct(self.prefixes),
            excluded=_distinct(self.excluded),
            fields=fields,
            strict=self.strict,
        )


def _distinct(values: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))
