"""Finds what a longer name may be called in short, and whether two words mean the same, without a dictionary."""

from __future__ import annotations

from collections.abc import Collection

from knowledge_graph.extraction.names import STOP_WORDS, WORD, name_key

MOST_WORDS = 8
SHORTEST_PART = 4
SHORTEST_SHARED, MOST_ENDING = 4, 2


def parts_of(name: str, entity_type: str) -> list[list[str]]:
    """Returns the keys of the endings and beginnings of a name of several words, longest first, grouped by number of
    words.

    "Maratha Peshwa Baji Rao II" may be called Baji Rao II, "Maharashtra state" Maharashtra, "D. Ross Lederman" Ross
    Lederman. A person's first name alone does not count.
    """
    words = name.split()
    if len(words) > MOST_WORDS:
        return []
    found = []
    for size in range(len(words) - 1, 0, -1):
        ends = [words[-size:]] if size == 1 and entity_type == "PERSON" else [words[-size:], words[:size]]
        runs = [run for run in ends if run[0][0].isupper()]
        keys = [name_key(" ".join(run)) for run in runs if size > 1 or len(run[0]) >= SHORTEST_PART]
        found.append([key for key in keys if len(key) > 1 and key not in STOP_WORDS])
    return [keys for keys in found if keys]


def content_words(text: str) -> frozenset[str]:
    """Returns the words in lower case, without stop words."""
    return frozenset(word for word in WORD.findall(text.casefold()) if word not in STOP_WORDS and len(word) > 1)


def share_a_word(some: Collection[str], others: Collection[str]) -> bool:
    """Returns whether a word of one is also in the other, apart from its ending: "directed" and "director"."""
    return any(_same(one, other) for one in some for other in others)


def _same(one: str, other: str) -> bool:
    shared = next(
        (number for number, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), len(min(one, other, key=len))
    )
    return one == other or shared >= max(SHORTEST_SHARED, min(len(one), len(other)) - MOST_ENDING)
