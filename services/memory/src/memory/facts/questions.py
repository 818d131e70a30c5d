"""Questions that a fact answers by itself: where do I live, who led Atlas in May, which database do we use. No I/O."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from importlib.resources import files

from memory.facts.dates import resolved
from memory.facts.rules import statements
from memory.facts.statements import DATES, USER
from memory.facts.things import (
    PREPOSITIONS,
    USED,
    counted,
    is_date_noun,
    number_of,
    of_team,
    predicate_of,
    with_preposition,
)
from relevance.german import is_german

_WHOM = (
    r"(?P<who>i|ich|we|wir|(?:my|our) [\w-]+(?: [\w-]+)?|(?:mein|unser)e? [\w-]+"
    r"|(?-i:[A-ZÄÖÜ][\w-]*(?: [A-ZÄÖÜ][\w-]*)?)|he|she|er|sie)"
)
_PARTS = {
    "WHOM": _WHOM,
    "WHO": r"(?P<who>[^?]{1,80}?)",
    "WHAT": r"(?P<who>\S[^?]*)",
    "NOW": r"(?:(?:now|currently|jetzt|derzeit|aktuell|then|damals) )?",
    "END": r"(?=\s*\?|\s*$)",
    "USING": r"verwende(?:n|t|ten|te)|(?:be)?nutz(?:en|t|ten|te)",
}
KIND, NUMBER = "KIND", "NUMBER"


def _read_questions() -> Iterator[tuple[tuple[str, ...], str]]:
    """Yields predicates and pattern of each line in `questions.txt`, in order."""
    for line in files("memory.facts").joinpath("questions.txt").read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            predicates, pattern = (part.strip() for part in line.split("|", 1))
            for name, part in _PARTS.items():
                pattern = pattern.replace(name, part)
            yield tuple(predicates.split(", ")), pattern


_QUESTIONS = [(predicates, re.compile(pattern, re.IGNORECASE)) for predicates, pattern in _read_questions()]
_ATTRIBUTE = re.compile(
    r"(?i)(?P<asks>what|who|when|which|where|how (?:much|high|large|big|long)|wann|was|wer|wo"
    r"|wie(?: (?:hoch|groß|lange?))?) "
    r"(?:is|are|was|were|ist|sind|war|lautet) (?:now |jetzt )?"
    r"(?P<who>my [\w-]+'s|my|meine?|our|unsere?|the|der|die|das|(?:[\w-]+ )?[\w-]+'s) "
    rf"(?P<noun>[\w-]+(?: (?!{PREPOSITIONS} |in |on |im |am |last |before |during |since )[\w-]+(?= |\?|$))?)"
    rf"(?: (?P<by>{PREPOSITIONS}) (?:(?:the|our|der|die|das|den|dem|unser(?:e[mnr]?)?) )?"
    r"(?P<of>[\w-]+(?: (?!in |on |at )[\w-]+){0,3}))?"
)
_WHEN = frozenset({"when", "wann"})
_PRONOUNS = frozenset({"it", "this", "that", "he", "she", "es", "er", "sie", "das"})
_ARTICLE = re.compile(r"(?i)(?:the|der|die|das|den|dem|our|unser(?:e[mnrs]?)?) (?=\S)")
_LEFT = re.compile(
    r"(?i)(?:[\s,]{1,3}(?:now|currently|then|today|nowadays|at the moment|jetzt|derzeit|aktuell|damals|heute|verwendet"
    r"|benutzt|genutzt|eingesetzt)){1,8}$"
)


@dataclass(frozen=True)
class FactQuestion:
    """A question about the object of a subject and predicate at a time. `past`: the time was named, and is over.

    The first of the `predicates` that has an answer counts; `noun` is the question's own word for it. Of decisions,
    only those about the `topic` answer.
    """

    subject: str
    predicates: tuple[str, ...]
    noun: str
    as_of: datetime
    past: bool
    phrase: str | None
    german: bool = False
    topic: str = ""

    @property
    def owned(self) -> str | None:
        """Returns what a name may follow: "my brother" can also be called "my brother Max"."""
        return f"{self.subject} " if self.subject.startswith(f"{USER}'s ") else None

    @property
    def named(self) -> str | None:
        """Returns the name by which someone close to the user is asked about: Laura may be "my sister Laura"."""
        return self.subject if self.subject[:1].isupper() and self.subject.isalpha() else None

    @property
    def about_user(self) -> bool:
        """Returns whether it is about the user, or about someone close, such as the user's sister."""
        return self.subject == USER or self.subject.startswith(f"{USER}'s ")


def fact_question(question: str, now: datetime, time_zone: str, before: str = "") -> FactQuestion | None:
    """Returns what the question asks of the facts; None if it asks something else.

    `before` is what was said before it, which tells whom "it" and "she" mean.
    """
    fact_asked = _question(question, now, time_zone)
    if fact_asked is None:
        return None
    if fact_asked.subject.casefold() in _PRONOUNS:
        meant = _meant(before, now, time_zone)
        if meant is None or meant.casefold() in _PRONOUNS:
            return None
        fact_asked = replace(fact_asked, subject=meant)
    return replace(fact_asked, german=is_german(question))


def _meant(before: str, now: datetime, time_zone: str) -> str | None:
    """Returns whom the message before was about."""
    if fact_asked := _question(before, now, time_zone):
        return fact_asked.subject
    stated = [one.subject for one in statements(before, now, time_zone) if one.subject not in (None, USER, "we")]
    return stated[-1] if stated else None


def _question(question: str, now: datetime, time_zone: str) -> FactQuestion | None:
    text = " ".join(question.split())
    when = resolved(text, now, time_zone)
    as_of, past = now, False
    if when is not None:
        # "In May" means the end of May, or now if May is not over.
        as_of = min(when.end - timedelta(microseconds=1), now) if when.start <= now else when.start
        past = when.end <= now
    phrase = when.phrase if when is not None else None
    times = (as_of, past, phrase)
    if phrase is not None:
        text = f"{text[: when.first]}{text[when.last :]}" if when else text
        text = " ".join(text.split()).replace(" ?", "?")
    for predicates, pattern in _QUESTIONS:
        if found := pattern.match(text):
            return FactQuestion(*_by_pattern(predicates, found), *times, topic=found.groupdict().get("topic") or "")
    if found := _ATTRIBUTE.match(text):
        return FactQuestion(*_attribute(found), *times)
    return None


def _by_pattern(predicates: tuple[str, ...], found: re.Match[str]) -> tuple[str, tuple[str, ...], str]:
    """Returns subject, predicates and noun."""
    subject = _subject(found["who"])
    if predicates == (KIND,):
        noun = found["kind"].lower()
        asked = (predicate_of(noun, subject),) if noun else ("uses", *sorted(USED - {"uses"}))
        return subject, asked, noun or "uses"
    if predicates == (NUMBER,):
        noun = number_of(found["kind"])
        return subject, (noun,), noun
    if predicates == ("name",) and subject == "we":
        subject = _ARTICLE.sub("", found["who"].strip(" .?!"), count=1)  # the team itself is asked about
    elif subject == "we" and predicates[0] == "lives in":
        subject = USER  # the user is one of those who live there
    return subject, predicates, predicates[0]


def _attribute(found: re.Match[str]) -> tuple[str, tuple[str, ...], str]:
    """Returns subject, predicates and noun of "what is my sister's name" or "when is the offsite"."""
    noun, who, of = found["noun"].lower().rstrip("?"), found["who"].lower(), found["of"]
    if who in ("my", "mein", "meine"):
        noun = with_preposition(noun, found["by"], of)
        return USER, (predicate_of(noun, USER),), noun
    if who.endswith("'s"):
        subject = _subject(found["who"][:-2])
        return subject, (predicate_of(noun, subject),), noun
    if found["asks"].lower() in _WHEN and not is_date_noun(noun):
        return (f"{found['noun']} {found['by']} {of}" if of else found["noun"].rstrip("?")), DATES, "date"
    if number := counted(noun, found["by"], of):
        return "we", (number,), number
    if of:
        subject, predicate = _subject(of), predicate_of(noun, _subject(of))
        return subject, (predicate,), noun
    subject, kind = of_team(noun)
    return subject, (predicate_of(kind, subject),), kind


def _subject(who: str) -> str:
    who = _LEFT.sub("", who.strip(" ,.?!"))
    lowered = who.lower()
    if lowered in ("i", "ich"):
        return USER
    if lowered in ("we", "us", "wir", "uns", "our team", "unser team", "there", "gibt es"):
        return "we"
    first, _, rest = who.partition(" ")
    if rest and first.lower() in ("my", "mein", "meine"):
        return f"{USER}'s {rest}"
    return _ARTICLE.sub("", who, count=1)
