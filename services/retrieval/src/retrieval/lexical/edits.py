"""Words near a misspelt one: insertions, deletions, substitutions, transpositions of neighbours. No IO."""

from __future__ import annotations

SHORTEST, SHORTEST_WITH_TWO = 4, 8  # letters of a word that is taken to be misspelt, at all and in two places
_LONGEST = 32
_SURE_BEGINNING = 6  # letters; a shorter word is not taken to be wrong in its first one


def may_be_misspelt(term: str) -> bool:
    return SHORTEST <= len(term) <= _LONGEST and term.isalpha()


def one_edit_away(term: str) -> set[str]:
    """Every word at distance 1, of the letters of the term's own alphabet (for another than Latin: of its own)."""
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
    """Words that begin so, with what words end in: their stem may be shorter than the prefix (connecti* finds connect,
    which stands for connection too).
    """
    return [prefix + ending for ending in _ENDINGS]


_ENDINGS = (
    "", "d", "e", "ed", "en", "er", "es", "g", "ing", "ion", "ity", "ly", "ment", "n", "ng", "on", "s", "t", "ted",
    "tion", "ty", "ung", "y",
)  # fmt: skip
