"""Distinguishes German from English, for answers by rules. No I/O."""

from __future__ import annotations

import re

_WORDS = re.compile(r"[a-zäöüß]+")
_GERMAN_WORDS = """ich mich mir mein meine meinen meiner meinem wir uns unser unsere wo wie wer wann welche welcher
welchem bei heiße heißt wohne wohnt wohnte lebe lebt habe hast hat bin bist ist sind arbeite arbeitet nach und nicht
kein keine wem gehört gehörte leitet leitete
geleitet verwenden nutzen benutzen von seit jetzt für der die das dem den ein eine einen bitte mag
gezogen immer künftig nie"""
_ENGLISH_WORDS = """i me my we our us where who when which what is are am do does did the a an to in at and not have has
had moved live lives lived like likes call please always never from now
on owns owned leads led use uses used since by it"""
_GERMAN, _ENGLISH = frozenset(_GERMAN_WORDS.split()), frozenset(_ENGLISH_WORDS.split())


def is_german(text: str) -> bool:
    """Returns whether more of the words are German than English."""
    words = _WORDS.findall(text.lower())
    return sum(word in _GERMAN for word in words) > sum(word in _ENGLISH for word in words)
