"""Reads a question: its parts, what kind of answer each part waits for, and whether it asks about the past."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Literal

from orchestrator.citations.terms import stem, terms

Kind = Literal["person", "time", "duration", "amount", "frequency", "reason", "meaning", "step", "name", ""]

# The kind that a part's first words tell; the first that fits counts.
_WORDS: Sequence[tuple[Kind, str]] = (
    ("frequency", "how often|how frequently|wie oft|wie häufig"),
    ("duration", "how long|for how long|what duration|wie lange?"),
    ("amount", "how many|how much|which share|what share|what percentage|how large|how big|wie ?viele?"),
    ("time", "when|what date|which date|what time|which (?:day|month|year)|wann|bis wann|seit wann"),
    ("reason", "why|what (?:was|is) the (?:reason|cause)|what caused|warum|wieso|weshalb"),
    ("person", "who|whom|whose|wer|wem|wen"),
    ("step", "what (?:should|must|do|can) (?:i|we|you|one)|how (?:do|can|should) (?:i|we|you|one)|was (?:tun|soll)"),
    ("meaning", "what (?:is|are)|what does .{1,60} mean|was (?:ist|sind|bedeutet)"),
    ("name", "which|where|what|welche[rsnm]?|wo"),
)
_KINDS = [(kind, re.compile(rf"\b(?:{words})\b", re.IGNORECASE)) for kind, words in _WORDS]
_ASKS = (
    r"(?:for |since |until |from |by |in )?(?:how|who|whom|whose|when|where|why|what|which"
    r"|wie|wer|wem|wen|wann|wo|warum|was|welche[rsnm]?)\b"
)
_PARTS = re.compile(rf"(?<=\?)\s+|,?\s(?:and|und)\s(?={_ASKS})|[,;]\s(?={_ASKS})", re.IGNORECASE)
_PAST = re.compile(
    r"\b(?:before|previous|previously|former|formerly|used to|earlier|originally|at first|until|till|in the past|so far"
    r"|vorher|früher|zuvor|ehemals?|bis)\b",
    re.IGNORECASE,
)
_UNTIL_ASKED = re.compile(r"\b(?:until|till|by) when\b|\bbis wann\b", re.IGNORECASE)
_HAPPENED = re.compile(r"\b(?:was|were|did|had|wurden?|war|waren|hatten?)\b", re.IGNORECASE)
_SEVERAL = re.compile(
    r"^\W*(?:which|what|who are|welche|wer sind)\b(?: \w+){0,2}? (?:are|do|need|have|\w{3,}s)\b"
    r"|^\W*(?:what|who) (?:does|do|calls?|uses?|needs?|depends?|reads?|writes?)\b",
    re.IGNORECASE,
)
_LITERAL = re.compile(
    r"(?<![\w-])[^\W\d_]{1,20}-?\d[\w.-]{0,30}\b|(?<!\S)[^\w\s\"'?!.,;:()]{2,8}(?![^\s?.,])|\b[^\W_]{1,30}(?:[._/][^\W_]{1,30}){1,9}\b"
)
_IDENTIFIER = re.compile(r"(?<![\w-])[^\W\d_]{2,20}-\d{1,10}(?![\w-])")
_JOINED_NAME = re.compile(r"\b[A-Z][a-z0-9]{1,30}[A-Z][A-Za-z0-9]{1,60}\b")
_BETWEEN_WORDS = re.compile(r"[\s_-]")
_NO_TERMS = frozenset(map(stem, ("long", "many", "much", "often", "how", "kind", "name", "part", "whom")))


@dataclass(frozen=True)
class QuestionPart:
    """One part of a question. `terms` are its own, `around` those of the other parts, which tell what it is about.

    `past` says that it asks for what no longer holds, `happened` that it asks for an event. `several`: for a list.
    `literals` are names with digits or signs, which cannot be put differently.
    """

    kind: Kind
    terms: frozenset[str]
    around: frozenset[str] = frozenset()
    past: bool = False
    happened: bool = False
    several: bool = False
    literals: frozenset[str] = frozenset()


def parts_of(question: str) -> list[QuestionPart]:
    """Returns the parts of the question, at least one."""
    texts = [text for part in _PARTS.split(question) if (text := part.strip(" ,;"))] or [question]
    found = [_asked(text) for text in texts]
    # "…, and why?" has no words of its own: it asks the same of what was said before.
    return [
        replace(
            one,
            terms=one.terms or frozenset().union(*(other.terms for other in found)),
            around=frozenset().union(*(other.terms for other in found)) - one.terms,
            literals=frozenset().union(*(other.literals for other in found)),
            happened=any(other.happened for other in found),
        )
        for one in found
    ]


def absent_identifiers(question: str, texts: Sequence[str]) -> list[str]:
    """Returns the identifiers (INC-207) and joined names (OrderApi) of the question that stand in none of the texts.

    A joined name may stand there in words: Order API, `order-api`.
    """
    there = " ".join(texts).casefold()
    known, joined = set(_IDENTIFIER.findall(there)), _BETWEEN_WORDS.sub("", there)
    found = dict.fromkeys(
        [
            *(one for one in _IDENTIFIER.findall(question) if one.casefold() not in known),
            *(one for one in _JOINED_NAME.findall(question) if one.casefold() not in joined),
        ]
    )
    return list(found)


def _asked(text: str) -> QuestionPart:
    kind: Kind = next((kind for kind, pattern in _KINDS if pattern.search(text)), "")
    own = terms(text) - _NO_TERMS
    past = bool(_PAST.search(_UNTIL_ASKED.sub("", text)))
    return QuestionPart(
        kind,
        own,
        past=past,
        happened=bool(_HAPPENED.search(text)),
        several=bool(_SEVERAL.search(text)),
        literals=frozenset(match[0].casefold() for match in _LITERAL.finditer(text)),
    )


def _related() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for name in ("asked.txt", "synonyms.txt"):
        for line in files("orchestrator.citations").joinpath(name).read_text("utf-8").splitlines():
            group = {stem(word) for word in line.split()}
            for word in group:
                found.setdefault(word, set()).update(group)
    return {word: frozenset(others) for word, others in found.items()}


RELATED_WORDS = _related()
