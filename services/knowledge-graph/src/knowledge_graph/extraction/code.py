"""Finds names in source code: definitions and imported modules."""

from __future__ import annotations

import re
from collections.abc import Iterator

from knowledge_graph.extraction.code_imports import GRAMMARS, parsed_imports
from knowledge_graph.extraction.identifiers import CAMEL, kind_of
from knowledge_graph.extraction.manifests.statement import called
from knowledge_graph.extraction.records import Span
from knowledge_graph.extraction.word_lists import words

DEFINITION = re.compile(
    r"^[ \t]*(?:export |public |abstract |async |pub |default )*"
    r"(?:class|def|function|func|fn|interface|struct|trait|enum)[ \t]+([A-Za-z_]\w{2,})",
    re.MULTILINE,
)
IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import\b|import[ \t]+([\w.]+)|import\b[^'\"\n]*from[ \t]+['\"]([\w@./-]+)['\"]|"
    r"use[ \t]+([\w:]+)|const[ \t]+\w+[ \t]*=[ \t]*require\(['\"]([\w@./-]+)['\"]\))",
    re.MULTILINE,
)
OPENING = re.compile(
    r"\s{0,20}(?:\"{3}(?P<quoted>[^\"]{1,600})|/\*(?P<block>[^*]{1,600})|"
    r"(?P<lines>(?:[ \t]{0,8}(?:#|//|--)[^\n]{0,300}\n){1,12}))"
)
"""The comment or docstring before the code, which describes the file."""
WHOLE = re.compile(
    r"(?:[Pp]art|[Cc]ore|[Hh]eart|[Mm]odule|[Cc]omponent|[Bb]ackend|[Ff]rontend|[Ee]ntry point) of (?:the )?"
    r"([A-Z][\w-]{2,40}(?: [A-Z][\w-]{1,40}){0,3})"
)
OF_CODE = re.compile(r"(?:Client|Handler|Controller|Repository)s?$")
"""Endings of class names: a "…Client" in code is a class, not a service."""
ADDRESS = re.compile(r"(?<=[\"'`])[a-z][a-z+]{1,20}://[\w.:@-]{1,200}")
SUFFIXES = words("code_suffixes")


def is_source_code(name: str) -> bool:
    """Returns whether the file is source code, by its suffix."""
    return name.rpartition(".")[2].lower() in SUFFIXES and "." in name


def definitions(text: str) -> Iterator[Span]:
    """Yields the names that are defined, and CamelCase names everywhere."""
    for match in DEFINITION.finditer(text):
        yield Span(match.start(1), match.end(1), match.group(1), _kind(match.group(1)))
    for match in CAMEL.finditer(text):
        yield Span(match.start(), match.end(), match.group(), _kind(match.group()))


def _kind(name: str) -> str:
    return "IDENTIFIER" if OF_CODE.search(name) else kind_of(name)


def wholes(text: str) -> Iterator[Span]:
    """Yields what the file is a part of, by its first comment: "the core of the Berth Allocation Service"."""
    opening = OPENING.match(text)
    if opening is not None:
        for found in WHOLE.finditer(text, opening.start(opening.lastgroup or 0), opening.end()):
            yield Span(*found.span(1), found.group(1), kind_of(found.group(1)))


def addresses(text: str) -> Iterator[tuple[Span, str]]:
    """Yields services whose addresses occur in the code, each with the relation that the scheme implies."""
    for match in ADDRESS.finditer(text):
        for place, host, entity_type, relation_type in called(match.group(), match.start()):
            yield Span(place, place + len(host), host, entity_type), relation_type


def imports(text: str, file_name: str) -> Iterator[Span]:
    """Yields the imported modules, without the language's standard library."""
    suffix = file_name.rpartition(".")[2].lower()
    if suffix in GRAMMARS:
        yield from parsed_imports(text, suffix)
        return
    for match in IMPORT.finditer(text):
        group = next(index for index, value in enumerate(match.groups(), 1) if value)
        yield Span(match.start(group), match.end(group), match.group(group), "LIBRARY")
