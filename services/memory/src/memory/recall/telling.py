"""Compares questions with what was said, where no rule reads a fact from it. No I/O.

A clause tells what a question asks if it has each of the question's words that mean something, in some form, and
something of the sort that is asked for: a time for "when", a number for "how many", a name for "who". It is quoted as
it is, so nothing is added to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import dropwhile

from memory.facts.clauses import clauses
from memory.facts.dates import NUMBERS
from memory.facts.language import is_german
from memory.facts.moments import is_moment, moment_end
from memory.recall.said_words import SaidWord, is_in_two, is_same, words_of
from relevance.analysis import Analyzer
from relevance.soft_match import SoftMatch
from relevance.wordpieces import WordPieces

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
        ("number", r"how (?:many|much|old|high|large|big|far|heavy|often)"),
        ("number", rf"(?:(?:at|to) )?(?:what|which) (?:{_MEASURES})|(?:(?:bei|zu) )?welche[rmns]? (?:{_MEASURES})"),
        ("number", r"wie ?(?:viele?|hoch|groß|alt|weit|schwer|oft|teuer)"),
        ("place", r"where|wohin|woher|wo"),
        ("person", r"(?:(?:to|for|with|by|from|von|mit|für|bei) )?(?:who|whom|whose|wer|wem|wen|wessen)"),
        ("thing", r"(?:(?:in|on|at|for|with|from|auf|bei|mit|für|aus) )?(?:what|which|was|welche[rmns]?)"),
        ("thing", r"wie (?=heißt|heißen|lautet)"),
    )
]
_PLACE = re.compile(
    r"(?i)\b(?:in|at|on|to|near|behind|under|above|beside|next to|opposite|inside|im|am|ins|auf|bei|beim|nach|neben"
    r"|hinter|unter|über|zum|zur) (?=\S)"
)
_NUMBER = re.compile(rf"(?i).{{0,20}}\d|(?:{'|'.join(NUMBERS)})$")
_DURATION = re.compile(
    r"(?i)\b(?:seconds?|minutes?|hours?|days?|weeks?|months?|years?|sekunden?|minuten?|stunden?|tagen?|wochen?|monaten?"
    r"|jahren?|until|till|bis)\b"
)
_DENIED = re.compile(r"(?i)\b(?:not|no|never|nobody|none|nothing|neither|nicht|kein\w{0,3}|nie|niemand|nichts|weder)\b")
_OVER = re.compile(
    r"(?i)\b(?:(?:was|were)(?! \w{1,20}e[dn]\b)|used to|old|former|formerly|previous|previously|war|waren|alte[rnsm]?"
    r"|ehemalige[rnsm]?|frühere[rnsm]?|früher|bisherige[rnsm]?)\b"
)
_PAST = re.compile(rf"(?i){_OVER.pattern.removeprefix('(?i)')}|\b(?:did|had|hatte|wurden?)\b")
_REQUEST = re.compile(
    r"(?i)(?:(?:please|bitte|now|then|can you|could you|kannst du) ){0,3}(?:add|answer|ask|check|compare|create|delete"
    r"|describe|draft|draw|explain|find|fix|give|help|list|look|make|open|read|remind|rewrite|say|search|send|set|show"
    r"|summari[sz]e|tell|translate|update|write|erklär\w{0,2}|erstelle?|fasse?|finde|gib|liste|nenne?|schreibe?|suche?"
    r"|übersetze?|vergleiche?|zeige?)\b"
)
"""A task that was given is no statement."""
_IS = re.compile(r"(?i)\b(?:is|are|was|were|ist|sind|war|waren|heißt|lautet|beträgt)\b")
_BY = re.compile(r"(?i)\b(?:by|von|vom|durch)\b")
_ONE = re.compile(r"(?i)\b(?:i|me|my|mine|ich|mich|mir|meine?[nmrs]?)\b")
_SEVERAL = re.compile(r"(?i)\b(?:we|us|our|ours|wir|uns|unsere?[nmrs]?)\b")
_OWNER = re.compile(r"(\w{1,64})['’]s?$")
_AUXILIARY_WORDS = "is are was were has have had will ist sind war hat haben hatte wird"
_AUXILIARIES = frozenset(_AUXILIARY_WORDS.split())
_NOT_NEEDED_WORDS = "take takes currently exactly again gibt aktuell derzeit eigentlich nochmal genau"
_NOT_NEEDED = frozenset(_NOT_NEEDED_WORDS.split())
"""Words of questions that an answer need not have."""
_LEADING_WORDS = """costs cost stands sits hangs lies moved kostet kosten beträgt heißt steht liegt hängt sitzt findet
wurde wurden"""
_LEADING = frozenset(_LEADING_WORDS.split())
"""Verbs that lead from what a clause is about to what it tells of it, besides those that mean nothing by themselves."""
BEGINNING = 4
"""Words of a clause among which is what it is about, if the question has no other word."""


@dataclass(frozen=True)
class AskedWords:
    """What sort of thing a question asks for, the words that an answer must have, and the question itself."""

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


class Telling:
    """Compares in English and German. Thread-safe."""

    def __init__(self, analyzer: Analyzer, tokenizer: WordPieces, soft_match: SoftMatch) -> None:
        self.analyzer, self.tokenizer, self.soft_match = analyzer, tokenizer, soft_match

    def asked(self, question: str) -> AskedWords | None:
        """Returns what the question asks for; None if it is of another kind, or has no word that means something."""
        text = " ".join(question.split()).rstrip("? ")
        for kind, pattern in _KINDS:
            if found := pattern.match(text):
                words = self._words(text[found.end() :], german=is_german(text))
                words = [one for one in words if one.stems and one.text.lower() not in _NOT_NEEDED]
                return AskedWords(kind, words, text) if words else None
        return None

    def told(self, asked: AskedWords, message: str, at: datetime, time_zone: str) -> str | None:
        """Returns the message's clauses that tell it; None if none does."""
        if not asked.all_in(self._words(message, german=is_german(message))):
            return None
        found = list[str]()
        for clause, _ in clauses(message):
            text = clause.strip(" .!;,")
            words = self._words(text, german=is_german(text))
            if _is_about(asked, text, words) and _tells(asked, text, words, at, time_zone):
                found.append(text)
        return ". ".join(found) or None

    def related(self, question: str, messages: Sequence[str]) -> list[float]:
        """Returns for each message, from 0 to 1, how much of what the question asks about a person it says.

        This is what follows "my" or "I": the boat in "what colour is my boat". Other words count as they resemble it.
        """
        german = is_german(question)
        rest = self._words(_ONE.split(question, maxsplit=1)[-1], german=german)
        words = [one for one in rest if one.stems] or [one for one in self._words(question, german=german) if one.stems]
        shares = [self._share(words, message) for message in messages]
        if german or not words:
            return shares  # the table of wordpieces has English words
        pieces = self.tokenizer.weighted(" ".join(one.text for one in words), lambda _: 1.0)
        alike = self.soft_match(pieces, self.tokenizer.distinct(messages)).tolist()
        return [max(pair) for pair in zip(shares, alike, strict=True)]

    def _share(self, asked: Sequence[SaidWord], message: str) -> float:
        """Returns the share of the words that a message has, in some form."""
        words = self._words(message, german=is_german(message))
        return sum(any(is_same(one, word, words, asked) for word in words) for one in asked) / max(1, len(asked))

    def _words(self, text: str, *, german: bool) -> list[SaidWord]:
        return words_of(text, self.analyzer, german=german)


def _is_about(asked: AskedWords, clause: str, words: Sequence[SaidWord]) -> bool:
    """Returns whether the clause has all words of the question, and is about the same person's things."""
    if not asked.all_in(words):
        return False
    owners = (owner[1].lower() for word in words if (owner := _OWNER.search(word.text)))
    if any(owner not in asked.text.lower() for owner in owners):
        return False
    of_one, of_several = bool(_ONE.search(asked.text)), bool(_SEVERAL.search(asked.text))
    if (of_one or of_several) and not _SEVERAL.search(clause) and bool(_ONE.search(clause)) != of_one:
        return False
    if _REQUEST.match(clause):
        return False
    if any(one.search(clause) and not other.search(asked.text) for one, other in ((_DENIED, _DENIED), (_OVER, _PAST))):
        return False
    is_of_speaker = of_one and bool(_ONE.match(clause))
    return len(asked.words) > 1 or is_of_speaker or _begins_with(asked, words)


def _begins_with(asked: AskedWords, words: Sequence[SaidWord]) -> bool:
    """Returns whether the clause begins with the only word that is asked about: a meeting room is no meeting."""
    at = next(place for place, word in enumerate(words) if asked.has(word, words))
    if any(is_in_two(stem, word, words) for stem in asked.words[0].stems for one in words for word in one.stems):
        return True
    known = {word.lower() for word in asked.text.split()} | _LEADING
    after = words[at + 1 : at + 2]
    return at < BEGINNING and all(not one.stems or one.text.lower() in known or one.text[:1].isdigit() for one in after)


def _tells(asked: AskedWords, clause: str, words: Sequence[SaidWord], at: datetime, time_zone: str) -> bool:
    """Returns whether the clause has something of the sort that is asked for, beyond the question's words."""
    meaning = [word for word in words if word.stems]
    new = [word for word in meaning if not asked.has(word, words)]
    match asked.kind:
        case "time":
            return any(moment_end(rest, at, time_zone) for rest in _rests(clause, words, new))
        case "duration":
            return bool(_DURATION.search(clause))
        case "number":
            return any(_NUMBER.match(word.text) for word in new)
        case "place":
            return any(not is_moment(clause[one.start() :], at, time_zone) for one in _PLACE.finditer(clause))
        case "person":
            turned = any(is_same(one, meaning[0], words, asked.words) for one in asked.words[1:])
            acts = not asked.acts or not turned or bool(_BY.search(clause))
            return acts and any(word.text[:1].isupper() for word in new)
    # "What is it?" asks what it is, not what else can be said about it.
    asks_what = bool(_IS.match(asked.text.partition(" ")[2]))
    return bool(new) and (bool(_IS.search(clause)) or not asks_what)


def _rests(clause: str, words: Sequence[SaidWord], new: Sequence[SaidWord]) -> Iterator[str]:
    """Yields the clause from each word on that is new, or that precedes a new one and means nothing by itself."""
    for word, after in zip(words, [*words[1:], None], strict=True):
        if (word if word.stems else after) in new:
            yield clause[word.start :]
