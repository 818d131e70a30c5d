"""Words the answers that facts give, in the question's language, with who said it when. No I/O."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from memory.facts.moments import day_meant
from memory.facts.questions import FactQuestion
from memory.facts.repository import HeldFact
from memory.facts.statements import DECIDED, TIMES, USER, plain
from memory.facts.things import USED
from memory.times import MONTH_NAMES, zone

_TEMPLATES = {
    "lives in": ("live in {0}", "lived in {0}", "lives in {0}", "lived in {0}"),
    "works at": ("work at {0}", "worked at {0}", "works at {0}", "worked at {0}"),
    "likes": ("like {0}", "liked {0}", "likes {0}", "liked {0}"),
    "job": ("work as {0}", "worked as {0}", "works as {0}", "worked as {0}"),
    "has": ("have {0}", "had {0}", "has {0}", "had {0}"),
    "speaks": ("speak {0}", "spoke {0}", "speaks {0}", "spoke {0}"),
    "birthplace": ("were born in {0}", "were born in {0}", "was born in {0}", "was born in {0}"),
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
    "speaks": (("sprichst", "{0}"), ("sprachst", "{0}"), ("spricht", "{0}"), ("sprach", "{0}")),
    "likes": (("magst", "{0}"), ("mochtest", "{0}"), ("mag", "{0}"), ("mochte", "{0}")),
}  # fmt: skip


_GERMAN_NOUNS = {
    "uses": "Verwendet", "age": "Alter", "birthday": "Geburtstag", "birthplace": "Geburtsort", "boss": "Chef",
}  # fmt: skip
_OF_PEOPLE = {
    "lead": ("{0} leads {1}", "{0} led {1}"),
    "owner": ("{0} owns {1}", "{0} owned {1}"),
    "responsible": ("{0} is responsible for {1}", "{0} was responsible for {1}"),
}
_GERMAN_OF_PEOPLE = {
    "lead": (("{0}", "leitet", "{1}"), ("{0}", "leitete", "{1}")),
    "owner": (("{1}", "gehört", "{0}"), ("{1}", "gehörte", "{0}")),
    "responsible": (("{0}", "ist", "für {1} zuständig"), ("{0}", "war", "für {1} zuständig")),
}
_WITH_SPEAKER = re.compile(r"(?:\A|\. )[^.:\n]{1,200} (?:said on|sagte am|sagtest am) \d{1,2}\.? \w+ \d{4}: \S")
_WORD, _STEM = re.compile(r"[\w-]+"), 6
_LITTLE_WORDS = """about on for to with in of the a an our my do use using regarding upon as zu zum zur über für mit bei
die der das den dem uns mich im am bezüglich wegen"""
_LITTLE = frozenset(_LITTLE_WORDS.split())
_BARE = frozenset({"date", "end", "place", "price"})
"""Nouns of questions that are answered with what they are about and the fact's object."""
_SEVERAL = frozenset({"likes", "dislikes", "has", "speaks", "is", "depends on", DECIDED, *USED})
"""Predicates with several objects at a time; for others, a second object is a conflict."""


def answering(question: FactQuestion, held: Sequence[HeldFact]) -> list[HeldFact]:
    """Returns the facts that answer: of the first predicate that has any, or of all if all are asked for."""
    if question.noun == "uses":
        return list(held)
    held = [one for one in held if about(question.topic, one.content)]
    for predicate in question.predicates:
        if found := [one for one in held if one.predicate == predicate]:
            return found
    return []


def about(topic: str, text: str) -> bool:
    """Returns whether the text has a word of the topic, or a form of it; any text is about no topic."""
    words, text_words = (_WORD.findall(one.casefold()) for one in (topic, text))
    topic_words = [word[:_STEM] for word in words if word not in _LITTLE]
    return not topic_words or any(one.startswith(word) for word in topic_words for one in text_words)


def answer_text(question: FactQuestion, facts: Sequence[HeldFact], time_zone: str) -> str:
    """Returns the answer as a sentence, followed for each fact by who said so, when, and in which words.

    All `facts` hold at the time asked about, the latest first. Facts that contradict the first are mentioned, too.
    """
    first, others = facts[0], _differing(facts)
    day = None
    if first.predicate in TIMES:
        day = day_meant(first.object, first.said_at, time_zone, german=question.german)
    if first.predicate in _SEVERAL and others:
        objects = [one.object for one in (first, *others)]
        joined = f"{', '.join(objects[:-1])} {'und' if question.german else 'and'} {objects[-1]}"
        sentence = _sentence(question, replace(first, object=joined))
        return " ".join([f"{sentence}.", *(_with_speaker(question, one, time_zone) for one in (first, *others))])
    answer = f"{_sentence(question, first)}{f' ({day})' if day else ''}. {_with_speaker(question, first, time_zone)}"
    contrary = "Es wurde auch anderes gesagt:" if question.german else "Something else was said, too:"
    return " ".join(
        [answer, *([contrary] if others else []), *(_with_speaker(question, one, time_zone) for one in others)]
    )


def has_speaker(answer: str) -> bool:
    """Returns whether an answer has the form of `answer_text`: it repeats facts, and says nothing of its own."""
    return bool(_WITH_SPEAKER.search(answer))


def _differing(facts: Sequence[HeldFact]) -> list[HeldFact]:
    """Returns the facts that differ from the first and from each other."""
    known, found = {plain(facts[0].object)}, list[HeldFact]()
    for one in facts[1:]:
        if plain(one.object) not in known:
            known.add(plain(one.object))
            found.append(one)
    return found


def _sentence(question: FactQuestion, fact: HeldFact) -> str:
    sentence = _german(question, fact) if question.german else _english(question, fact)
    return sentence[0].upper() + sentence[1:]


def _with_speaker(question: FactQuestion, fact: HeldFact, time_zone: str) -> str:
    day = fact.said_at.astimezone(zone(time_zone))
    content = fact.content.rstrip(".!")
    if question.german:
        who = f"{fact.speaker} sagte" if fact.speaker else "Du sagtest"
        return f"{who} am {day.day}. {MONTH_NAMES['de'][day.month - 1]} {day.year}: {content}."
    who = f"{fact.speaker} said" if fact.speaker else "You said"
    return f"{who} on {day.day} {MONTH_NAMES['en'][day.month - 1]} {day.year}: {content}."


def _english(question: FactQuestion, fact: HeldFact) -> str:
    first = question.phrase[:1].upper() + question.phrase[1:] + " " if question.past and question.phrase else ""
    of_user, predicate = question.subject == USER, fact.predicate
    if people := _OF_PEOPLE.get(predicate):
        if fact.object in (USER, "we"):
            mine = {"lead": "you lead", "owner": "you own", "responsible": "you are responsible for"}
            was = {"lead": "you led", "owner": "you owned", "responsible": "you were responsible for"}
            return f"{first}{(was if question.past else mine)[predicate]} {_named(question.subject)}"
        return first + people[question.past].format(fact.object, _named(question.subject))
    if question.noun in _BARE:
        return f"{_named(question.subject)}: {fact.object}"
    if predicate == DECIDED:
        return f"{first}{'you' if of_user else 'your team'} decided: {fact.object}"
    if template := _TEMPLATES.get(predicate):
        who = "you" if of_user else "your team" if question.subject == "we" else _named(question.subject)
        return f"{first}{who} {template[(0 if of_user else 2) + question.past].format(fact.object)}"
    if predicate == "depends on" or question.noun == "uses":
        verb = (
            ("depended on" if question.past else "depends on")
            if predicate == "depends on"
            else "used"
            if question.past
            else "uses"
        )
        who = "your team" if question.subject == "we" else _named(question.subject)
        return f"{first}{who} {verb} {fact.object}"
    owner = "your" if of_user else "the" if question.subject == "we" else _possessive(_named(question.subject))
    return f"{first}{owner} {question.noun} {'was' if question.past else 'is'} {fact.object}"


def _german(question: FactQuestion, fact: HeldFact) -> str:
    """Returns the German sentence: the verb comes second, after the time; no article, as the gender is unknown."""
    of_user, predicate = question.subject == USER, fact.predicate
    named = _named(question.subject).replace("your ", "dein ", 1)
    who = "du" if of_user else "dein Team" if question.subject == "we" else named
    if people := _GERMAN_OF_PEOPLE.get(predicate):
        place, verb, rest = people[question.past]
        if fact.object in (USER, "we"):
            you = {"leitet": "leitest", "leitete": "leitetest", "ist": "bist", "war": "warst"}
            verb = you.get(verb, verb)
        person = {USER: "dir" if predicate == "owner" else "du", "we": "euch" if predicate == "owner" else "du"}
        place, rest = (one.format(person.get(fact.object, fact.object), who) for one in (place, rest))
        return (
            f"{question.phrase} {verb} {place} {rest}"
            if question.past and question.phrase
            else f"{place} {verb} {rest}"
        )
    if template := _GERMAN_TEMPLATES.get(predicate):
        verb, rest = template[(0 if of_user else 2) + question.past]
        rest = rest.format(fact.object)
        if question.past and question.phrase:
            return f"{question.phrase} {verb} {who} {rest}"
        return f"{who} {verb} {rest}"
    if question.noun in _BARE:
        return f"{_named(question.subject)}: {fact.object}"
    if predicate == DECIDED:
        return f"Beschlossen: {fact.object}"
    first = f"{question.phrase}, " if question.past and question.phrase else ""
    owner = "" if of_user or question.subject == "we" else f" ({named[:1].upper()}{named[1:]})"
    noun = _GERMAN_NOUNS.get(question.noun) or question.noun.removeprefix("number of ")
    noun = noun[:1].upper() + noun[1:]
    return f"{first}{noun}{owner}: {fact.object}"


def _possessive(name: str) -> str:
    return f"{name}'" if name.endswith("s") else f"{name}'s"


def _named(subject: str) -> str:
    of_user = f"{USER}'s "
    return f"your {subject.removeprefix(of_user)}" if subject.startswith(of_user) else subject
