"""Finds the subject of options and tasks: "* Build Formulary" names Formulary, not a thing called Build Formulary."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from knowledge_graph.extraction.records import Span
from knowledge_graph.extraction.word_lists import words

VERBS = words("option_verbs")
OPTION = re.compile(
    rf"^[ \t]{{0,8}}(?:[-*•]|\d{{1,3}}[.)])[ \t]{{1,4}}((?:{'|'.join(sorted(VERBS))}) [A-ZÄÖÜ][\w-]{{1,60}}"
    r"(?: [A-ZÄÖÜ][\w-]{1,60}){0,3})",
    re.MULTILINE,
)


def options(texts: Iterable[str]) -> frozenset[str]:
    """Returns the names that begin an item with a verb: "Build Formulary"."""
    return frozenset(found.group(1) for text in texts for found in OPTION.finditer(text))


def without_verbs(spans: Sequence[Span], known: frozenset[str]) -> list[Span]:
    """Returns the spans, without their verb if they are `known` options."""
    return [_without_verb(span) if span.surface in known else span for span in spans]


def _without_verb(span: Span) -> Span:
    verb, _, rest = span.surface.partition(" ")
    return replace(span, start=span.start + len(verb) + 1, surface=rest)
