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
from itertools import pairwise

from memory.facts.clauses import clauses, sentences
from memory.facts.dates import NUMBERS
from memory.facts.moments import is_moment, moment_end
from memory.recall.asked_words import TAKES, AskedWords, asked_words
from memory.recall.said_words import SaidWord, is_in_two, is_same, words_of
from relevance.analysis import Analyzer
from relevance.german import is_german
from relevance.soft_match import SoftMatch
from relevance.wordpieces import WordPieces

_PLACE = re.compile(
    r"(?i)\b(?:in|at|on|to|near|behind|under|above|beside|next to|opposite|inside|im|am|ins|auf|bei|beim|nach|neben"
    r"|hinter|unter|über|zum|zur) (?=\S)"
)
_ORIGIN = re.compile(r"(?i)\b(?:from|aus|von|vom) (?=\S)")
_NUMBER = re.compile(rf"(?i).{{0,20}}\d|(?:{'|'.join(NUMBERS)})$")
_AMOUNT = rf"(?i)(?:\d ?|\b(?:{'|'.join(NUMBERS)}) )"
_WEIGHT = re.compile(
    rf"{_AMOUNT}(?:g|kg|t|lbs?|oz|grams?|kilos?|kilograms?|tons?|tonnes?|pounds?|ounces?|gramm|kilogramm|tonnen?|pfund"
    r"|zentner)\b"
)
_LENGTH = re.compile(
    rf"{_AMOUNT}(?:mm|cm|m|km|ft|metres?|meters?|centimetres?|centimeters?|kilometres?|kilometers?|miles?|feet|foot"
    r"|inch(?:es)?|yards?|zentimetern?|kilometern?|metern)\b"
)
_DURATION = re.compile(
    r"(?i)\b(?:seconds?|minutes?|hours?|days?|weeks?|months?|years?|sekunden?|minuten?|stunden?|tagen?|wochen?|monaten?"
    r"|jahren?|until|till|bis)\b"
)
_REASON = re.compile(
    r"(?i)\b(?:because|due to|owing to|so that|in order to|thanks to|therefore|that is why|weil|denn|wegen|damit"
    r"|aufgrund|dank|nämlich|deshalb|deswegen|darum|daher)\b"
)
_DENIED = re.compile(r"(?i)\b(?:not|no|never|nobody|none|nothing|neither|nicht|kein\w{0,3}|nie|niemand|nichts|weder)\b")
_BUT = re.compile(r"(?i)\b(?:not|nicht) [^,]{1,80},? (?:but|sondern) ")
_OVER = re.compile(
    r"(?i)\b(?:(?:was|were)(?! \w{1,20}e[dn]\b)|used to|old|former|formerly|previous|previously|war|waren|alte[rnsm]?"
    r"|ehemalige[rnsm]?|frühere[rnsm]?|früher|bisherige[rnsm]?)\b"
)
_PAST = re.compile(rf"(?i){_OVER.pattern.removeprefix('(?i)')}|\b(?:did|had|hatte|wurden?)\b")
_OPEN = re.compile(
    r"(?i)\b(?:whether|wonder(?:ing)?|not sure|unsure|no idea|find out|unclear|ob|frage mich|nicht sicher|keine ahnung"
    r"|herausfinden|unklar)\b"
)
"""Who does not know it does not tell it."""
_REVISED = re.compile(
    r"(?i)\b(?:instead|after all|no longer|any ?more|from now on|stattdessen|nicht mehr|ab jetzt|ab sofort)\b|, (?:and "
    r")?(?:not|nicht) \S"
)
_REQUEST = re.compile(
    r"(?i)(?:(?:please|bitte|now|then|can you|could you|kannst du) ){0,3}(?:add|answer|ask|check|compare|create|delete"
    r"|describe|draft|draw|explain|find|fix|give|help|list|look|make|open|read|remind|rewrite|say|search|send|set|show"
    r"|summari[sz]e|tell|translate|update|write|erklär\w{0,2}|erstelle?|fasse?|finde|gib|liste|nenne?|schreibe?|suche?"
    r"|übersetze?|vergleiche?|zeige?)\b"
)
"""A task that was given is no statement."""
_IS = re.compile(r"(?i)\b(?:is|are|was|were|ist|sind|war|waren|heißt|lautet|beträgt)\b")
_PREPOSITION = re.compile(r"(?i)(?:in|at|on|to|for|with|im|am|an|auf|bei|beim|für|mit|zu|zum|zur) ")
_BY = re.compile(r"(?i)\b(?:by|von|vom|durch)\b")
_ONE = re.compile(r"(?i)\b(?:i|me|my|mine|ich|mich|mir|meine?[nmrs]?)\b")
_SEVERAL = re.compile(r"(?i)\b(?:we|us|our|ours|wir|uns|unsere?[nmrs]?)\b")
_SELF, _OF_SELF = re.compile(r"(?i)\b(?:i|ich)\b"), re.compile(r"(?i)\b(?:i|me|we|us|ich|mich|mir|wir|uns)\b")
_MY = re.compile(r"(?i)my|meine?[nmrs]?")
_OWNER = re.compile(r"(\w{1,64})['’]s?$")
_LEADING_WORDS = """costs cost stands sits hangs lies moved weighs measures kostet kosten beträgt heißt steht liegt
hängt sitzt findet wiegt misst wurde wurden"""
_LEADING = frozenset(_LEADING_WORDS.split()) | TAKES
"""Verbs that lead from what a clause is about to what it tells of it, besides those that mean nothing by themselves."""
_PART, _DEPENDENT = re.compile(r", "), re.compile(r"(?i)(?:dass|ob|that|whether)\b")
BEGINNING = 4
"""Words of a clause among which is what it is about, if the question has no other word."""


@dataclass(frozen=True)
class ToldClause:
    """What tells it. `ends_earlier`: it corrects or revises what was said of it before."""

    text: str
    ends_earlier: bool


class Telling:
    """Compares in English and German. Thread-safe."""

    def __init__(self, analyzer: Analyzer, tokenizer: WordPieces, soft_match: SoftMatch) -> None:
        self.analyzer, self.tokenizer, self.soft_match = analyzer, tokenizer, soft_match

    def asked(self, question: str) -> AskedWords | None:
        """Returns what the question asks for; None if it is of another kind, or has no word that means something."""
        return asked_words(question, self.analyzer)

    def told(self, asked: AskedWords, message: str, at: datetime, time_zone: str) -> ToldClause | None:
        """Returns the message's clauses that tell it; None if none does."""
        if not asked.all_in(self._words(message)):
            return None
        found, ends_earlier = list[str](), False
        for clause, corrects in sentences(message) if asked.kind == "reason" else clauses(message):
            text = clause.strip(" .!;,")
            words = self._words(text)
            if self._is_about(asked, text, words) and _tells(asked, text, words, at, time_zone):
                found.append(text)
                ends_earlier = ends_earlier or corrects or bool(_REVISED.search(text))
        return ToldClause(". ".join(found), ends_earlier) if found else None

    def related(self, question: str, messages: Sequence[str]) -> list[float]:
        """Returns for each message, from 0 to 1, how much of what the question asks about a person it says.

        This is what follows "my" or "I": the boat in "what colour is my boat". Other words count as they resemble it.
        """
        german = is_german(question)
        rest = words_of(_ONE.split(question, maxsplit=1)[-1], self.analyzer, german=german)
        words = [one for one in rest if one.stems] or [one for one in self._words(question) if one.stems]
        shares = [self._share(words, message) for message in messages]
        if not german and words:  # the table of wordpieces has English words
            pieces = self.tokenizer.weighted(" ".join(one.text for one in words), lambda _: 1.0)
            alike = self.soft_match(pieces, self.tokenizer.distinct(messages)).tolist()
            shares = [max(pair) for pair in zip(shares, alike, strict=True)]
        asked = AskedWords("", words, question)
        others = [bool(_ONE.match(one)) and _is_another_s(asked, one, self._words(one)) for one in messages]
        return [0.0 if other else share for share, other in zip(shares, others, strict=True)]

    def _is_about(self, asked: AskedWords, clause: str, words: Sequence[SaidWord]) -> bool:
        """Returns whether the clause has all words of the question, says it, and is about the same person's things."""
        if not asked.all_in(words):
            return False
        owners = (owner[1].lower() for word in words if (owner := _OWNER.search(word.text)))
        if any(owner not in asked.text.lower() for owner in owners) or _is_of_others(asked, clause, words):
            return False
        if _REQUEST.match(clause) or _OPEN.search(clause):
            return False
        part = self._part(asked, clause)
        if asked.kind != "whether" and _lacks(_DENIED, part, _DENIED, asked.text) and not _BUT.search(clause):
            return False
        if _lacks(_OVER, part, _PAST, asked.text):
            return False
        is_of_speaker = bool(_ONE.search(asked.text)) and bool(_ONE.match(clause))
        return len(asked.words) > 1 or is_of_speaker or _begins_with(asked, words)

    def _part(self, asked: AskedWords, clause: str) -> str:
        """Returns the part between commas that has all words of the question, otherwise the clause."""
        for part in _PART.split(clause):
            if not _DEPENDENT.match(part) and asked.all_in(self._words(part)):
                return part
        return clause

    def _share(self, asked: Sequence[SaidWord], message: str) -> float:
        """Returns the share of the words that a message has, in some form."""
        words = self._words(message)
        return sum(any(is_same(one, word, words, asked) for word in words) for one in asked) / max(1, len(asked))

    def _words(self, text: str) -> list[SaidWord]:
        return words_of(text, self.analyzer, german=is_german(text))


def _lacks(said: re.Pattern[str], clause: str, asked: re.Pattern[str], question: str) -> bool:
    """Returns whether the clause has what the question would have to have, too."""
    return bool(said.search(clause)) and not asked.search(question)


def _is_of_others(asked: AskedWords, clause: str, words: Sequence[SaidWord]) -> bool:
    """Returns whether one is about the speaker alone and the other is not: "do I live" and "my sister lives"."""
    if _is_another_s(asked, clause, words):
        return True
    of_one, of_several = bool(_ONE.search(asked.text)), bool(_SEVERAL.search(asked.text))
    return (of_one or of_several) and not _SEVERAL.search(clause) and bool(_ONE.search(clause)) != of_one


def _is_another_s(asked: AskedWords, text: str, words: Sequence[SaidWord]) -> bool:
    """Returns whether it is asked what the speaker does, and said what others do, though it may be their sister."""
    if not _SELF.search(asked.text) or _OF_SELF.search(text):
        return False
    return not any(_MY.fullmatch(word.text) and asked.has(had, words) for word, had in pairwise(words))


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
    sort = {"duration": _DURATION, "weight": _WEIGHT, "length": _LENGTH, "reason": _REASON}.get(asked.kind)
    if sort is not None:
        return bool(sort.search(clause))
    match asked.kind:
        case "whether":
            return True
        case "time":
            return any(moment_end(rest, at, time_zone) for rest in _rests(clause, words, new))
        case "number":
            return any(_NUMBER.match(word.text) for word in new)
        case "place" | "origin":
            before = _PLACE if asked.kind == "place" else _ORIGIN
            return any(not is_moment(clause[one.start() :], at, time_zone) for one in before.finditer(clause))
        case "person":
            turned = any(is_same(one, meaning[0], words, asked.words) for one in asked.words[1:])
            turned = turned and not _PREPOSITION.match(clause)
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
