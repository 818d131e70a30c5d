"""What sort of thing a question asks for, and the words that an answer must have, in English and German. No I/O."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import dropwhile

from memory.recall.said_words import SaidWord, is_same, words_of
from relevance.analysis import Analyzer
from relevance.german import is_german

_MEASURES = (
    "temperature|price|percentage|share|rate|speed|size|amount|weight|height|length|width|distance|temperatur|preis"
    "|prozentsatz|anteil|geschwindigkeit|größe|menge|gewicht|höhe|länge|breite|entfernung"
)
_KINDS = [
    (kind, re.compile(rf"(?i)(?:{pattern})\b"))
    for kind, pattern in (
        ("time", r"(?:(?:until|since|by|from|ab|bis|seit) )?(?:when|wann)"),
        ("time", r"(?:(?:at|on|in) )?(?:what|which) (?:time|day|date|month|year)"),
        ("time", r"um wie ?viel uhr|(?:an|in) welche[mr] (?:tag|datum|monat|jahr|woche)"),
        ("duration", r"how long|wie lange"),
        ("weight", r"how heavy|wie schwer"),
        ("length", r"how (?:wide|tall|deep|thick|far)|wie (?:breit|tief|dick|weit)"),
        ("number", r"how (?:many|much|old|high|large|big|often)"),
        ("number", rf"(?:(?:at|to) )?(?:what|which) (?:{_MEASURES})|(?:(?:bei|zu) )?welche[rmns]? (?:{_MEASURES})"),
        ("number", r"wie ?(?:viele?|hoch|groß|alt|oft|teuer)"),
        ("reason", r"why|warum|wieso|weshalb"),
        ("origin", r"woher|where(?=.{1,200} from$)"),
        ("place", r"where|wohin|wo"),
        ("person", r"(?:(?:to|for|with|by|from|von|mit|für|bei) )?(?:who|whom|whose|wer|wem|wen|wessen)"),
        ("thing", r"(?:(?:in|on|at|for|with|from|auf|bei|mit|für|aus) )?(?:what|which|was|welche[rmns]?)"),
        ("thing", r"wie (?=heißt|heißen|lautet)"),
    )
]
_ASKS_WHETHER = re.compile(
    r"(?i)(?:do|does|did|is|are|am|was|were|has|have|had|can|will|may|must|should)(?! (?:you|not)\b) "
)
_ASKS_WHETHER_IN_GERMAN = re.compile(
    r"(?i)(?=\w{2,30} (?:ich|wir|er|sie|es|man|der|die|das|unsere?|meine?|eine?|herr|frau|(?-i:[A-ZÄÖÜ]\w{0,60}))\b)"
)
_AUXILIARY_WORDS = "is are was were have has had will ist sind war hat haben hatte wird"
_AUXILIARIES = frozenset(_AUXILIARY_WORDS.split())
_NOT_NEEDED_WORDS = "currently exactly again gibt aktuell derzeit eigentlich nochmal genau"
_NOT_NEEDED = frozenset(_NOT_NEEDED_WORDS.split())
"""Words of questions that an answer need not have."""
TAKES = frozenset({"take", "takes"})
"""Nor does it need these, if the question asks how long something takes."""


@dataclass(frozen=True)
class AskedWords:
    """What sort of thing a question asks for, what words an answer must have, and the question without its mark."""

    kind: str
    words: Sequence[SaidWord]
    text: str

    @property
    def acts(self) -> bool:
        """Returns whether it asks who does something: to whom they do it is not the answer."""
        rest = dropwhile(lambda word: word.lower() in _AUXILIARIES, self.text.split()[1:])
        return self.kind == "person" and next(rest, "").startswith(self.words[0].text)

    def all_in(self, words: Sequence[SaidWord]) -> bool:
        """Returns whether each of the question's words is among those of a text, in some form."""
        return all(any(is_same(one, word, words, self.words) for word in words) for one in self.words)

    def has(self, word: SaidWord, words: Sequence[SaidWord]) -> bool:
        """Returns whether the question has the word of a clause, in some form."""
        return any(is_same(one, word, words, self.words) for one in self.words)


def asked_words(question: str, analyzer: Analyzer) -> AskedWords | None:
    """Returns what the question asks for; None if it is of another kind, or has no word that means something."""
    text = " ".join(question.split())
    is_marked, text = text.endswith("?"), text.rstrip("? ")
    german = is_german(text)
    kind, rest = _kind(text, is_marked=is_marked, german=german)
    if kind is None:
        return None
    not_needed = _NOT_NEEDED | TAKES if kind == "duration" else _NOT_NEEDED
    words = [one for one in words_of(rest, analyzer, german=german) if one.stems]
    words = [one for one in words if one.text.lower() not in not_needed]
    return AskedWords(kind, words, text) if words else None


def _kind(text: str, *, is_marked: bool, german: bool) -> tuple[str | None, str]:
    """Returns the kind of question and what follows the words that ask; a question for yes or no has to end as one."""
    for kind, pattern in _KINDS:
        if found := pattern.match(text):
            return kind, text[found.end() :]
    if is_marked and (found := (_ASKS_WHETHER_IN_GERMAN if german else _ASKS_WHETHER).match(text)):
        return "whether", text[found.end() :]
    return None, text
