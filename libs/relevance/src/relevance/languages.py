"""The rules by which words of a language become terms: a Snowball stemmer and stop words."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib import resources

import Stemmer

ENGLISH, SIMPLE = "english", "simple"
_STEMMERS = {
    "ar": "arabic", "hy": "armenian", "eu": "basque", "ca": "catalan", "cs": "czech", "da": "danish", "nl": "dutch",
    "eo": "esperanto", "et": "estonian", "fi": "finnish", "fr": "french", "de": "german", "el": "greek", "hi": "hindi",
    "hu": "hungarian", "id": "indonesian", "ga": "irish", "it": "italian", "lt": "lithuanian", "ne": "nepali",
    "no": "norwegian", "nb": "norwegian", "nn": "norwegian", "fa": "persian", "pl": "polish", "pt": "portuguese",
    "ro": "romanian", "ru": "russian", "sr": "serbian", "st": "sesotho", "es": "spanish", "sv": "swedish",
    "ta": "tamil", "tr": "turkish", "yi": "yiddish",
}  # fmt: skip
# Chinese, Japanese and Korean become bigrams by any rules; other words in such texts are mostly English.
_ENGLISH = frozenset({"en", "zh", "ja", "ko"})
# Articles and the like before a vowel: l'école, dell'arte.
_ELISIONS = re.compile(
    "(?:[cdjlmnst]|qu|jusqu|lorsqu|puisqu|un|[ds]?all|dell|nell|sull|quell)['’](?=\\w)", re.IGNORECASE
)
_ELIDING = frozenset({"french", "italian", "catalan"})


@dataclass(frozen=True)
class Stemming:
    """The rules of a language. `keeps_accents`: its stemmer needs the accents to recognise suffixes.

    `elisions` match what is at the beginning of a word but not part of it.
    """

    stem: Callable[[str], str]
    stop_words: frozenset[str]
    keeps_accents: bool
    elisions: re.Pattern[str] | None = None


def stemming_of(language: str | None) -> str:
    """Returns the rules for a language (ISO 639-1): English if it is unknown, `simple` without a stemmer."""
    if language is None:
        return ENGLISH
    primary = language.replace("_", "-").partition("-")[0].lower()
    return ENGLISH if primary in _ENGLISH else _STEMMERS.get(primary, SIMPLE)


def load_stemming(name: str) -> Stemming:
    """Loads the rules. Raises KeyError for a name that `stemming_of` does not return."""
    if name == SIMPLE:
        return Stemming(str, frozenset(), keeps_accents=False)
    file = resources.files("relevance").joinpath("stop_words", f"{name}.txt")
    stop_words = frozenset(file.read_text("utf-8").split() if file.is_file() else ())
    elisions = _ELISIONS if name in _ELIDING else None
    return Stemming(Stemmer.Stemmer(name).stemWord, stop_words, name != ENGLISH, elisions)
