"""Kinds of things that are used ("PostgreSQL 18" is a database), and normalised names. No I/O."""

from __future__ import annotations

import re
from importlib.resources import files

from memory.facts.statements import USER, plain

USES = "uses"
PREPOSITIONS = r"(?:of|for|with|at|von|vom|für|mit|bei|beim|zum|zur|der|des)"
OF = frozenset({"of", "for", "von", "vom", "für", "der", "des"})
_VERSION = re.compile(r"[ -]v?\d{1,9}(?:\.\d{1,9}){0,5}(?:\.x)?$")
_SORT = re.compile(r"(?i)^(?:project|projekt|product|produkt) (?=\S)|(?<=\S) (?:project|projekt|product|produkt)$")
_DATE_NOUN = re.compile(r"(?i)\b(?:birthday|date|deadline)\b|(?:geburtstag|frist|termin|stichtag|datum)\b")
_OF_SOMETHING = {name: name for name in ("date", "deadline", "budget", "status", "version", "port")} | {
    "datum": "date", "termin": "date", "frist": "deadline", "stichtag": "deadline",
}  # fmt: skip
"""What is had by what is named before it: "launch date", "audit deadline", "Launchtermin"."""
_IN_COMPOUND = re.compile(r"(?P<head>[\w ]{3,60}?)(?:(?<=ung|ion|eit)s)? ?(?P<last>budget|datum|termin|frist)")
_NUMBERS = frozenset({"number", "anzahl", "zahl"})
_WHICH = frozenset({"due", "start", "end", "new", "current", "old", "next", "last", "first", "total", "whole"})
_ROLES = {
    "lead": "leader head projektleiter projektleiterin projektleitung leiter leiterin leitung teamleiter teamleiterin",
    "owner": "besitzer besitzerin eigentümer eigentümerin inhaber inhaberin",
}
_ROLE_OF = {
    name: role for role, names in _ROLES.items() for name in [*names.split(), f"project {role}", f"team {role}"]
}


def _read_things() -> tuple[dict[str, str], dict[str, str]]:
    """Returns each kind by all its names, and the kind of each thing."""
    kinds, things = dict[str, str](), dict[str, str]()
    for line in files("memory.facts").joinpath("things.txt").read_text("utf-8").splitlines():
        if not line.startswith("#"):
            beginning, _, members = line.partition(": ")
            names = beginning.split(", ")
            kinds |= dict.fromkeys(names, names[0])
            things |= dict.fromkeys(members.split(", "), names[0])
    return kinds, things


_KINDS, _THINGS = _read_things()
USED = frozenset({USES, *_KINDS.values()})
"""Predicates about things that are used."""


def kind_of(thing: str) -> str | None:
    """Returns the kind of a thing, whatever its version; None if it is unknown."""
    return _THINGS.get(product(thing)) or _THINGS.get(plain(thing))


def product(thing: str) -> str:
    """Normalises a name for comparison, without its version."""
    return _VERSION.sub("", plain(thing))


def predicate_of(noun: str, subject: str | None) -> str:
    """Returns the predicate for a kind of thing, or for a role in a project: "Datenbank" is "database"."""
    noun = noun.casefold()
    if subject is not None and (subject == USER or subject.startswith(f"{USER}'s ")):
        return noun
    return _ROLE_OF.get(noun) or _KINDS.get(noun) or _OF_SOMETHING.get(noun, noun)


def is_date_noun(noun: str) -> bool:
    """Returns whether what it names is a time: a deadline, a launch date, a birthday."""
    return bool(_DATE_NOUN.search(noun))


def of_team(noun: str) -> tuple[str, str]:
    """Returns subject and predicate of something that a team has: its "launch date" is the launch's date."""
    name = noun.casefold().replace("-", " ")
    head, _, last = name.rpartition(" ")
    if last not in _OF_SOMETHING and (compound := _IN_COMPOUND.fullmatch(name)):
        head, last = compound["head"], compound["last"]
    return (head, _OF_SOMETHING[last]) if head and last in _OF_SOMETHING and head not in _WHICH else ("we", noun)


def counted(noun: str, preposition: str | None, of: str | None) -> str | None:
    """Returns the predicate for "the number of licences"; None if the noun is no such number."""
    return number_of(of) if of and noun.casefold() in _NUMBERS and (preposition or "").lower() in OF else None


def number_of(kind: str) -> str:
    """Returns the predicate for how many there are of a kind."""
    return f"number of {kind.casefold()}"


def with_preposition(noun: str, preposition: str | None, of: str | None) -> str:
    """Returns the noun by which something of the user's is known: a meeting with Anna is not one with Ben."""
    return noun if of is None or (preposition or "").lower() in OF else f"{noun} {preposition} {plain(of)}".casefold()


def named(subject: str) -> str:
    """Normalises a subject for comparison: "the Atlas project" and "Project Atlas" are Atlas."""
    return _SORT.sub("", plain(subject))


def names_of(subject: str) -> list[str]:
    """Returns the subjects, in lower case, under which facts about this one may be stored."""
    name, beginning = named(subject), subject.casefold()
    kept = [beginning, name, *(f"{sort} {name}" for sort in ("project", "projekt", "product", "produkt"))]
    return list(dict.fromkeys([*kept, *(f"{name} {sort}" for sort in ("project", "projekt", "product", "produkt"))]))
