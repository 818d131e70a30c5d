"""Tells which values the nouns have that people state: one or several, a name, a number, a time. No I/O."""

from __future__ import annotations

import re

from memory.facts.dates import NUMBERS
from memory.facts.things import is_date_noun

_ONE_VALUE = """name|first name|last name|surname|nickname|email|e-mail|email address|phone|phone number|number|address
birthday|date of birth|age|job|profession|title|role|employer|company|boss|manager|wife|husband|partner|girlfriend
boyfriend|fiancé|fiancée|time zone|timezone|budget|deadline|due date|version|port|status|date|start date|launch date
release date|owner|lead|height|weight|shoe size|home town|hometown|current project|team lead|nachname|vorname|adresse
telefonnummer|handynummer|geburtstag|alter|beruf|chef|chefin|frau|mann|partnerin|freundin|freund|zeitzone|frist
stichtag|termin|abgabetermin"""
ONE_VALUE = frozenset(_ONE_VALUE.replace("\n", "|").split("|"))
"""Nouns of which a person has one at a time."""
_PEOPLE = """boss manager supervisor wife husband partner girlfriend boyfriend fiancé fiancée owner lead employer
company brother sister mother father mom dad son daughter child friend colleague neighbour neighbor assistant supplier
landlord landlady lawyer accountant advisor doctor dentist client customer contact chef chefin frau mann partnerin
freundin freund bruder schwester mutter vater sohn tochter kollege kollegin nachbar nachbarin lieferant vermieter
vermieterin anwalt anwältin steuerberater steuerberaterin arzt ärztin kunde kundin"""
PEOPLE = frozenset(_PEOPLE.split())
"""Nouns of people and firms: what does not name them describes them, as in "my boss is on holiday"."""
_WITH_NAME = frozenset([*PEOPLE, "team lead", "name", "first name", "last name", "surname", "nickname"])
_NAME = re.compile(r"(?:(?:the|der|die|das|den|dem) )?(?:[^\sa-zäöüß]|\S{1,3}[A-Z])")
_NUMBERED = "phone|phone number|number|age|height|weight|shoe size|budget|port|telefonnummer|handynummer|alter"
_WITH_NUMBER = frozenset(_NUMBERED.split("|"))
_NUMBERS = "|".join(NUMBERS.keys() - {"a", "an"}) + "|zero|hundred|thousand|million|hundert|tausend"
_NUMERAL = re.compile(rf"(?i)\d|\b(?:{_NUMBERS})\b")


def is_value(noun: str, told: str, *, lower: bool, is_time: bool) -> bool:
    """Returns whether it may be what the noun asks for: a name, a number or an address. "Broken" is no phone.

    `lower`: the message has no capitals, so names have none. `is_time`: what is told is a time.
    """
    if noun in _WITH_NAME:
        return lower or bool(_NAME.match(told))
    if noun in _WITH_NUMBER:
        return bool(_NUMERAL.search(told))
    if noun in ("email", "e-mail", "email address"):
        return "@" in told
    return is_time or not is_date_noun(noun)
