"""Rules that read statements from clauses, English and German: about oneself and others, decisions, deadlines, style.

The sentence says who it is about: "I" is the speaker, "my sister" is hers, "Anna" is Anna. No IO.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from importlib.resources import files
from typing import cast

from contracts.memory import MemoryKind
from memory.facts.clauses import clauses
from memory.facts.dates import ResolvedTime, resolved
from memory.facts.statements import USER, StatedFact, Values
from memory.facts.style import styled

_ONE_VALUE = """name|first name|last name|surname|nickname|email|e-mail|email address|phone|phone number|number|address
birthday|date of birth|age|job|profession|title|role|employer|company|boss|manager|wife|husband|partner|girlfriend
boyfriend|fiancé|fiancée|time zone|timezone|budget|deadline|due date|version|port|status|date|start date|launch date
release date|owner|lead|height|weight|shoe size|home town|hometown|current project|team lead|nachname|vorname|adresse
telefonnummer|handynummer|geburtstag|alter|beruf|chef|chefin|frau|mann|partnerin|freundin|freund|zeitzone|frist
stichtag|termin|abgabetermin"""
ONE_VALUE = frozenset(_ONE_VALUE.replace("\n", "|").split("|"))
"""Nouns of which somebody has one at a time."""
_WHO = (
    r"(?P<who>i|we|ich|wir|(?:my|our|mein|meine|unser|unsere|the|der|die|das) [\w-]+"
    r"(?: (?!is |was |are |were |has |will |ist |wurde |wird )[\w-]+)?"
    r"|(?-i:[A-ZÄÖÜ][\w-]*(?: [A-ZÄÖÜ][\w-]*)?))"
)
_ADV = (
    r"(?:(?:now|currently|still|just|recently|finally|also|really|actually|already|happily|both|have|has|had|will|jetzt"
    r"|gerade|noch|auch|seit kurzem|mittlerweile|inzwischen|wirklich|sehr|gern|gerne|aktuell|derzeit|endlich) )*"
)
_REST = r"(?P<object>\S.*)"
_OWN = r"(?P<who>my [\w-]+'s|my|our|mein|meine|unser|unsere|the|der|die|das|(?:[\w-]+ )?[\w-]+'s)"
_NOUN = r"(?P<noun>[\w-]+(?: (?!is |are |ist |of |for |von |für )[\w-]+)?)"


@dataclass(frozen=True)
class _Rule:
    pattern: re.Pattern[str]
    predicate: str
    values: Values = "many"
    kind: MemoryKind = MemoryKind.fact
    over: bool = False
    past: bool = False
    ahead: bool = False


def _read_rules() -> Iterator[tuple[str, Values, frozenset[str], str]]:
    """Yields predicate, values, marks and pattern of each rule of `rules.txt`, in their order."""
    for line in files("memory.facts").joinpath("rules.txt").read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            predicate, values, marks, pattern = (part.strip() for part in line.split("|", 3))
            pattern = pattern.replace("WHO", _WHO).replace("ADV", _ADV).replace("REST", _REST)
            yield predicate, cast(Values, values), frozenset(marks.split()), pattern


RULES = tuple(
    _Rule(
        re.compile(pattern, re.IGNORECASE),
        predicate,
        values,
        next((kind for kind in MemoryKind if kind.value in marks), MemoryKind.fact),
        over="over" in marks,
        past="past" in marks,
        ahead="ahead" in marks,
    )
    for predicate, values, marks, pattern in _read_rules()
)
_ATTRIBUTE = re.compile(
    rf"{_OWN} {_NOUN}(?: (?:of|for|von|für) (?P<of>\S+(?: \S+){{0,3}}?))? (?:is|are|ist|sind|lautet) "
    r"(?P<now>(?:now|jetzt|currently|mittlerweile) )?(?:called |named |on |at |am )?(?P<object>\S.*)",
    re.IGNORECASE,
)
_IT_IS = re.compile(
    r"(?:it|that|he|she|das|es|er|sie) (?:is|was|ist|war|heißt)(?: called)? (?P<object>\S.*)", re.IGNORECASE
)
_BUT = re.compile(r"(?i),? ?\b(?:not|nicht) (?P<wrong>[^,]{1,80}?),? (?:but|sondern) (?P<right>\S.{0,200})")
_NOT = re.compile(r"(?i), ?(?:and )?(?:not|nicht) (?P<wrong>[^,]{1,80})$")
_END = re.compile(
    r"(?i)[,.;!](?=\s|$)|\s(?:and|but|because|since|with|where|which|who|while|after|before|when|as an?|als"
    r"|anymore|any more|any longer"
    r"|instead|these days|right now|at the moment|as of now|und|aber|weil|seit|wo|mit meine[rmn]?|um|mehr|nicht mehr)\b"
)
_FILLER = (
    "now today currently again too actually lately already jetzt heute wieder auch in on by at since for am im seit the"
)
_FILLERS = frozenset(_FILLER.split())
_PRONOUN = "it this that he she they there these those what who das es er sie dies diese"
_PRONOUNS = frozenset(_PRONOUN.split())
_OF_USER = frozenset({"i", "me", "my", "ich", "mich", "mein", "meine"})
_WITH_ARTICLE = frozenset(
    {"we", "us", "our", "wir", "uns", "unser", "unsere", "the", "der", "die", "das", "den", "dem"}
)
_OF_ALL = frozenset({"we", "us", "our", "wir", "uns", "unser", "unsere"})


def statements(text: str, said_at: datetime, time_zone: str, speaker: str = USER) -> Iterator[StatedFact]:
    """Yields what the message states. `speaker` is whom "I" means: the user, or somebody by name."""
    for clause, corrects in clauses(text):
        found = _stated(clause, said_at, time_zone, speaker)
        if speaker == USER and (found is None or found.kind is MemoryKind.style):
            yield from styled(clause, found)
        elif found is not None:
            yield replace(found, corrects=corrects or found.replaces is not None)
        if found is None and corrects and (named := _IT_IS.match(clause)):
            wrong, right = _replaced(named["object"])
            told = _trimmed(right, None)
            yield StatedFact(MemoryKind.fact, clause, None, "", told, "one", corrects=True, replaces=wrong)


def _stated(clause: str, said_at: datetime, time_zone: str, speaker: str) -> StatedFact | None:
    wrong, sentence = _replaced(clause)
    for rule in RULES:
        if found := rule.pattern.match(sentence):
            return _by_rule(rule, found, clause, wrong, said_at, time_zone, speaker)
    if found := _ATTRIBUTE.match(sentence):
        return _attribute(found, clause, wrong, said_at, time_zone, speaker)
    return None


def _by_rule(
    rule: _Rule, found: re.Match[str], clause: str, wrong: str | None, said_at: datetime, time_zone: str, speaker: str
) -> StatedFact | None:
    subject = _subject(found["who"], speaker)
    ahead = rule.ahead or rule.predicate in ("date", "deadline")
    when = resolved(clause, said_at, time_zone, ahead=ahead)
    is_date = rule.predicate in ("date", "deadline", "birthday")
    told = found["object"] if is_date or rule.kind is MemoryKind.style else _trimmed(found["object"], when)
    told = told.strip(" .,;!")
    if subject is None or (not told and not rule.over):
        return None
    starts, ends = (when.start, when.end) if when else (None, None)
    if is_date or rule.kind is MemoryKind.style:
        starts, ends = None, None
    return StatedFact(
        rule.kind,
        clause,
        subject,
        rule.predicate,
        "" if rule.over and is_date else told,
        rule.values,
        starts,
        ends if ends and (rule.past or ends <= said_at) else None,
        (ends or said_at) if rule.past else None,
        when.phrase if when else None,
        over=rule.over,
        replaces=wrong,
    )


def _attribute(
    found: re.Match[str], clause: str, wrong: str | None, said_at: datetime, time_zone: str, speaker: str
) -> StatedFact | None:
    """ "My favourite colour is blue", "Anna's birthday is on 5 May", "the port of the server is 80"."""
    noun, owner = found["noun"].lower(), found["who"].lower()
    if noun in _PRONOUNS or noun.split()[0] in _PRONOUNS:
        return None
    if owner in _OF_USER:
        subject: str | None = speaker
    elif owner.endswith("'s"):
        subject = _subject(found["who"][:-2], speaker)
    else:
        subject = (found["of"] and _subject(found["of"], speaker)) or (
            "we" if noun in ONE_VALUE or owner in _OF_ALL else None
        )
    is_date = any(word in noun for word in ("birthday", "date", "deadline", "geburtstag", "frist", "termin"))
    predicate = noun
    when = resolved(found["object"], said_at, time_zone, ahead=True)
    if subject is None:
        if when is None:
            return None
        subject, predicate, is_date = noun, "date", True  # "the meeting is on Friday"
    told = found["object"].strip(" .,;!") if is_date else _trimmed(found["object"], when)
    if not told or told.lower().startswith(("not ", "no ", "so ", "very ", "nicht ", "kein")):
        return None
    is_favourite = noun.startswith(("favorite ", "favourite ", "lieblings"))
    one = predicate in ONE_VALUE or is_favourite
    kind = MemoryKind.preference if is_favourite else MemoryKind.fact
    values: Values = "one" if one or found["now"] else "unknown"
    return StatedFact(
        kind, clause, subject, predicate, told, values, phrase=when.phrase if when and is_date else None, replaces=wrong
    )


def _subject(who: str, speaker: str) -> str | None:
    """Whom the sentence is about; None for a pronoun that nobody can resolve."""
    word = who.strip().lower()
    if not word or word in _OF_USER:
        return speaker
    if word in _OF_ALL:
        return "we"
    first, _, rest = who.strip().partition(" ")
    if first.lower() in _PRONOUNS and not (rest and first.lower() in _WITH_ARTICLE):
        return None
    if rest and first.lower() in _OF_USER:
        return f"{speaker}'s {rest}"
    if rest and first.lower() in _WITH_ARTICLE:
        return rest
    return who.strip()


def _replaced(sentence: str) -> tuple[str | None, str]:
    """What is named as wrong, and the sentence without it."""
    if found := _BUT.search(sentence):
        return found["wrong"].strip(" .!"), f"{sentence[: found.start()]} {found['right']}"
    bare = sentence.rstrip(" .!")
    if found := _NOT.search(bare):
        return found["wrong"].strip(), bare[: found.start()]
    return None, sentence


def _trimmed(text: str, when: ResolvedTime | None) -> str:
    """The object itself: up to the next clause, without its time."""
    if when is not None and when.phrase in text:
        text = text.replace(when.phrase, " ", 1)
    text = text.strip()
    if cut := _END.search(text, 1):
        text = text[: cut.start()]
    words = text.split()
    while words and words[-1].lower().strip(".,!") in _FILLERS:
        words.pop()
    return " ".join(words)[:200]
