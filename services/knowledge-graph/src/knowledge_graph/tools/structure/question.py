"""Parses a structural question: what is asked, about which names, and which kinds of things count. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files

from knowledge_graph.extraction.tenses import CURRENT
from knowledge_graph.tools.structure.grammar import Grammar, Slots

MOST_WORDS = 40
NUMBERED = "decided"
"""What only documents with a number are asked: "Who decided to drop the export?" asks for a text."""
EDGES = ".,;:!?\"'`“”„‘’‚«»()[]{}"


@dataclass(frozen=True)
class StructuralQuestion:
    """A structural question. `names` holds the spellings of each name, likeliest first; empty `types` means any type.
    `status` is current, past or planned; `relation` is the only relation type that counts, if any."""

    asked: str
    language: str
    names: tuple[tuple[str, ...], ...]
    types: tuple[str, ...]
    transitive: bool
    status: str = CURRENT
    relation: str = ""


def read_questions(text: str) -> Iterator[StructuralQuestion]:
    """Yields what the question may mean; nothing if it is not a structural question."""
    words = [word for part in text.split() if (word := part.strip(EDGES))]
    if len(words) > MOST_WORDS:
        return
    words = _without_opening(words)
    low = [word.lower() for word in words]

    def fits(slot: str, start: int, end: int) -> bool:
        if slot == "KINDS":
            return _types(low[start:end]) is not None
        if slot == "ANY":
            return True
        return not PRONOUNS.issuperset(set(low[start:end]) - ARTICLES)

    for label, slots in QUESTIONS.matches(low, fits):
        what, _, language = label.partition(".")
        what, _, meant = what.partition(":")
        relation, _, only = meant.partition("+")
        asked, _, status = what.partition("_")
        kinds = slots.get("KINDS")
        if asked == NUMBERED and not any(any(map(str.isdigit, word)) for word in low[slice(*slots["NAME"])]):
            continue
        yield StructuralQuestion(
            asked,
            language,
            tuple(_spellings(words[slice(*slots[slot])]) for slot in ("NAME", "OTHER") if slot in slots),
            tuple(_types(low[slice(*kinds)]) or ()) if kinds else tuple(only.split()),
            asked == "impact" or bool(FURTHER.intersection(_outside(low, slots))),
            status or CURRENT,
            relation,
        )


def _without_opening(words: list[str]) -> list[str]:
    low = [word.lower() for word in words]
    found = next((opening for opening in OPENINGS if low[: len(opening)] == opening), None)
    return words if found is None else _without_opening(words[len(found) :])


def _outside(words: Sequence[str], slots: Slots) -> list[str]:
    inside = {at for span in slots.values() for at in range(*span)}
    return [word for at, word in enumerate(words) if at not in inside]


def _types(words: Sequence[str]) -> list[str] | None:
    """Returns the types that "services and data stores" means, [] for any; None if the words are no kinds."""
    found: list[str] = []
    part: list[str] = []
    for word in [*words, "and"]:
        if word not in JOINTS:
            part += [] if word in ARTICLES or word in FILLERS else [word]
        elif (types := KINDS.get(" ".join(part))) is not None:
            found += types
            part = []
        else:
            return None
    return [] if ANYTHING in found else list(dict.fromkeys(found))


def _spellings(words: Sequence[str]) -> tuple[str, ...]:
    """Returns the name without its article, then without a word for its kind at either end ("the Falk team")."""
    while len(words) > 1 and words[0].lower() in ARTICLES:
        words = words[1:]
    spellings = [words]
    if len(words) > 1:
        spellings += [words[1:]] if words[0].lower() in KINDS else []
        spellings += [words[:-1]] if words[-1].lower() in KINDS else []
    return tuple(" ".join(one) for one in spellings)


def _lines(name: str) -> Iterator[tuple[str, str]]:
    """Yields both sides of each equation in a file."""
    for line in files(__package__).joinpath(name).read_text(encoding="utf-8").splitlines():
        left, sign, right = line.partition("=")
        if sign and not line.startswith("#"):
            yield left.strip(), right.strip()


WORDS = dict(_lines("words.txt"))
ARTICLES, PRONOUNS, FURTHER, JOINTS, FILLERS = (
    frozenset(WORDS[name].split()) for name in ("articles", "pronouns", "further", "joints", "fillers")
)
OPENINGS = [part.split() for name in ("openings", "openings.de") for part in WORDS[name].split("|")]
ANYTHING = "ANYTHING"
KINDS = {word.strip(): right.split() for left, right in _lines("kinds.txt") for word in left.split(",")}
QUESTIONS = Grammar.read(files(__package__).joinpath("questions.txt").read_text(encoding="utf-8"))
