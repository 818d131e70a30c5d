"""Words near a misspelt one: insertions, deletions, substitutions, transpositions of neighbours. No IO."""

from __future__ import annotations

SHORTEST, SHORTEST_WITH_TWO = 4, 8  # least letters of a word that is corrected, by one edit and by two
_LONGEST = 32
_SURE_BEGINNING = 6  # letters; the first letter of a shorter word is taken to be right


def may_be_misspelt(term: str) -> bool:
    return SHORTEST <= len(term) <= _LONGEST and term.isalpha()


def one_edit_away(term: str) -> set[str]:
    """Returns every word at distance 1, with letters a to z if the term is ASCII, else with its own letters."""
    letters = "abcdefghijklmnopqrstuvwxyz" if term.isascii() else "".join(sorted(set(term)))
    start = 1 if len(term) < _SURE_BEGINNING else 0
    cuts = [(term[:at], term[at:]) for at in range(len(term) + 1)]
    found = {left + right[1] + right[0] + right[2:] for left, right in cuts if len(right) > 1}
    for left, right in cuts[start:]:
        found |= {left + letter + right for letter in letters}
        if right:
            found.add(left + right[1:])
            found |= {left + letter + right[1:] for letter in letters}
    return found - {term}


def endings(prefix: str) -> list[str]:
    """Returns the prefix with common endings: the stem of such a word may be shorter than the prefix (connecti* finds
    connect, the stem of connection).
    """
    return [prefix + ending for ending in _ENDINGS]


_ENDINGS = (
    "", "d", "e", "ed", "en", "er", "es", "g", "ing", "ion", "ity", "ly", "ment", "n", "ng", "on", "s", "t", "ted",
    "tion", "ty", "ung", "y",
)  # fmt: skip
