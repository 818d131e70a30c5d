"""Decides whether a sentence says that something is so, was so, will be so, or only might be."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spacy.tokens import Token

CURRENT, PERFECT, PAST, PLANNED, NEGATED, OPEN = "current", "perfect", "past", "planned", "negated", "open"
PRETERITE = "preterite"
"""PRETERITE ("called") reports what happened, not how things are built. PERFECT ("has run on") is current unless its
section describes the time before a decision. OPEN: nothing is stated ("whether …")."""
FUTURE = frozenset({"will", "shall", "'ll", "’ll"})
ENDED = frozenset({"until", "till", "formerly", "previously", "longer"})
ARRIVALS = frozenset({"move", "migrate", "switch", "become"})
"""Verbs of change: what had moved to a place is now there."""
DOUBT = frozenset({"may", "might", "could", "would", "should", "can"})
CONDITIONS = frozenset({"if", "whether", "unless", "should"})
LET = frozenset({"let", "consider", "propose", "suggest", "discuss", "reject"})
BELIEVED = frozenset(
    {"think", "believe", "suspect", "assume", "claim", "doubt", "hope", "wish", "guess", "wonder", "imagine", "suppose"}
)
"""Verbs that report a belief, not a fact."""
CARRIES = frozenset(
    {"have", "need", "continue", "begin", "start", "keep", "help", "configure", "design", "set", "build", "make", "get"}
)
"""Verbs and adjectives whose infinitive states a fact ("has to call"); after others it is a wish."""
STOPS = frozenset({"stop", "cease", "quit"})
UNCHANGED = frozenset({"read", "put", "set", "let", "hit", "cut"})
"""Verbs whose past tense looks like the present."""
INTENDS = frozenset({"plan", "go", "intend", "schedule", "mean", "due"})
SMALL = frozenset({"prep", "mark", "advmod", "neg", "aux"})
MOST_STEPS = 10
ENDED_WORDS = re.compile(
    r"(?<!\w)(?:until|(?<!the )(?<!our )till(?= \w)|no longer|formerly|previously|used to|before that|nicht mehr|"
    r"früher|ehemals|^[^\w]*bis|stops? (?:using|calling|reading)|stopped (?:using|calling|reading))(?!\w)",
    re.IGNORECASE,
)
BEFORE_WORDS = re.compile(
    r"(?:before|until|up to|in|vor|im jahr) [\w ]{0,20}(?:19|20)\d\d|before (?:that|then)", re.IGNORECASE
)
PRETERITES = re.compile(
    r"^(?:was|were) |(?:^|(?<!is )(?<!are )(?<!been ))(?<!\w)(?:used|called|owned|depended|relied|required|maintained|"
    r"invoked)(?! by)(?!\w)"
)
NOT_AFTER = re.compile(r"(?<!\w)nicht(?!\w)(?! (?:nur|mehr)(?!\w))", re.IGNORECASE)
"""German negates after the object: "nutzt Foghorn nicht"."""
QUALIFIERS = frozenset({"for", "during", "without", "directly", "only", "always", "necessarily"})
QUALIFIED = re.compile(
    r"(?<!\w)(?:for|during|without|directly|only|always|necessarily|für|direkt|nur|immer)(?!\w)", re.IGNORECASE
)
"""Denying one purpose or manner does not deny the relation: "does not need it for that"."""
PLANNED_WORDS = re.compile(r"(?<!\w)(?:will|shall|going to|planned to|soll|sollen|wird künftig)(?!\w)", re.IGNORECASE)
OPEN_WORDS = re.compile(
    r"(?<!\w)(?:if|let|whether|unless|had|ob|falls|wenn|would|could|might|thinks?|believes?|suspects?|assumes?|doubts?|hopes?|wonders?)(?!\w)",
    re.IGNORECASE,
)
BREAKS = re.compile(r"[;:]|, | (?:and|but|und|aber) ")
LONGEST_SENTENCE = 1_000


def of_verb(verb: Token) -> str:
    """Returns the verb's time by its auxiliaries and adverbs; a verb that continues another shares its auxiliaries."""
    for _ in range(MOST_STEPS):
        children = list(verb.children)
        words = {child.lower_ for child in children if child.dep_ in SMALL}  # without names such as "The Till"
        auxiliaries = [child for child in children if child.dep_ in {"aux", "auxpass"}]
        if words & CONDITIONS or verb.head.lemma_ in LET or _is_inverted(verb) or _is_question(verb):
            return OPEN
        carried = _of_infinitive(verb)
        if carried is not None:
            return carried
        if DOUBT.intersection(one.lower_ for one in auxiliaries):
            return OPEN
        if FUTURE.intersection(one.lower_ for one in auxiliaries):
            return OPEN if "longer" in words else PLANNED  # "will no longer use": it still does
        if _is_ended(verb, words, auxiliaries):
            return PAST
        if any(one.lower_ in {"has", "have"} for one in auxiliaries) and verb.tag_ == "VBN":
            return PERFECT
        own = any(one.lower_ != "to" for one in auxiliaries) or any(
            child.dep_ in {"nsubj", "nsubjpass"} for child in children
        )
        if verb.dep_ not in {"conj", "xcomp"} or own:
            # The parser often takes a participle for a past tense, so PRETERITE needs a subject of its own.
            is_narrated = (
                verb.tag_ == "VBD"
                and not auxiliaries
                and verb.lemma_ not in UNCHANGED
                and any(child.dep_ == "nsubj" for child in children)
            )
            return PRETERITE if is_narrated else CURRENT
        verb = verb.head
    return CURRENT


def of_words(
    text: str, start: int, end: int, sentence: tuple[int, int], *, denied: bool = False, phrase: str = ""
) -> str:
    """Returns the time of what the sentence says from `start` to `end`, by the words in this part of it. `denied`: the
    words between the two names deny it; `phrase` are those words."""
    first, last = max(sentence[0], start - LONGEST_SENTENCE), min(max(end, sentence[1]), end + LONGEST_SENTENCE)
    breaks = list(BREAKS.finditer(text, first, last))
    begins = max((one.end() for one in breaks if one.end() <= start), default=first)
    ends = min((one.start() for one in breaks if one.start() >= end), default=last)
    part = text[begins:ends]
    if OPEN_WORDS.search(text, begins, start) or text[first:last].rstrip(" \"'”»)*_").endswith("?"):
        return OPEN
    planned = PLANNED_WORDS.search(part) is not None
    ended = ENDED_WORDS.search(part) or ENDED_WORDS.match(text[first:last].lstrip("-*> "))
    if denied or NOT_AFTER.search(part):
        if QUALIFIED.search(part):
            return OPEN
        return NEGATED if not ended else OPEN if planned else PAST  # "will no longer use": it still does
    if planned or ended:
        return PLANNED if planned else PAST
    return of_preterite(text[first:last]) if PRETERITES.search(phrase) else CURRENT


def of_preterite(sentence: str) -> str:
    """Returns the time of a sentence in the past tense about how things are built: PAST if it says when, else OPEN."""
    return PAST if BEFORE_WORDS.match(sentence.lstrip("-*> ")) else OPEN


def _is_question(verb: Token) -> bool:
    """Returns whether the sentence is a question, or reports what somebody believes."""
    believed = verb.dep_ == "ccomp" and verb.head.lemma_ in BELIEVED
    return believed or verb.sent[-1].text == "?"


def _of_infinitive(verb: Token) -> str | None:
    """Returns the time of "would like it to read", "used to read", "is going to read"; None if there is no infinitive
    or it says what is so."""
    if verb.dep_ == "xcomp" and verb.tag_ == "VBG" and verb.head.lemma_ in STOPS:
        return PAST
    is_infinitive = verb.dep_ in {"xcomp", "ccomp"} and any(
        child.lower_ == "to" and child.dep_ == "aux" for child in verb.children
    )
    if not is_infinitive or verb.head.lemma_ in CARRIES:
        return None
    if verb.head.lemma_ == "use":
        return PAST
    return PLANNED if verb.head.lemma_ in INTENDS else OPEN


def _is_inverted(verb: Token) -> bool:
    """Returns whether the verb is inverted: "Had it checked tokens, …"."""
    return any(child.lower_ == "had" and child.i == min(one.i for one in verb.subtree) for child in verb.children)


def _is_ended(verb: Token, words: set[str], auxiliaries: Sequence[Token]) -> bool:
    if words & ENDED or _is_ended_by_opening(verb):
        return True
    was = any(one.lower_ == "had" for one in auxiliaries) and verb.lemma_ not in ARRIVALS
    is_past = verb.tag_ == "VBD" or any(one.lower_ in {"was", "were"} for one in auxiliaries)
    return was or (is_past and "before" in words)


def of_denied(verb: Token) -> str:
    """Returns the time of what the verb denies: "has not used it since 2022" says that it did before."""
    time = of_verb(verb)
    near = [*verb.children, *(grand for child in verb.children if child.dep_ == "dobj" for grand in child.children)]
    if any(one.lower_ in QUALIFIERS and one.dep_ in {"prep", "advmod"} for one in near):
        return OPEN
    since = any(child.lower_ == "since" and child.dep_ == "prep" for child in verb.children)
    return time if time in {PAST, OPEN} else PAST if time == PERFECT and since else NEGATED


def _is_ended_by_opening(verb: Token) -> bool:
    """Returns whether the sentence opens with the end: "Until the spring of 2024 it asked …"."""
    return verb.dep_ == "ROOT" and verb.sent[0].lower_ in {"until", "till"} and verb.sent[0].head == verb
