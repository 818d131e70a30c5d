"""Finds names in small letters, as many teams write their services: `chatd`, `rating-redis`, `ordersvc`.

Prose alone does not reveal such a name. The document has to: by a heading, a table that lists it, an ending ("-db",
"-svc"), or by a position at the start of a sentence where no ordinary lower-case word would be.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from knowledge_graph.extraction import tables
from knowledge_graph.extraction.capitalised import OPENS_SENTENCE
from knowledge_graph.extraction.names import GENERIC_HEADINGS, KINDS, LABELS, PARTS, STOP_WORDS
from knowledge_graph.extraction.records import SourceChunk, Span
from knowledge_graph.extraction.word_lists import words

TOKEN = re.compile(r"(?<![\w./@#:&'’-])[a-z][a-z0-9]*+(?:[-_][a-z0-9]++)*+(?![\w@'’(]|[./:-]\w)")
WHOLE = re.compile(r"`?([a-z][a-z0-9]*+(?:[-_][a-z0-9]++)*+)/?`?")
QUOTED = re.compile(r"`([a-z][a-z0-9]*+(?:[-_][a-z0-9]++)*+)/?`")
VERB = re.compile(r"[`*_]{0,3},? (?:[a-z]{3,20}s|has|was|can|will|stays?|never|only|no longer|also|still)(?![\w-])")
ALONE = re.compile(
    r"[`*_]{0,3}(?: ?[.,;:()]|$|\n| (?:and|or|but|for|when|while|until|once|because|which|that|if|only|is|in|to)(?!\w))"
)
SLOT = re.compile(
    r"(?<!\w)(?:uses?|using|calls?|calling|asks?|reads?|writes?|needs?|requires?|owns?|runs|from|to|on|in|with|through|"
    r"against|by|via|and|or|nor|neither|part of the|part of|,) [`*_]{0,3}$"
)
JOINT = re.compile(r"[`*_]{0,3},? (?:and|or|und|oder) [`*_]{0,3}")
CLOSES = re.compile(r"[`*_]{0,3}[.;)]")
LONGEST_BEFORE = 16
STORES = words("store_images") | {"db", "pg", "database", "store", "cache", "bucket"}
SERVICES = frozenset({"svc", "srv", "service", "api", "gateway", "worker", "server", "broker", "proxy", "daemon"})
ENDINGS = STORES | SERVICES | {"queue", "topic", "stream", "events", "job"}
TECHNICAL = (words("store_images") - {"oracle"}) | {"db", "pg", "svc", "srv", "api"}
"""Endings that no English word has. The others count only if the document writes names in lower case."""
PREFIXES = frozenset({"co", "self", "non", "pre", "mid", "civil", "full", "half", "multi", "inter", "sub", "drug"})
JOINED_ENDING = re.compile(r"[a-z][a-z0-9]{2,30}(svc|srv|db)$")
ORDINARY = STOP_WORDS | KINDS | LABELS | PARTS.keys() | GENERIC_HEADINGS
SHORTEST = 3
FEWEST = 2
"""From this many lower-case names on, the document is taken to write its names in lower case."""


def lower_case_names(chunks: Sequence[SourceChunk]) -> frozenset[str]:
    """Returns the document's names in small letters."""
    found: set[str] = set()
    for chunk in chunks:
        if chunk.headings and (heading := WHOLE.fullmatch(chunk.headings[-1].strip())):
            found.add(heading.group(1))
        found |= {span.surface.rstrip("/") for span in tables.names(chunk.content) if span.surface.islower()}
        found |= {one.group() for one in TOKEN.finditer(chunk.content) if _tells_itself(one.group(), TECHNICAL)}
        found |= {one.group(1) for one in QUOTED.finditer(chunk.content) if "-" in one.group(1)}
    found = {one for one in found if _is_possible(one)}
    if len(found) >= FEWEST:
        written = {one.group() for chunk in chunks for one in TOKEN.finditer(chunk.content)}
        found |= {one for one in written if _tells_itself(one, ENDINGS) and _is_possible(one)}
        used = Counter(one.group() for chunk in chunks for one in TOKEN.finditer(chunk.content))
        opening = {name for chunk in chunks for name in _opening(chunk.content)}
        found |= {one for one in opening if used[one] > 1 and _is_possible(one)}
        found |= {name for chunk in chunks for name in _in_slots(chunk.content) if _is_possible(name)}
        found |= {name for chunk in chunks for name in _listed(chunk.content, found) if _is_possible(name)}
    return frozenset(found)


def as_names(text: str, names: Collection[str]) -> str:
    """Returns the text with these names capitalised, as readers of English expect them; all positions stay."""
    return TOKEN.sub(lambda match: match.group().capitalize() if match.group() in names else match.group(), text)


def occurrences(text: str, names: Collection[str]) -> Iterator[Span]:
    """Yields each place where the text has one of these names."""
    for match in TOKEN.finditer(text) if names else ():
        if match.group() in names:
            yield Span(match.start(), match.end(), match.group(), entity_type(match.group()))


def entity_type(name: str) -> str:
    """Returns the type that the last part of the name implies: `rating-redis` is a store, `ordersvc` a service."""
    joined = JOINED_ENDING.match(name)
    last = joined.group(1) if joined else re.split(r"[-_]", name)[-1]
    return "STORE" if last in STORES else "SERVICE" if last in SERVICES else "IDENTIFIER"


def _is_possible(name: str) -> bool:
    return len(name) >= SHORTEST and name not in ORDINARY


def _tells_itself(name: str, endings: Collection[str]) -> bool:
    first, _, last = name.rpartition("-")
    is_name = bool(first) and last in endings and first not in STOP_WORDS | PREFIXES
    return is_name or JOINED_ENDING.match(name) is not None


def _opening(text: str) -> Iterator[str]:
    """Yields words that open a sentence and are followed by a verb."""
    for match in TOKEN.finditer(text):
        before = text[max(0, match.start() - 4) : match.start()]
        in_list = text[text.rfind("\n", 0, match.start()) + 1 : match.start()].strip() in {"-", "*", "•", "|", ">"}
        wrapped = before.endswith("\n") and not before.endswith("\n\n")
        if OPENS_SENTENCE.search(before) and not in_list and not wrapped and VERB.match(text, match.end()):
            yield match.group()


def _listed(text: str, names: Collection[str]) -> Iterator[str]:
    """Yields the last word of a list whose other words are names: "chatd and wordfilter"."""
    for first in TOKEN.finditer(text):
        if first.group() in names:
            joint = JOINT.match(text, first.end())
            last = TOKEN.match(text, joint.end()) if joint is not None else None
            if last is not None and not last.group().endswith("s") and CLOSES.match(text, last.end()):
                yield last.group()


def _in_slots(text: str) -> Iterator[str]:
    """Yields words with a hyphen that stand alone, without an article, where something is used or called."""
    for match in TOKEN.finditer(text):
        before = text[max(0, match.start() - LONGEST_BEFORE) : match.start()]
        if "-" in match.group() and SLOT.search(before) and ALONE.match(text, match.end()):
            yield match.group()
