"""Whether a sentence says that something is so, was so, will be so, or only might be."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spacy.tokens import Token

CURRENT, PERFECT, PAST, PLANNED, OPEN = "current", "perfect", "past", "planned", "open"
"""PERFECT ("has run on") is current unless its section tells what came before; OPEN: nothing is said ("whether …")."""
FUTURE = frozenset({"will", "shall", "'ll", "’ll"})
ENDED = frozenset({"until", "till", "formerly", "previously", "longer"})
DOUBT = frozenset({"may", "might", "could", "would", "should", "can"})
CONDITIONS = frozenset({"if", "whether", "unless", "should"})
LET = frozenset({"let", "consider", "propose", "suggest", "discuss", "reject"})
MOST_STEPS = 10
ENDED_WORDS = re.compile(
    r"(?<!\w)(?:until|till|no longer|formerly|previously|used to|before that|nicht mehr|früher|ehemals|"
    r"^[^\w]*bis)(?!\w)",
    re.IGNORECASE,
)
PLANNED_WORDS = re.compile(r"(?<!\w)(?:will|shall|going to|planned to|soll|sollen|wird künftig)(?!\w)", re.IGNORECASE)
OPEN_WORDS = re.compile(r"(?<!\w)(?:if|whether|unless|had|ob|falls|wenn|would|could|might)(?!\w)", re.IGNORECASE)
BREAKS = re.compile(r"[;:]|, | (?:and|but|und|aber) ")
LONGEST_SENTENCE = 1_000


def of_verb(verb: Token) -> str:
    """Tells the verb's time by its auxiliaries and adverbs; a verb that continues another shares the auxiliaries."""
    for _ in range(MOST_STEPS):
        children = list(verb.children)
        words = {child.lower_ for child in children}
        auxiliaries = [child for child in children if child.dep_ in {"aux", "auxpass"}]
        if words & CONDITIONS or verb.head.lemma_ in LET or (verb.dep_ == "advcl" and _is_inverted(verb)):
            return OPEN
        if DOUBT.intersection(one.lower_ for one in auxiliaries):
            return OPEN
        if FUTURE.intersection(one.lower_ for one in auxiliaries):
            return PLANNED
        if words & ENDED or any(one.lower_ == "had" for one in auxiliaries) or _is_ended_by_opening(verb):
            return PAST
        if any(one.lower_ in {"has", "have"} for one in auxiliaries) and verb.tag_ == "VBN":
            return PERFECT
        own = any(one.lower_ != "to" for one in auxiliaries) or any(
            child.dep_ in {"nsubj", "nsubjpass"} for child in children
        )
        if verb.dep_ not in {"conj", "xcomp"} or own:
            return CURRENT
        verb = verb.head
    return CURRENT


def of_words(text: str, start: int, end: int, sentence: tuple[int, int]) -> str:
    """Tells the time of what the sentence says from `start` to `end` by the words of this part of it."""
    first, last = max(sentence[0], start - LONGEST_SENTENCE), min(max(end, sentence[1]), end + LONGEST_SENTENCE)
    breaks = list(BREAKS.finditer(text, first, last))
    begins = max((one.end() for one in breaks if one.end() <= start), default=first)
    ends = min((one.start() for one in breaks if one.start() >= end), default=last)
    part = text[begins:ends]
    if OPEN_WORDS.search(text, begins, start):
        return OPEN
    if PLANNED_WORDS.search(part):
        return PLANNED
    return PAST if ENDED_WORDS.search(part) or ENDED_WORDS.match(text[first:last].lstrip("-*> ")) else CURRENT


def _is_inverted(verb: Token) -> bool:
    """ "Had it checked tokens, …"."""
    return any(child.lower_ == "had" and child.i == min(one.i for one in verb.subtree) for child in verb.children)


def _is_ended_by_opening(verb: Token) -> bool:
    """ "Until the spring of 2024 it asked …"."""
    return verb.dep_ == "ROOT" and verb.sent[0].lower_ in {"until", "till"} and verb.sent[0].head == verb
