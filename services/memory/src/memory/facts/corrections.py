"""What "no, I meant Bremen" and "it was moved to Friday" are about: a fact stated or asked about before. No I/O."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from memory.facts.dates import resolved
from memory.facts.questions import fact_question
from memory.facts.reconciliation import KnownFact
from memory.facts.rules import statements
from memory.facts.statements import DATES, USER, StatedFact, plain
from memory.facts.things import names_of

_LITTLE = "the a an with of for to at in my our der die das den dem beim bei mit von für zum zur"
_BETWEEN = frozenset(_LITTLE.split())
_CAPITALISED = re.compile(r"(?<!^)(?<![.!?] )\b[A-ZÄÖÜ]\w")
_ARTICLES = re.compile(r"(?i)^(?:in|at|on|bei|am|im|the|der|die|das|den|dem) ")


@dataclass(frozen=True)
class SaidBefore:
    """What precedes a message: the user's previous message in its session, and the user's facts, latest said first.

    `session_id` is None if the session is unknown; then only the previous message tells what is meant.
    """

    message: str = ""
    facts: Sequence[KnownFact] = ()
    session_id: UUID | None = None


def corrected(statement: StatedFact, before: SaidBefore, at: datetime, time_zone: str) -> StatedFact | None:
    """Returns the statement about the fact that it corrects; None if it is not clear which one.

    Clear are, in this order: a fact with the object that is named as wrong; the fact that the previous message stated
    or asked about; with "I meant", the only fact of this session with such an object, if the question in between names
    nothing of the kind. A place never becomes a name, nor a date a place. "The supplier is X" is about the only fact
    that is known by this noun, whatever the session. "It is X, not Y", if nothing says that it corrects, is only about
    a fact of this session, and "the supplier is X, not Y" about a fact with both this noun and Y.
    """
    if statement.predicate in DATES:
        return _of_date(statement, before, at, time_zone)
    if statement.subject is not None:
        return _of_renamed(statement, before)
    if not statement.corrects:
        wrong = plain(statement.replaces or "")
        denied = [one for one in before.facts if plain(one.object) == wrong]
        denied = [one for one in denied if statement.predicate or one.session_id == before.session_id]
        if len({(fact.subject, fact.predicate) for fact in denied}) > 1:
            return None
        before, statement = replace(before, facts=denied), replace(statement, corrects=True)
    if statement.predicate:
        sort = _sort(statement.object, at, time_zone)
        named = [one for one in _of_noun(statement, before) if _sort(one.object, at, time_zone) == sort]
        meant = named[0] if len({(fact.subject, fact.predicate) for fact in named}) == 1 else None
    else:
        meant = _meant(statement, before, at, time_zone)
    if meant is None:
        return None
    wrong = meant.object
    return replace(statement, subject=meant.subject, predicate=meant.predicate, values="one", replaces=wrong)


def is_unclear(statement: StatedFact, before: SaidBefore, at: datetime, time_zone: str) -> bool:
    """Returns whether "I meant …" may correct a fact of this session, or "the supplier is X" one of several suppliers,
    but it is not clear which one."""
    if statement.subject is not None or corrected(statement, before, at, time_zone):
        return False
    if statement.predicate or not statement.meant:
        return bool(statement.predicate and _of_noun(statement, before))
    return bool(_told_here(statement, before, at, time_zone))


def needs_facts(statement: StatedFact) -> bool:
    """Returns whether what the statement is about depends on other facts."""
    return statement.subject is None or statement.predicate in ("name", *DATES)


def _of_renamed(statement: StatedFact, before: SaidBefore) -> StatedFact:
    """Returns a new name as one of what had the old name: "our project" was called Bluebird, which is now Kestrel."""
    if statement.predicate != "name" or statement.subject in (None, USER):
        return statement
    old = plain(statement.subject or "")
    bearer = next((fact for fact in before.facts if fact.predicate == "name" and plain(fact.object) == old), None)
    return statement if bearer is None else replace(statement, subject=bearer.subject)


def _of_date(statement: StatedFact, before: SaidBefore, at: datetime, time_zone: str) -> StatedFact | None:
    """Returns what is said of "it", or of "the meeting", as said of a date that is known.

    "My meeting with Eva" is known by its name, in any session. "The meeting" is the board meeting that the previous
    message spoke of; if it is over, it may also be the only meeting that is known.
    """
    subject = statement.subject or ""
    if subject and any(plain(fact.subject) == plain(subject) for fact in before.facts):
        return statement
    noun = plain(subject.removeprefix(f"{USER}'s "))
    dated = [one for one in before.facts if one.predicate in DATES or resolved(one.object, at, time_zone) is not None]
    own = [one for one in dated if noun and one.subject == USER and _event_words(one.predicate) == _event_words(noun)]
    called = [one for one in dated if _is_called(one, noun)]
    spoken_of = _spoken_of(before, at, time_zone)
    meant = own or [one for one in called if (one.subject, one.predicate) in spoken_of]
    if not meant and noun and statement.over and len({(one.subject, one.predicate) for one in called}) == 1:
        meant = called
    if meant:
        return replace(statement, subject=meant[0].subject, predicate=meant[0].predicate)
    return None if statement.subject is None else statement


def _spoken_of(before: SaidBefore, at: datetime, time_zone: str) -> set[tuple[str | None, str]]:
    """Returns subjects and predicates of the facts that the previous message asked for or stated."""
    if asked := fact_question(before.message, at, time_zone):
        names = names_of(asked.subject)
        about = [fact for fact in before.facts if fact.subject.casefold() in names]
        return {(fact.subject, fact.predicate) for fact in about if fact.predicate in asked.predicates}
    return {(one.subject, one.predicate) for one in statements(before.message, at, time_zone)}


def _is_called(fact: KnownFact, noun: str) -> bool:
    """Returns whether the name of the fact's event begins or ends with the noun."""
    event = plain(fact.subject if fact.predicate in DATES else fact.predicate)
    return event.endswith(noun) or event.startswith(f"{noun} ")


def _event_words(name: str) -> frozenset[str]:
    """Returns the words that tell events apart: the dentist appointment is the appointment with the dentist."""
    return frozenset(plain(name).split()) - _BETWEEN


def _of_noun(statement: StatedFact, before: SaidBefore) -> list[KnownFact]:
    """Returns the facts known by the noun, those with the object that is named as wrong if there are any.

    If the previous message names what one of them is about ("Who is our supplier for coffee?"), only that one counts.
    """
    noun = f" {plain(statement.predicate)}"
    known = [fact for fact in before.facts if f" {plain(fact.predicate)}".endswith(noun)]
    wrong = plain(statement.replaces or "")
    said = plain(before.message)
    return (
        [fact for fact in known if plain(fact.object) == wrong]
        or [fact for fact in known if len(plain(fact.subject)) > 2 and plain(fact.subject) in said]
        or known
    )


def _meant(statement: StatedFact, before: SaidBefore, at: datetime, time_zone: str) -> KnownFact | None:
    if statement.replaces is not None:
        wrong = f" {plain(statement.replaces)}"
        return next((fact for fact in before.facts if f" {_plain(fact.object)}".endswith(wrong)), None)
    alike = [
        fact for fact in before.facts if _sort(fact.object, at, time_zone) == _sort(statement.object, at, time_zone)
    ]
    if asked := fact_question(before.message, at, time_zone):
        names = names_of(asked.subject)
        about = [fact for fact in alike if fact.subject.casefold() in names and fact.predicate in asked.predicates]
        return about[0] if about else None
    stated = [one for one in statements(before.message, at, time_zone) if one.subject is not None]
    if stated:
        told = {(one.predicate, plain(one.object)) for one in stated}
        return next((fact for fact in alike if (fact.predicate, plain(fact.object)) in told), None)
    here = _told_here(statement, before, at, time_zone)
    if not statement.meant or _names_such(before.message, statement.object, at, time_zone):
        return None
    return here[0] if len({(fact.subject, fact.predicate) for fact in here}) == 1 else None


def _told_here(statement: StatedFact, before: SaidBefore, at: datetime, time_zone: str) -> list[KnownFact]:
    """Returns the facts of this session with an object of the same sort."""
    if before.session_id is None or not before.message:
        return []
    sort = _sort(statement.object, at, time_zone)
    here = [fact for fact in before.facts if fact.session_id == before.session_id]
    return [fact for fact in here if _sort(fact.object, at, time_zone) == sort]


def _names_such(text: str, told: str, at: datetime, time_zone: str) -> bool:
    """Returns whether the text has something that the correction may be about instead: a name, a date or a number."""
    match _sort(told, at, time_zone):
        case "name":
            return bool(_CAPITALISED.search(text))
        case "date":
            return resolved(text, at, time_zone) is not None
        case "number":
            return any(character.isdigit() for character in text)
    return True


def _sort(told: str, at: datetime, time_zone: str) -> str:
    """Returns what sort of thing an object is: a date, a number, a name, or other words."""
    told = _plain_start(told)
    if resolved(told, at, time_zone) is not None:
        return "date"
    if any(character.isdigit() for character in told):
        return "number"
    return "name" if told[:1].isupper() else "words"


def _plain(told: str) -> str:
    return plain(_plain_start(told))


def _plain_start(told: str) -> str:
    return _ARTICLES.sub("", told.strip())
