"""Distinguishes wishes that state a lasting style from tasks."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from contracts.memory import MemoryKind
from contracts.reflections import Reflection, StyleAspect
from memory.facts.reflected import joined
from memory.facts.rules import statements

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def styles(text: str) -> list[tuple[str, str]]:
    """Returns predicate and object of each style that the text states."""
    told = statements(text, NOW, "UTC")
    return [(one.predicate, one.object) for one in told if one.kind is MemoryKind.style]


@pytest.mark.parametrize(
    "task",
    [
        "Write a report about caching",
        "Answer the question about tokens",
        "Schreib einen Bericht über Caching",
        "Write a guide to British spelling",
        "The handbook is full of bullet points.",
        "Make it shorter",
    ],
)
def test_a_task_is_not_a_style_preference(task):
    assert styles(task) == []


@pytest.mark.parametrize(
    ("wish", "expected"),
    [
        (
            "Write a report about caching in British spelling, no bullet points",
            [("wants spelling", "british"), ("wants lists", "none")],
        ),
        ("Use British spelling.", [("wants spelling", "british")]),
        ("No bullet points, please.", [("wants lists", "none")]),
        ("keep it short", [("wants length", "short")]),
        ("Always in German", [("wants language", "german")]),
        ("Bitte antworte auf Deutsch.", [("wants language", "german")]),
        ("Please use bullet points", [("wants lists", "bullets")]),
        ("Please always cite page numbers when you write", []),
        ("From now on, write like a pirate", [("wants answers", "From now on, write like a pirate")]),
    ],
)
def test_a_style_preference_is_split_into_its_aspects(wish, expected):
    assert styles(wish) == expected


def test_a_reflection_replaces_the_same_preference_and_secrets_are_not_stored():
    told = list(statements("Write it in British spelling. I live in Munich.", NOW, "UTC"))
    found = joined(
        [
            Reflection(kind="style", aspect=StyleAspect.spelling, text="Use British spelling throughout."),
            Reflection(kind="style", aspect=StyleAspect.tone, text="Write soberly."),
            Reflection(kind="fact", text="I live in Munich."),
            Reflection(kind="fact", text="My password is hunter22"),
        ],
        told,
        NOW,
    )
    assert [(one.predicate, one.object) for one in found] == [
        ("wants spelling", "british"),
        ("wants tone", "Write soberly."),
        ("lives in", "Munich"),
    ]
    assert found[0].text == "Use British spelling throughout."
