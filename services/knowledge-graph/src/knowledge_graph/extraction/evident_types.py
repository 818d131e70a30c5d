"""Finds types of names that are well known, or evident from their shape or from the words beside them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from knowledge_graph.extraction import german_clauses, tables
from knowledge_graph.extraction.chunk_analysis import ChunkAnalysis
from knowledge_graph.extraction.full_names import EVIDENT, FULL_NAME
from knowledge_graph.extraction.names import PARTS, name_key
from knowledge_graph.extraction.records import Span
from knowledge_graph.extraction.word_lists import equations, words

TECHNOLOGIES = frozenset(name for names, _ in equations("technologies", ",") for name in names)
PLACE_HEADS = words("place_heads")
PLACES = frozenset({"GPE", "LOC", "FAC", "PLACE"})
SYSTEMS = EVIDENT - {"TEAM", "DOCUMENT_ID", "PLACE"}
KIND = "|".join(sorted((re.escape(kind) for kind in PARTS), key=len, reverse=True))
APPOSED = re.compile(
    rf"[`*_]{{0,3}}(?:,| \(| [–—-]) ?(?:an?|the|our|der|die|das|ein|eine) (?:[\w-]{{1,30}} ){{0,2}}({KIND})"
    r"(?=\s{0,3}[,.);:]|$| (?:that|which|of|for|on|in|built|written|based|der|die|das|für|auf)(?!\w))",
    re.IGNORECASE | re.MULTILINE,
)
"""An apposition after a comma, a dash or a bracket: "Logbook, the archive bucket", "chat-archive (an S3 bucket)"."""
TOWN = re.compile(rf"(?:{'|'.join(sorted(PLACE_HEADS))}) in ([A-ZÄÖÜ][\w-]{{2,40}}(?: [A-ZÄÖÜ][\w-]{{1,40}})?)")
"""The town in an address: "Falk Quay in Port Callan"."""
ADDRESSED = re.compile(r"\s{0,3}[<(][\w.+-]{1,64}@")
LONGEST_APPOSITION = 100
IS_A = re.compile(
    rf"[`*_]{{0,3}} (?:is|are|ist|sind) (?:an?|the|our|der|die|das|eine?|unsere?) (?:[\w-]{{1,30}} ){{0,2}}({KIND})"
    r"(?=[.,;:)]|$| (?:of|in|for|that|which|with|from|on|by|at|to|we|and|built|written|"
    r"der|die|das|für|von|mit|und)(?!\w))",
    re.IGNORECASE | re.MULTILINE,
)
"""The definition after a name: "Border Desk is a team of two"."""
NOUNS = {noun: kind for nouns, kind in equations("system_nouns", ",") for noun in nouns}
LAST_HUMP = re.compile(r"[a-z0-9]([A-Z][a-z]+|[A-Z]+)$")
SOFTWARE_BEFORE = re.compile(
    r"(?<!\w)(?:uses?|using|used|calls?|calling|asks?|buy|adopt|query|queries|querying|integrates? with|replaces?|"
    r"replaced by|migrates? to|switch(?:es|ed)? (?:to|off)|depends? on|rel(?:y|ies) on|talks? to|connects? to|"
    r"signs? in with|nutzt|nutzen|verwendet|from) (?:the )?`?$",
    re.IGNORECASE,
)
BEFORE_DEFINED = re.compile(
    r"(?<!\w)(?:uses?|using|used|calls?|asks?|called|named|by|through|via|nutzt|nutzen|namens|durch) `?$"
)
"""Words between which and an apposition a thing stands, even if its name looks like a person's or a place's."""
OF_STORE_BEFORE = re.compile(
    r"(?<!\w)(?:(?:replicas?|tables|schema|rows|dumps?|backups?) of (?:the )?|"
    r"(?:Replika?t?|Tabellen|Schema|Abzug) (?:von |der |des ))`?$"
)
"""Words before the name of a store: services have no tables, rows or backups."""
PLATFORM_BEFORE = re.compile(
    r"(?<!\w)(?:(?:runs?|running|ran|built|based) on|written in|läuft auf|geschrieben in) (?:the )?`?$", re.IGNORECASE
)
"""Words before what software runs on or is written in."""
PARTNER_BEFORE = re.compile(
    r"(?<!\w)(?:connects? (?:(?:us|it|them) )?(?:to|with)|integrates? (?:it )?with|"
    r"exports? (?:[a-z]{1,20} ){0,3}to|publishes (?:[a-z]{1,20} ){0,3}to) `?$"
)
"""Words between a system and another one that it works with. People and places are not reached like this."""
SELLS = re.compile(r"[`*_]{0,3} sells(?:[.,;]| (?!itself|well|out)[a-z])")
SOLD_BEFORE = re.compile(r"(?<!\w)(?:bought|licensed|purchased) from `?$|(?<!\w)(?:sold|manufactured) by `?$")
LONGEST_VERB = 40
LOOKS = frozenset(
    "PERSON ORG GPE NORP FAC LOC PRODUCT WORK_OF_ART EVENT LAW LANGUAGE ENTITY IDENTIFIER".split()  # noqa: SIM905 - a list of 13 lines says no more
)
"""Types guessed from how a name looks."""
TECHNICAL = frozenset({"IDENTIFIER", "PRODUCT"})
FEWEST_SYSTEMS = 2
PLACE_NOUN = "|".join(sorted(words("place_kinds")))
PLACE_NAME = r"[A-ZÄÖÜ][\w’'-]{1,40}+(?: [A-ZÄÖÜ][\w’'-]{1,40}+)?"
PLACE_LISTS = re.compile(
    rf"(?<!\w)(?:{PLACE_NOUN})(?:,|:| \(|(?<!port)(?<!ports) in) ?"
    rf"({PLACE_NAME}(?:, {PLACE_NAME}){{0,8}}(?:,? (?:and|und) {PLACE_NAME})?)"
)
"""Names listed after a noun for places: "two hubs, Eskdale and Marwick", "depots in Lille"; but "a port in
Rust" is software."""
OF_PLACES = re.compile(
    rf"(?<!\w)(?:between|zwischen) ({PLACE_NAME}(?:, {PLACE_NAME}){{0,8}},? (?:and|und) {PLACE_NAME})|"
    rf"(?<!\w)(?:crossing|ferry|train|bus|flight|trip|journey|route|line|sailing)s? from "
    rf"({PLACE_NAME} to {PLACE_NAME})|"
    rf"(?<!\w)(?:company|firm|vendor|broker|supplier|provider|agency|office|based|located|headquartered|sits?|sitzt) "
    rf"(?:in|at) ({PLACE_NAME}(?: in {PLACE_NAME})?)"
)
"""The ends of journeys, and the locations of companies and teams."""
TRAVELS = re.compile(
    r"(?<!\w)(?:ferr(?:y|ies)|ships?|trains?|sailings?|passengers|travellers|flights?|bus(?:es)?|trucks?|züge|fahrgäste|"
    r"carr(?:y|ies)|runs|moves|fährt|fahren)(?!\w)",
    re.IGNORECASE,
)
NAMES_JOINED = re.compile(r",? (?:and|und|to|in) |, ")
GUESSED = frozenset({"PERSON", "NORP", "GPE", "LOC", "FAC"})
ARTICLE = re.compile(r"(?<!\w)[Tt]he [`*_]{0,3}$")
SMALL_WORD = re.compile(r"(?<![\w.@/-])[a-z]{3,30}(?![\w@])")
IS_LED = re.compile(
    r"[`*_]{0,3} (?:is|are) (?:now |currently )?(?:led|headed) by [A-ZÄÖÜ]|[`*_]{0,3} reports? to [A-ZÄÖÜ]"
)
"""What is led by somebody is a team, unless it is known as a project."""
MEMBER = re.compile(r"['’]s (?:team|squad|crew)(?!\w)(?:, ([A-Z][\w-]{1,30}(?: [A-Z][\w-]{1,30}){0,2}))?")
"""Follows a person's name: "Nia Pritchard's team, Border Desk"."""


def evident_types(chunks: Sequence[ChunkAnalysis], *, names_systems: bool) -> Iterator[tuple[str, str]]:
    """Yields names with their types. `names_systems`: the document states that something is a part of a system."""
    spans = [span for chunk in chunks for span in chunk.spans]
    software = {span.surface for span in spans if span.surface in TECHNOLOGIES}
    # In texts without other technical names, Kafka is the writer; and Franz Kafka is never a broker.
    is_technical = names_systems or len(software) > 1 or any(span.entity_type in EVIDENT for span in spans)
    people = {span.surface.rpartition(" ")[2] for span in spans if " " in span.surface and span.entity_type == "PERSON"}
    for surface in sorted(software - people) if is_technical else ():
        yield surface, "LIBRARY"
    systems = {span.surface for span in spans if span.entity_type in SYSTEMS}
    if names_systems or len(systems) >= FEWEST_SYSTEMS:
        yield from _of_nouns(chunks)
    for span in spans:
        if span.surface.rpartition(" ")[2] in PLACE_HEADS and span.surface.count(" ") in {1, 2}:
            yield span.surface, "FAC"
    for chunk in chunks:
        yield from _places(chunk)
        yield from ((span.surface, span.entity_type) for span in german_clauses.names(chunk.text))


def _of_nouns(chunks: Sequence[ChunkAnalysis]) -> Iterator[tuple[str, str]]:
    """Yields names with types by their last word, by a mention of their tables, or, for single words, by standing where
    software does."""
    owners = {surface for chunk in chunks for surface in tables.owners(chunk.text)}
    for chunk in chunks:
        for span in (one for one in chunk.spans if one.surface not in owners):
            first, _, last = span.surface.rpartition(" ")
            hump = LAST_HUMP.search(span.surface) if not first else None
            if span.entity_type not in LOOKS or (span.entity_type == "IDENTIFIER" and hump is None):
                continue
            kind = NOUNS.get((hump.group(1) if hump else last if first else "").casefold())
            before = chunk.text[max(0, span.start - LONGEST_VERB) : span.start]
            if kind is not None:
                yield span.surface, kind
            elif OF_STORE_BEFORE.search(before):
                yield span.surface, "STORE"
            elif span.entity_type not in TECHNICAL and PLATFORM_BEFORE.search(before):
                yield span.surface, "LIBRARY"
            elif _follows_system_verb(span, before):
                yield span.surface, "SERVICE"


def _follows_system_verb(span: Span, before: str) -> bool:
    if span.entity_type == "IDENTIFIER":
        return span.surface[0].isupper() and SOFTWARE_BEFORE.search(before) is not None
    return span.entity_type not in TECHNICAL and PARTNER_BEFORE.search(before) is not None


def common_names(chunks: Sequence[ChunkAnalysis]) -> set[str]:
    """Returns the keys of names that the language model takes for people, peoples or places although the document uses
    them for things.

    The document puts an article before the name, or uses one of its words in small letters: "Gate Keeper opens the
    gates".
    """
    small = {word for chunk in chunks for word in SMALL_WORD.findall(chunk.text)}
    found = set()
    for chunk in chunks:
        for span in chunk.spans:
            if span.entity_type in GUESSED:
                words = [word.casefold() for word in span.surface.split()]
                is_made_of_words = len(words) > 1 and any({word, f"{word}s"} & small for word in words)
                has_article = ARTICLE.search(chunk.text, max(0, span.start - LONGEST_VERB), span.start)
                if has_article or is_made_of_words:
                    found.add(name_key(span.surface))
    return found


def _places(chunk: ChunkAnalysis) -> Iterator[tuple[str, str]]:
    for found in TOWN.finditer(chunk.text):
        yield found.group(1), "PLACE"
    listed = [found.group(1) for found in PLACE_LISTS.finditer(chunk.text)]
    for found in OF_PLACES.finditer(chunk.text):
        start, end = chunk.sentences.at(found.start())
        if found.group(1) is None or TRAVELS.search(chunk.text, start, end):
            listed.append(found.group(1) or found.group(2) or found.group(3))
    looks = {span.surface for span in chunk.spans if span.entity_type in LOOKS}
    for names in listed:
        yield from ((name, "PLACE") for name in NAMES_JOINED.split(names) if name in looks)


def beside(text: str, span: Span) -> Iterator[tuple[str, str]]:
    """Yields what the words after the name say that it is, and who leads or belongs to it."""
    apposed = APPOSED.match(text, span.end, span.end + LONGEST_APPOSITION)
    # "In Dublin, a service …" and "With Anna, a service …" define nothing.
    may_be_defined = span.entity_type not in PLACES | {"PERSON"} or BEFORE_DEFINED.search(
        text, max(0, span.start - LONGEST_VERB), span.start
    )
    if apposed is not None and may_be_defined:
        yield span.surface, PARTS[apposed.group(1).casefold()]
    defined = IS_A.match(text, span.end, span.end + LONGEST_APPOSITION)
    if defined is not None and span.entity_type not in EVIDENT:
        yield span.surface, PARTS[defined.group(1).casefold()]
    if IS_LED.match(text, span.end) and span.entity_type in LOOKS:
        yield span.surface, "TEAM"
    before = max(0, span.start - LONGEST_VERB)
    if span.entity_type in LOOKS and (SELLS.match(text, span.end) or SOLD_BEFORE.search(text, before, span.start)):
        yield span.surface, "ORG"
    member = MEMBER.match(text, span.end)
    if member is not None and FULL_NAME.fullmatch(span.surface):
        yield span.surface, "PERSON"
        if member.group(1):
            yield member.group(1), "TEAM"
    if ADDRESSED.match(text, span.end) and FULL_NAME.fullmatch(span.surface):
        yield span.surface, "PERSON"
