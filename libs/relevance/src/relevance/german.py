"""Distinguishes German from English, for answers by rules. No I/O."""

from __future__ import annotations

import re
from typing import Literal

from relevance.languages import ENGLISH, load_stemming

GERMAN = "german"
_WORDS = re.compile(r"\w+")
_UMLAUT = re.compile(r"(?<!\w)[a-zäöüß]{0,40}[äöüß]")
_GERMAN_WORDS = """unser unsere unseren unserer unserem wer wann welcher wem wessen woher wohin wovon womit wodurch wozu
warum wieso weshalb gibt kannst nenne zeige fasse danke dank vielen hallo guten heißt wohne wohnt wohnte lebe lebt
arbeite arbeitet leitet leitete geleitet verwenden verwendet nutzen nutzt benutzt benutzen besitzt kostet beginnt endet
seit bitte mag gezogen immer nie heute gestern"""
_ENGLISH_WORDS = """i me us am live lives lived moved like likes call please always never from now owns owned leads led
use uses used since"""
"""Words that short messages often have, besides the stop words."""
_ELSEWHERE = frozenset({"des", "du", "es"})  # in French and Spanish
_GERMAN, _ENGLISH = (
    load_stemming(name).stop_words | frozenset(words.split())
    for name, words in ((GERMAN, _GERMAN_WORDS), (ENGLISH, _ENGLISH_WORDS))
)
_ONLY_GERMAN, _ONLY_ENGLISH = _GERMAN - _ENGLISH - _ELSEWHERE, _ENGLISH - _GERMAN


def is_german(text: str) -> bool:
    """Returns whether more of the words are German than English; one with an umlaut is German, unless it is a name."""
    words = _WORDS.findall(text.lower())
    german = sum(word in _ONLY_GERMAN for word in words) + len(_UMLAUT.findall(text))
    return german > sum(word in _ONLY_ENGLISH for word in words)


def language_of(text: str) -> Literal["en", "de"]:
    """Returns the language in which to answer the text; English unless it is in German."""
    return "de" if is_german(text) else "en"
