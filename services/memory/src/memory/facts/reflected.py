"""Combines a turn's reflections with the statements read from its message. No I/O."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from contracts.memory import MemoryKind
from contracts.reflections import Reflection
from memory.facts.rules import statements
from memory.facts.statements import USER, StatedFact, plain
from memory.facts.style import of_aspect
from memory.secrets import has_secret


def joined(reflections: Sequence[Reflection], stated: Sequence[StatedFact], said_at: datetime) -> list[StatedFact]:
    """Returns both, without secrets; a reflection takes precedence over a statement about the same aspect or text."""
    learned = [_stated(one, said_at) for one in reflections if not has_secret(one.text)]
    keys = {_key(one) for one in learned}
    return [*learned, *(one for one in stated if _key(one) not in keys)]


def _stated(reflection: Reflection, said_at: datetime) -> StatedFact:
    if reflection.kind == "style":
        return of_aspect(reflection.aspect, reflection.text)
    stated = next(statements(reflection.text, said_at, "UTC"), None)
    if stated is None or stated.subject is None or stated.kind is MemoryKind.style:
        return StatedFact(MemoryKind.fact, reflection.text, USER, "", reflection.text)
    return replace(stated, text=reflection.text)


def _key(statement: StatedFact) -> tuple[str, str]:
    """Returns what identifies a statement: an aspect of style, or predicate and text."""
    if statement.kind is MemoryKind.style and statement.values == "one":
        return statement.predicate, ""
    return statement.predicate, plain(statement.object)
