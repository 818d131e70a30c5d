"""Finds openings that define the text's subject: "Janis Lyn Joplin (1943–1970) was …", "The Guns and the Fury is a …".

Such an opening shows where the name ends, including small words, even if the name alone looks like several.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from knowledge_graph.extraction.names import ARTICLES, HEADS, KINDS, PARTICLES, STOP_WORDS, is_generic, is_name
from knowledge_graph.extraction.records import Span
from knowledge_graph.extraction.short_forms import HONORIFICS, JUNIOR, REGNAL
from knowledge_graph.extraction.word_lists import words

LONGEST_NAME, LONGEST_ASIDE = 120, 240
MOST_WORDS, MOST_WORDS_WITH_NOUNS = 12, 5
MOST_NAMES_OF_PERSON = 5
BEFORE = re.compile(r"[\s\"“”'‘*_]*")
# A bracket, the verb, a continuation in lower case, or a full stop that is not part of an initial or title.
ENDS_NAME = re.compile(
    r"(?<![\s\"”’'*_,])[\s\"”’'*_,]*(?:\(|\b(?:is|was|are|were)\b|[,;]\s+(?=[^\W\d_A-Z])|(?<=\w{4})[.;]\s+(?=[A-Z])|\n|$)"
)
BRACKETS = re.compile(r"(?:\s*+\((?:[^()\n]|\([^()\n]*+\)){0,240}+\))++")
LIVED = re.compile(r"\b(?:born|died|née|né)\b|\b(?:b|d|c|fl)\.|\b\d{3,4}\b")
LIVED_AS_PERSON = re.compile(r"\b(?:born|died|née|né)\b|\d{1,2},? (?:\w+ )?\d{3,4} ?[–—-] ?(?:\w+ )?\d")
IS_A = re.compile(
    r"[\"”’'*_]*(?:,(?:[^.;\n]|(?<=\b[A-Z])\.){0,200}?,)?[\s,]*(?:is|was|are|were)\s+(?:also\s+|currently\s+|both\s+)?"
    r"(?:an?|the|one|part|any|located|situated|[^\W\d_][\w.]*(?:\s[A-Z][\w.]*){0,3}['’]s?)\b"
)
NICKNAME = re.compile(r"(?<!\s)\s*+[\"“'‘]\s*+([A-Z][\w.-]++(?: [A-Z][\w.-]++)?)\s*+[\"”'’](?=\s+[A-Z])")
ARTICLE = re.compile(r"(?:The|An?) (?=\S)")
SMALL = PARTICLES | words("small_words")
WORKS, LEGAL_FORMS, ELSEWHERE = words("works"), words("legal_forms"), words("openings_not")


@dataclass(frozen=True)
class OpeningDefinition:
    """`name` is a place in the text; `others` are names that other texts will use: "Janis Joplin"."""

    name: Span
    others: tuple[str, ...]


def opening(text: str, found: Sequence[Span]) -> OpeningDefinition | None:
    """Returns what the first sentence of the text defines, typed by the names `found` there."""
    before = BEFORE.match(text)
    start = before.end() if before else 0
    ending = ENDS_NAME.search(text, start, start + LONGEST_NAME)
    if ending is None:
        return None
    end = ending.start()
    brackets = BRACKETS.match(text, end) if ending.group().endswith("(") else None
    name_words = brackets.group() if brackets else ""
    is_a = IS_A.match(text, brackets.end() if brackets else end, end + len(name_words) + LONGEST_ASIDE)
    if is_a is None and not LIVED.search(name_words):
        return None
    name, _, alternative = text[start:end].partition(" or ")
    if alternative and (" " not in name or not _is_whole_name(alternative, with_nouns=False)):
        name, alternative = text[start:end], ""
    if not _is_whole_name(name, with_nouns=is_a is not None):
        return None
    if is_a is None and name.split()[0].casefold() in STOP_WORDS - ARTICLES:
        return None  # "After Kim Jong Il (1941–2011) …"
    kinds = {one.entity_type for one in found if one.start < start + len(name) and start < one.end}
    is_person = LIVED_AS_PERSON.search(name_words) is not None or kinds == {"PERSON"}
    skipped = _in_front(name, is_person=is_person, is_work=is_a is not None and _is_work(text, is_a.end()))
    start, name = start + skipped, name[skipped:]
    if not is_name(name) or is_generic([word.casefold() for word in name.split()]):
        return None
    entity_type = "PERSON" if is_person and "PERSON" in kinds else kinds.pop() if len(kinds) == 1 else "ENTITY"
    others = dict.fromkeys([*_others(name, is_person=is_person), *([alternative] if alternative else [])])
    return OpeningDefinition(
        Span(start, start + len(name), name, entity_type), tuple(one for one in others if one != name)
    )


def _is_whole_name(surface: str, *, with_nouns: bool) -> bool:
    """Returns whether the words are capitalised, with small ones between; a short name may end in other nouns."""
    name_words = [bare for word in surface.split() if (bare := word.strip("\"“”'‘’-,:*_"))]
    if not name_words or len(name_words) > MOST_WORDS or not (name_words[0][0].isupper() or name_words[0][0].isdigit()):
        return False
    first = name_words[0].casefold()
    if (first in ELSEWHERE and len(name_words) < 3) or (first in ELSEWHERE | SMALL - ARTICLES and "," in surface):
        return False
    nouns = [place for place, word in enumerate(name_words) if word[0].islower() and word.casefold() not in SMALL]
    if nouns:
        at_end = nouns == list(range(nouns[0], len(name_words)))
        capital = any(word[0].isupper() for word in name_words[1 : nouns[0]])
        return with_nouns and at_end and capital and len(name_words) <= MOST_WORDS_WITH_NOUNS and ":" not in surface
    return not name_words[-1][0].islower() and any(word.casefold() not in SMALL for word in name_words)


def _is_work(text: str, place: int) -> bool:
    return any(word in WORKS for word in re.findall(r"[a-z]+", text[place : place + 80]))


def _in_front(name: str, *, is_person: bool, is_work: bool) -> int:
    """Returns the length of a leading article or form of address that is not part of the name."""
    article = ARTICLE.match(name)
    if article is not None:
        return 0 if is_work else article.end()
    name_words = name.split(" ")
    addressed = is_person and len(name_words) > 2 and name_words[0].casefold().strip(".") in HONORIFICS
    return len(name_words[0]) + 1 if addressed else 0


def _others(name: str, *, is_person: bool) -> Iterator[str]:
    """Yields shorter names: without nickname, "Jr.", "Ltd" or what follows a comma or colon; a person's first and last
    name.
    """
    nickname = NICKNAME.search(name)
    whole = NICKNAME.sub("", name).split(",")[0].split(": ")[0]
    name_words = whole.split()
    while len(name_words) > 1 and name_words[-1].strip(".").casefold() in LEGAL_FORMS | JUNIOR:
        name_words.pop()
    yield whole if name_words[-1] == "&" else " ".join(name_words)
    king = next((place for place, word in enumerate(name_words) if place and REGNAL.match(word.casefold())), None)
    if king is not None:
        yield " ".join(name_words[: king + 1])
        return
    bare = [word.strip("-,") for word in name_words]
    if any(word.casefold() in SMALL | KINDS | HEADS for word in bare) or not is_person:
        return
    if 2 <= len(name_words) <= MOST_NAMES_OF_PERSON:
        yield f"{name_words[0]} {name_words[-1]}"
        if nickname is not None:
            yield f"{nickname.group(1)} {name_words[-1]}"
