"""Finding mentions of a text, and removing them from JSON."""

from __future__ import annotations

import pytest

from memory.rights.mentions import GONE, Mentions


@pytest.mark.parametrize(
    ("about", "text", "found"),
    [
        ("Ann", "anna's dog", True),
        ("Ann", "planning", False),
        ("Project Walrus", "the project\nwalrus", True),
        ("ärzte", "Die ÄRZTE kommen", True),
        ("100%", "It is 100% sure", True),
        ("100%", "It is 1000 sure", False),
        ("C++", "I like c++.", True),
        ("Müller", "Frau Mu\u0308ller", True),
        ("Mu\u0308ller", "Frau Müller", True),
        ("Großmann", "Herr GROSSMANN", True),
        ("Grossmann", "Herr Großmann", True),
    ],
)
def test_a_text_is_matched_only_at_the_beginning_of_a_word(about, text, found):
    assert Mentions(about).are_in(text) is found


def test_matching_texts_items_and_keys_are_removed_from_json_and_nothing_else():
    document = {"goals": ["ship", "visit Ann"], "extra": {"Ann": 1, "b": {"c": "about ann", "d": 2}}, "n": None}
    without = {"goals": ["ship"], "extra": {"b": {"d": 2}}, "n": None}
    mentions = Mentions("Ann")
    assert mentions.without(document) == without
    assert mentions.without(without) is without
    assert mentions.without("Ann") is GONE
