"""Answers questions that a fact answers by itself: where do I live, where did I live in May, what is my name. No IO."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from memory.facts.dates import resolved
from memory.facts.language import is_german
from memory.facts.repository import HeldFact
from memory.facts.statements import USER
from memory.times import MONTH_NAMES, zone

_WHOM = r"(?P<who>i|ich|my [\w-]+(?: [\w-]+)?|mein(?:e)? [\w-]+|(?-i:[A-ZÄÖÜ][\w-]*(?: [A-ZÄÖÜ][\w-]*)?))"
_QUESTIONS = [
    (re.compile(pattern.replace("WHO", _WHOM), re.IGNORECASE), predicate)
    for pattern, predicate in (
        (r"(?:where|in which city|in what city) (?:do|does|did) WHO (?:now |currently )?live\b", "lives in"),
        (r"(?:wo|in welcher stadt) (?:wohne|wohnte|lebe|lebte|wohnt|lebt|habe|hat) WHO\b", "lives in"),
        (r"where (?:do|does|did) WHO (?:now |currently )?work\b", "works at"),
        (r"(?:who|which company|what company) (?:do|does|did) WHO work (?:for|at)\b", "works at"),
        (r"(?:wo|bei wem|für wen) (?:arbeite|arbeitet|arbeitete) WHO\b", "works at"),
        (r"what (?:do|does|did) WHO do for a living\b", "job"),
        (r"wie (?:heiße|heißt) WHO\b", "name"),
    )
]
_ATTRIBUTE = re.compile(
    r"(?i)(?:what|who|when|which|wann|was|wer|wie) (?:is|are|was|were|ist|sind|war|lautet) "
    r"(?P<who>my [\w-]+'s|my|mein|meine|the|der|die|das|(?:[\w-]+ )?[\w-]+'s) "
    r"(?P<noun>[\w-]+(?: (?!in |on |at |of |for |von |für |im |am |last |before |during |since )[\w-]+(?= |\?|$))?)"
    r"(?: (?:of|for|von|für) (?:(?:the|der|die|das|den|dem) )?(?P<of>[\w-]+(?: (?!in |on |at )[\w-]+){0,3}))?"
)
_TEMPLATES = {
    "lives in": ("live in {0}", "lived in {0}", "lives in {0}", "lived in {0}"),
    "works at": ("work at {0}", "worked at {0}", "works at {0}", "worked at {0}"),
    "job": ("work as {0}", "worked as {0}", "works as {0}", "worked as {0}"),
}

_GERMAN_TEMPLATES = {
    "lives in": (("wohnst", "in {0}"), ("wohntest", "in {0}"), ("wohnt", "in {0}"), ("wohnte", "in {0}")),
    "works at": (
        ("arbeitest", "bei {0}"), ("arbeitetest", "bei {0}"), ("arbeitet", "bei {0}"), ("arbeitete", "bei {0}"),
    ),
    "job": (
        ("arbeitest", "als {0}"), ("arbeitetest", "als {0}"), ("arbeitet", "als {0}"), ("arbeitete", "als {0}"),
    ),
    "name": (("heißt", "{0}"), ("hießt", "{0}"), ("heißt", "{0}"), ("hieß", "{0}")),
}  # fmt: skip


@dataclass(frozen=True)
class FactQuestion:
    """A question for the object of a subject and predicate at a time. `past`: the time was named, and is over."""

    subject: str
    predicate: str
    as_of: datetime
    past: bool
    phrase: str | None
    german: bool = False

    @property
    def about_user(self) -> bool:
        """Whether it is about whoever asks, or somebody of theirs."""
        return self.subject == USER or self.subject.startswith(f"{USER}'s ")


def fact_question(question: str, now: datetime, time_zone: str) -> FactQuestion | None:
    """Returns what the question asks of the facts, None if it asks something else."""
    asked = _asked(question, now, time_zone)
    return replace(asked, german=is_german(question)) if asked else None


def _asked(question: str, now: datetime, time_zone: str) -> FactQuestion | None:
    text = " ".join(question.split())
    when = resolved(text, now, time_zone)
    as_of, past = now, False
    if when is not None:
        # "In May": the end of it counts, unless it is not over.
        as_of = min(when.end - timedelta(microseconds=1), now) if when.start <= now else when.start
        past = when.end <= now
    phrase = when.phrase if when is not None else None
    for pattern, predicate in _QUESTIONS:
        if found := pattern.match(text):
            return FactQuestion(_subject(found["who"]), predicate, as_of, past, phrase)
    if found := _ATTRIBUTE.match(text):
        noun, who = found["noun"].lower().rstrip("?"), found["who"].lower()
        if who in ("my", "mein", "meine"):
            return FactQuestion(USER, noun, as_of, past, phrase)
        if who.endswith("'s"):
            return FactQuestion(_subject(found["who"][:-2]), noun, as_of, past, phrase)
        if found["of"]:
            return FactQuestion(found["of"], noun, as_of, past, phrase)
        return FactQuestion("we", noun, as_of, past, phrase)
    return None


def answer_text(asked: FactQuestion, fact: HeldFact, time_zone: str) -> str:
    """Returns the answer as a sentence in the question's language, and who said so when, in which words."""
    sentence = _german(asked, fact) if asked.german else _english(asked, fact)
    sentence = sentence[0].upper() + sentence[1:]
    said = fact.said_at.astimezone(zone(time_zone))
    told = fact.content.rstrip(".!")
    if asked.german:
        who = f"{fact.speaker} sagte" if fact.speaker else "Du sagtest"
        return f"{sentence}. {who} am {said.day}. {MONTH_NAMES['de'][said.month - 1]} {said.year}: {told}."
    who = f"{fact.speaker} said" if fact.speaker else "You said"
    return f"{sentence}. {who} on {said.day} {MONTH_NAMES['en'][said.month - 1]} {said.year}: {told}."


def _english(asked: FactQuestion, fact: HeldFact) -> str:
    first = asked.phrase[:1].upper() + asked.phrase[1:] + " " if asked.past and asked.phrase else ""
    of_user = asked.subject == USER
    if template := _TEMPLATES.get(asked.predicate):
        who = "you" if of_user else _named(asked.subject)
        return f"{first}{who} {template[(0 if of_user else 2) + asked.past].format(fact.object)}"
    owner = "your" if of_user else "the" if asked.subject == "we" else f"{_named(asked.subject)}'s"
    return f"{first}{owner} {asked.predicate} {'was' if asked.past else 'is'} {fact.object}"


def _german(asked: FactQuestion, fact: HeldFact) -> str:
    """The verb stands second, so what is told of the time goes before it; the noun's gender is not known."""
    of_user = asked.subject == USER
    who = "du" if of_user else _named(asked.subject).replace("your ", "dein ", 1)
    if template := _GERMAN_TEMPLATES.get(asked.predicate):
        verb, rest = template[(0 if of_user else 2) + asked.past]
        rest = rest.format(fact.object)
        if asked.past and asked.phrase:
            return f"{asked.phrase} {verb} {who} {rest}"
        return f"{who} {verb} {rest}"
    first = f"{asked.phrase}, " if asked.past and asked.phrase else ""
    owner = "" if of_user or asked.subject == "we" else f" ({_named(asked.subject).replace('your ', 'dein ', 1)})"
    return f"{first}{asked.predicate[:1].upper()}{asked.predicate[1:]}{owner}: {fact.object}"


def _named(subject: str) -> str:
    of_user = f"{USER}'s "
    return f"your {subject.removeprefix(of_user)}" if subject.startswith(of_user) else subject


def _subject(who: str) -> str:
    lowered = who.lower()
    if lowered in ("i", "ich"):
        return USER
    first, _, rest = who.partition(" ")
    return f"{USER}'s {rest}" if rest and first.lower() in ("my", "mein", "meine") else who
