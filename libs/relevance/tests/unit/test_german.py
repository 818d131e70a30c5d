"""German and English."""

from __future__ import annotations

import pytest

from relevance.german import language_of


@pytest.mark.parametrize(
    ("message", "language"),
    [
        ("Gibt es eine Frist?", "de"),
        ("Erkläre mir Python", "de"),
        ("Vielen Dank!", "de"),
        ("Was kostet ein Fahrrad?", "de"),
        ("Weshalb nicht?", "de"),
        ("Was there a deadline?", "en"),
        ("Who is responsible at Müller?", "en"),
        ("¿Qué es un token?", "en"),
        ("INC-207?", "en"),
        ("Thanks!", "en"),
    ],
)
def test_a_short_message_is_answered_in_its_own_language(message: str, language: str) -> None:
    assert language_of(message) == language
