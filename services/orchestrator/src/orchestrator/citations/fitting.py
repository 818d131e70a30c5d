"""Judges whether a part is of the kind that is asked for: a date for "when", a definition for "what is"."""

from __future__ import annotations

import re
from collections.abc import Callable

from orchestrator.citations.candidates import QuotationCandidate
from orchestrator.citations.kind_patterns import (
    ADVICE,
    BACKGROUND,
    CONDITION_HEADING,
    COSTS,
    FRACTION,
    MANNER,
    MONTH,
    OF_KIND,
    OUTCOME,
    REASON_HEADING,
    RULE,
)
from orchestrator.citations.numbers import Number, numbers
from orchestrator.citations.question import RELATED_WORDS, Kind, QuestionPart
from orchestrator.citations.quotable import QuotablePart
from orchestrator.citations.terms import stem, terms
from relevance.german import is_german

FITTING, NOT_FITTING, UNEXPLAINED = 1.25, 0.6, 0.5
ASKED_CELL, ASKED_HEADING = 2.0, 1.5  # a cell or section called "Cause", if the question asks for the cause
DEFINES, IS_ABOUT, ACTS = 1.9, 1.2, 1.4
TELLS_HOW = 1.25
_STATUS = frozenset(map(stem, ("status", "state", "stand", "zustand")))
_PERSON = re.compile(r"\b[A-Z][\w'’-]{1,40} (?:[a-z]{2,3} )?[A-Z][\w'’-]{1,40}")
_CAPITAL = re.compile(r"(?<=[\w,;:(|“] )[A-Z][\w'’-]{1,40}")
# Two nouns or more in a row, the first of which may be "Frau".
_GERMAN_PERSON = re.compile(
    r"\b(?!(?:Am|An|Auf|Aus|Bei|Bis|Das|Dem|Den|Der|Die|Eine?|Für|Im|In|Mit|Nach|Seit|Vo[mn]|Zu[mr])\b)"
    r"[A-ZÄÖÜ][\w'’-]{1,40} (?:von |van |zu |de )?(?!(?:Sie|Ihnen|Ihre?)\b)[A-ZÄÖÜ][\w'’-]{1,40}"
)
_NOBODY = re.compile(r"\b(?:nobody|no one|niemand)\b", re.IGNORECASE)
_CALENDAR = re.compile(rf"\b{MONTH}\b", re.IGNORECASE)
_DEFINITION = re.compile(
    r"\W{0,20}(?:(?:unter|als)\s)?(?:(?:an?|the|eine?[mnrs]?|der|die|das|dem)\s)?([\w\s`*/'’-]{1,60}?)"
    r"(?:\s\([^()\n]{1,160}\))?\W{0,5}?(?::|\s(?:(?P<is>is|are|was|were|ist|sind)|represents?|describes?|denotes?"
    r"|means|bezeichnet|beschreibt|bedeutet|versteht|gilt)\b)",
    re.IGNORECASE,
)
# A thing, not what is done with it or how it is.
_THING = re.compile(
    r"\s(?:an?|the|one of|any|each|every|those|short for|eine?[rs]?|der|die|das|jede[rs]?|alle)\s", re.IGNORECASE
)
_KIND_OF_THING = frozenset(map(stem, ("type", "class", "object", "function", "service", "system", "tool", "dienst")))
# The tense of a story; "has been" and "is" describe the present.
_STORY = re.compile(r"\b(?:was|were|had|did|got|came|went|took|war|waren|hatten?|wurden?)\b", re.IGNORECASE)
_TODAY = re.compile(
    r"\b(?:is|are|has|have|does|do|can|must|may|now|today|ist|sind|hat|haben|kann|muss|heute)\b", re.IGNORECASE
)


def fits(question: QuestionPart, one: QuotationCandidate) -> float:
    """Returns a factor for the kind of answer: a date for "when", a name for "who"."""
    if question.kind == "meaning":
        return _definition(question, one.part.said)
    if question.kind == "reason":
        return explains(question, one)
    if question.kind == "cost":
        named = not one.own.isdisjoint(RELATED_WORDS[stem("cost")])
        return (NOT_FITTING, 1.0, FITTING)[named + bool(COSTS.search(one.part.said))]
    if raising := _RAISING.get(question.kind):
        factor, tells = raising
        return factor if tells(question, one) else 1.0
    if not question.kind or question.kind == "name":
        return 1.0
    return FITTING if _has_kind(question, one.part) else NOT_FITTING


def explains(question: QuestionPart, one: QuotationCandidate) -> float:
    """Returns a factor that raises what gives a reason by its words or heading, and lowers everything else."""
    if REASON_HEADING.search(" ".join(one.part.columns)):
        return ASKED_CELL
    if REASON_HEADING.search(one.heading.last):
        return ASKED_HEADING
    return FITTING if BACKGROUND.search(one.heading.last) or _has_kind(question, one.part) else UNEXPLAINED


def _has_kind(question: QuestionPart, part: QuotablePart) -> bool:
    """Returns whether the part has a date, a number, a person or a word of the kind that is asked for."""
    text = part.cells[0] if part.is_field else part.said
    if question.kind == "amount":
        return bool(FRACTION.search(text)) or any(_is_amount(text, number) for number in numbers(text))
    if question.kind == "person":
        return _names_someone(question, f"| {text}" if part.is_row else text)
    # A number that the question itself contains ("2.7") does not answer it.
    return any(match[0].casefold() not in question.literals for match in OF_KIND[question.kind].finditer(text))


def is_called(question: QuestionPart, one: QuotationCandidate) -> bool:
    """Returns whether the question calls the document by its designator."""
    return not one.heading.called.isdisjoint(question.called)


def tells_state(question: QuestionPart, one: QuotationCandidate) -> bool:
    """Returns whether the part is the status of the document that the question names."""
    return not _STATUS.isdisjoint(one.columns) and is_called(question, one)


def _is_amount(text: str, number: Number) -> bool:
    """Returns whether the number counts something: it is not part of a date, and not a mere "one"."""
    end = number.start + len(number.text)
    dated = _CALENDAR.match(text[end : end + 12].lstrip(" ."))
    year = re.fullmatch(r"(?:19|20)\d\d", number.text)
    return not dated and not year and number.text.lower() not in ("one", "eins")


def _names_someone(question: QuestionPart, text: str) -> bool:
    known = question.terms | question.around
    patterns = (_GERMAN_PERSON,) if is_german(text) else (_PERSON, _CAPITAL)
    names = [name for pattern in patterns for name in pattern.findall(text)]
    return bool(_NOBODY.search(text)) or any(
        not terms(name) <= known and not _CALENDAR.fullmatch(name) for name in names
    )


def _definition(question: QuestionPart, text: str) -> float:
    """Returns a factor that raises sentences about the subject of the question, more so if they say what it is."""
    begins = _DEFINITION.match(text)
    subject = terms(begins[1]) - _KIND_OF_THING if begins else frozenset()
    if not begins or not subject or not subject <= question.terms:
        return 1.0
    says = not begins["is"] or _THING.match(text, begins.end())
    return DEFINES if says and 2 * len(subject) > len(question.terms) else IS_ABOUT


def _acts(question: QuestionPart, text: str) -> bool:
    """Returns whether the text begins with the subject of the question and says what it does."""
    begins = re.match(r"\W{0,20}(?:(?:the|der|die|das)\s)?((?:\w{1,40}\s){1,4}?)\w{2,30}(?:s|t)\b", text, re.I)
    return begins is not None and bool(own := terms(begins[1])) and own <= question.terms


def _advises(text: str) -> bool:
    """Returns whether the text is a rule or recommends something now."""
    return bool(RULE.match(text)) or (bool(ADVICE.search(text)) and not is_story(text))


def is_story(text: str) -> bool:
    """Returns whether the text tells of the past only."""
    return bool(_STORY.search(text)) and not _TODAY.search(text)


_RAISING: dict[Kind, tuple[float, Callable[[QuestionPart, QuotationCandidate], object]]] = {
    "role": (ACTS, lambda question, one: _acts(question, one.part.said)),
    "advice": (FITTING, lambda _, one: _advises(one.part.said)),
    "manner": (TELLS_HOW, lambda _, one: MANNER.search(one.part.said)),
    "outcome": (
        FITTING,
        lambda _, one: OUTCOME.search(one.part.said) or CONDITION_HEADING.search(" ".join(one.part.columns)),
    ),
    "state": (ASKED_CELL, tells_state),
}
"""What raises a part by the kind of answer, and the factor; the lack of it lowers nothing."""
