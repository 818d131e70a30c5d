"""Finds relations that a text states: "X depends on A, B and C", "Y is used by X", "Owner: Z" under the heading of X.

The whole text between two names must match such a phrase, so a negation, a condition or another verb in between gives
no relation: precision before recall.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from knowledge_graph.extraction.records import Span
from knowledge_graph.extraction.table_headers import ROLES, TYPES

ADVERB = (
    r"(?:(?:also|now|currently|directly|mainly|still|then|always|heavily|only|internally|itself|jointly|both|each|all|"
    r"therefore|thus|regularly|constantly) )?"
)
NOUN = (
    r"(?: (?:service|module|team|system|component|library|package|database|project|application|app|server|layer|"
    r"class|crate))?"
)
DETERMINER = (
    r"(?:(?:the|a|an|its|our|their|both|der|die|das|den|dem) )?"
    r"(?:(?:library|package|service|module|database|team|project|class) )?"
)
IS = r"(?:is|are|was|were)"
PHRASES: tuple[tuple[str, bool, str], ...] = (
    (
        "DEPENDS_ON",
        False,
        r"(?:depends?|depended|relies|rely|relied) (?:up)?on|requires?|required|is dependent on|"
        r"is built (?:up)?on(?: top of)?",
    ),
    ("DEPENDS_ON", True, r"(?:required|needed) by"),
    ("USES", False, r"uses?|used|utili[sz]es?|makes? use of|is using|reads? from|writes? to"),
    ("USES", True, r"used by"),
    ("CALLS", False, r"calls?|called|invokes?|invoked|sends? requests to|talks? to"),
    ("CALLS", True, r"(?:called|invoked) by"),
    ("PART_OF", False, r"(?:is|are) (?:a )?(?:part|member|component|module|subsystem) of|belongs? to"),
    ("PART_OF", True, r"contains?|consists? of|comprises?|includes?"),
    ("OWNS", False, r"owns?|owned|is responsible for|are responsible for"),
    ("OWNS", True, r"owned by"),
    ("DEPENDS_ON", False, r"hängt (?:ab )?von|hängen von|(?:benötigt|benötigen|braucht|brauchen)"),
    ("USES", False, r"(?:be)?nutzt|(?:be)?nutzen|verwendet|verwenden"),
    ("CALLS", False, r"ruft|rufen"),
    ("READS", False, r"liest (?:[^\W\d_]{1,20} ){0,3}aus"),
    ("WRITES", False, r"schreibt (?:[^\W\d_]{1,20} ){0,3}(?:in|nach)"),
    ("PART_OF", False, r"ist (?:ein )?(?:Teil|Bestandteil) (?:von|des|der)"),
    ("OWNS", True, r"(?:gehört|gehören) (?:dem|zum) Team"),
    ("RUNS_ON", False, r"runs? on|(?:has|have) run on"),
    ("MAINTAINS", False, r"maintains?|maintained"),
    ("MAINTAINS", True, r"maintained by"),
    ("USES", True, r"wird von"),
    ("OWNS", False, r"(?:is|are) (?:the owners? of|accountable for|in charge of)|looks? after|takes? care of"),
    ("OWNS", True, r"is the responsibility of|are the responsibility of"),
    ("DEPENDS_ON", False, r"cannot (?:work|run|start|live) without|(?:does|do) not (?:work|run|start) without"),
)
WHAT = r"(?:(?!(?:no|nothing|none|neither|not|never|and|but) )[a-z][\w’'-]{0,20} ){0,5}"
"""The object read or sent: "its prices", "the state of each chest"."""
BETWEEN_PARTS: tuple[tuple[str, bool, str], ...] = (
    (
        "READS",
        False,
        rf"(?:reads?|fetch(?:es)?|gets?|takes?|loads?|pulls?|receives?|collects?|copies|copy|imports?|downloads?|"
        rf"retrieves?|obtains?|polls?|consumes?) {WHAT}from",
    ),
    ("READS", False, rf"looks? {WHAT}up in|subscribes? to|listens? (?:to|on)|consumes?"),
    (
        "WRITES",
        False,
        rf"(?:stores?|keeps?|saves?|persists?|caches|cache|archives?|holds?) {WHAT}in|(?:writes?|uploads?|exports?|"
        rf"appends?) {WHAT}(?:to|into)|(?:publish(?:es)?|announces?|emits?) {WHAT}(?:to|on)",
    ),
    (
        "CALLS",
        False,
        rf"(?:sends?|forwards?|delegates?|passes|hands?|routes?) {WHAT}(?:on )?to|asks?|queries|query|polls?|"
        rf"(?:authenticates?|verifies|verify|validates?|checks?) {WHAT}(?:with|against|via)|"
        rf"(?:signs?|logs?) (?:[a-z]{{1,20}} )?in (?:with|through|via)|connects? to|falls? back (?:to|on)",
    ),
)
"""Verbs that say how systems are built only if both ends are parts of systems: people also send and ask."""
"""A phrase that ends in "by" is passive. In the German passive, the verb follows the names."""
NOT = r"(?:(?:(?:do|does|did|will) not|(?:do|does|did)n[’']t|won[’']t|never|no longer) )?"
IS_NOT = r"(?:(?:not|never|no longer) )?"
PARTICIPLE = re.compile(
    r"`? (?:[a-zäöü]{1,12} ){0,3}(?:benutzt|genutzt|verwendet|gebraucht|benötigt|aufgerufen|gelesen)(?!\w)"
)


def _opening(verb: str) -> str:
    """Returns the pattern for what may precede the verb; its group `no` matches a negation."""
    return rf"{IS} (?P<no>{IS_NOT}){ADVERB}" if verb.endswith(" by") else rf"(?P<no>{NOT})(?:will )?{ADVERB}"


VERBS = tuple(
    (kind, passive, loose, re.compile(rf"`?{NOUN} {_opening(verb)}(?:{verb}) {DETERMINER}`?"))
    for loose, every in ((False, PHRASES), (True, BETWEEN_PARTS))
    for kind, passive, verb in every
)
FIELDS = {
    header: (role.relation_type, role.reverse)
    for header, role in ROLES.items()
    if role.relation_type and not role.of_consumer
}
"""The relation that a field of a section states, like a table column of that name."""
FIELD_NAMES = "|".join(name.replace(" ", "[ _-]") for name in sorted(FIELDS, key=lambda one: (-len(one), one)))
FIELD = re.compile(
    rf"(?:^[ \t]*(?:[-*•][ \t]*)?|(?<=\w\. )|(?<=\w : ))\**({FIELD_NAMES})\**[ \t]*:\**[ \t]*(?=\S)",
    re.IGNORECASE | re.MULTILINE,
)
"""A field on a line of its own, or in a sentence: "Fares that follow demand. Owner: Fares. Lead: Ioana Petrescu."."""
LISTED_BELOW = re.compile(rf"^[ \t]*\**({FIELD_NAMES})\**[ \t]*:\**[ \t]*\n(?:[ \t]*\n)?", re.IGNORECASE | re.MULTILINE)
"""A field whose values are listed below it."""
THING_NAMES = "|".join(
    sorted(name for name, role in ROLES.items() if role.can_be_thing and not role.relation_type and name in TYPES)
)
THING_FIELD = re.compile(
    rf"^[ \t]*(?:[-*•][ \t]*)?\**({THING_NAMES})\**[ \t]*:\**[ \t]*[`*_\[]{{0,3}}(?=[^\W_])",
    re.IGNORECASE | re.MULTILINE,
)
"""A field above the others that names what they are about: "Service: Parcel Tracker"."""
NEXT_VALUE = re.compile(
    r"[\s`*_\]]{0,60}+(?:\([^()]*\)[\s`*_]{0,60}+)?"
    r"(?:[,;/+&]|(?:and|und|sowie)(?!\w)|, (?:and|und)(?!\w))[\s`*_\[]*+(?:[Tt]he )?"
)
BEFORE_VALUE = re.compile(r"[\s`*_\[@]*+(?:(?:[Tt]he|[Tt]eam|das|den|der|die) )*+(?:[Tt]eam )?")
TERM = re.compile(r"(?<=\S) : {1,4}")
NAME_ALONE = re.compile(r"[ \t]*[-*•] \*\*([^*\n]{2,80})\*\*[ \t]*")
"""An item that is only a name in bold; the next item describes it."""
OWNING_FIELDS = "|".join(
    name.replace(" ", "[ _-]")
    for name, (relation_type, reverse) in sorted(FIELDS.items())
    if relation_type == "OWNS" and reverse
)
OWNER_VALUE = re.compile(
    rf"(?:^[ \t]*(?:[-*•][ \t]*)?|(?<=\w\. )|(?<=\w : ))\**(?P<field>(?i:{OWNING_FIELDS}))\**[ \t]*:\**[ \t]*"
    r"[`*_\[]{0,3}(?P<name>[A-ZÄÖÜ][\w&’'-]{1,40}+(?: [A-ZÄÖÜ][\w&’'-]{1,40}+){0,2})(?=[ \t]*(?:$|[.,;(]))",
    re.MULTILINE,
)
"""A field that names an owner and nothing else: "Owner: Water"."""
DEFINED = re.compile(r"^([^\W\d_][\w&’'-]{1,40}+(?: [\w&’'-]{1,40}+){0,3}) : {1,4}(?=\S)", re.MULTILINE)
"""A term of a definition list, up to its definition."""
ITEM = re.compile(r"[ \t]*(?:[-*•]|\d{1,3}[.)])[ \t]+[*_`\[]{0,3}(?:[Tt]he )?[*_`\[]{0,3}")
ITEM_NAME = re.compile(
    r"([A-Z][\w.&’'-]{1,60}+(?: [A-Z\d][\w.&’'-]{0,60}+){0,4})[*_`]{0,3}[ \t]*+(?:[(:,;–—]|- |$)", re.MULTILINE
)
TEAM = re.compile(r"(?<!\w)[Tt]he ([A-Z][\w-]{2,30}(?: [A-Z][\w-]{1,30})?)[ \n](?:team|squad|guild)(?!\w)")
GERMAN_TEAM = re.compile(
    r"(?<!\w)(?:[Dd]em|[Dd]as|[Vv]om|[Zz]um|[Bb]eim|[Ii]m) Team ([A-ZÄÖÜ][\w-]{2,30}(?: [A-ZÄÖÜ][\w-]{1,30})?)(?!\w)"
)
NEXT_IN_LIST = re.compile(r"`?,?(?: (?:and|as well as|und|sowie))?(?: on)? (?:the )?`?")
RESPECTIVELY = re.compile(r"`?,? respectively(?!\w)")
NEITHER = re.compile(r"(?<!\w)(?:neither|nor|weder|weder [^.]{1,60} noch) (?:(?:the|der|die|das) )?`?$", re.IGNORECASE)
"""Before a subject, negates the statement about it."""
NOT_LIKE = re.compile(r"(?<!\w)(?:unlike|instead of|rather than|anders als|statt) (?:the )?`?$", re.IGNORECASE)
LIKE = re.compile(r"`?, (?:just )?(?:like|(?:as|so) (?:do|does|did)) (?:the )?`?")
AS = re.compile(r"`?,? (?:just )?as (?:the )?`?")
DO = re.compile(r"`? (?:do|does|did)(?!\w)")
TERM_GAP = re.compile(r"^ : (\w)")
SAID_OF_IT = re.compile(r"^(?: ?: | \(| [–—-] )(?=(?:owned|used|called|needed|required|maintained) by )")
"""Between a name and a statement about it without a verb: "Order Inbox: owned by Orders"."""
LONGEST_GAP = 80
CERTAIN, LISTED = 0.9, 0.8


@dataclass(frozen=True)
class StatedRelation:
    """A relation; `subject` and `target` are indices in the list of spans, and a subject of -1 is the heading's entity.
    `denied`: the phrase says that it is not so, or no longer. `between_parts`: it counts only if both are parts of
    systems."""

    subject: int
    target: int
    relation_type: str
    confidence: float
    start: int
    end: int
    phrase: str
    denied: bool = False
    between_parts: bool = False


def statements(text: str, spans: Sequence[Span]) -> Iterator[StatedRelation]:
    """Yields the relations between names; `spans` are sorted and do not overlap."""
    for place in range(len(spans) - 1):
        gap = _gap(text, spans, place)
        found = _verb(gap)
        if found is None:
            continue
        kind, passive, denied, between_parts = found
        phrase = gap.strip("` ")
        lefts, rights = sorted(_list_before(text, spans, place)), _list_after(text, spans, place + 1)
        if phrase.startswith("wird ") and PARTICIPLE.match(text, spans[rights[-1]].end) is None:
            continue
        if not passive and not denied:
            lefts += _likewise(text, spans, place, rights[-1])
        denied = denied or any(_is_none(text, spans[left]) for left in lefts)
        for number, left in enumerate(lefts):
            for right in [rights[number]] if _in_turn(text, spans, lefts, rights) else rights:
                subject, target = (right, left) if passive else (left, right)
                confidence = CERTAIN if (left, right) == (place, place + 1) else LISTED
                yield StatedRelation(
                    subject,
                    target,
                    kind,
                    confidence,
                    min(spans[left].start, spans[right].start),
                    max(spans[left].end, spans[right].end),
                    phrase,
                    denied,
                    between_parts,
                )


def field_statements(text: str, spans: Sequence[Span]) -> Iterator[tuple[StatedRelation, bool]]:
    """Yields relations from lines such as `depends_on: A, B`, about the heading's entity or the term that the line
    defines; True if that one is the target. A value is a list of names, each optionally with a remark in parentheses.
    """
    for match in FIELD.finditer(text):
        ends = [end for sign in ("\n", ". ") if (end := text.find(sign, match.end())) >= 0]
        line_end = min(ends, default=len(text))
        kind, passive = FIELDS[_field(match)]
        term = _term(text, spans, match.start(1))
        for place in _values(text, spans, match.end(), line_end):
            one = StatedRelation(term, place, kind, LISTED, match.start(1), spans[place].end, match.group(1))
            yield one, passive


def _field(match: re.Match[str]) -> str:
    return " ".join(re.sub(r"[_-]", " ", match.group(1)).casefold().split())


def _values(text: str, spans: Sequence[Span], start: int, end: int) -> Iterator[int]:
    """Yields the indices in `spans` of the names that the value lists; stops at anything that is not a name."""
    before, pattern = start, BEFORE_VALUE
    for place, span in enumerate(spans):
        if span.start < before or span.end > end:
            continue
        if pattern.fullmatch(text, before, span.start) is None:
            if text.count("(", before, span.start) > text.count(")", before, span.start):
                continue  # a remark
            return
        yield place
        before, pattern = span.end, NEXT_VALUE


def _term(text: str, spans: Sequence[Span], place: int) -> int:
    """Returns the index in `spans` of the term that the line defines; -1 for the heading's entity."""
    start = text.rfind("\n", 0, place) + 1
    found = TERM.search(text, start, place + 1)
    if found is None:
        above = _item_above(text, spans, start)
        return above if above >= 0 else _thing_above(text, spans, start)
    return next((at for at, span in enumerate(spans) if start <= span.start and span.end == found.start()), -1)


def _item_above(text: str, spans: Sequence[Span], start: int) -> int:
    """Returns the index in `spans` of the name that is the whole item above the one at `start`, or -1."""
    end = max(0, start - 1)
    above = NAME_ALONE.fullmatch(text, text.rfind("\n", 0, end) + 1, end)
    if above is None or ITEM.match(text, start) is None:
        return -1
    return next((at for at, span in enumerate(spans) if (span.start, span.end) == above.span(1)), -1)


def things(text: str) -> Iterator[tuple[int, str]]:
    """Yields where a field says what the fields below are about, and its type: "Service: Parcel Tracker"."""
    for found in THING_FIELD.finditer(text):
        yield found.end(), TYPES[found.group(1).casefold()]


def _thing_above(text: str, spans: Sequence[Span], start: int) -> int:
    """Returns the index in `spans` of the name in such a field in the lines directly above `start`, or -1."""
    block = text.rfind("\n\n", 0, start) + 1
    places = [at for at, _ in things(text) if block <= at < start]
    return next((at for at, span in enumerate(spans) if places and span.start == places[-1]), -1)


def list_statements(text: str, spans: Sequence[Span]) -> Iterator[tuple[StatedRelation, bool]]:
    """Yields field statements from a field such as `Depends on:` above a list whose items begin with names."""
    places = {span.start: place for place, span in enumerate(spans)}
    for match, item in _items(text):
        kind, passive = FIELDS[_field(match)]
        place = places.get(item.end())
        if place is not None:
            yield StatedRelation(-1, place, kind, LISTED, item.start(), spans[place].end, match.group(1)), passive


def listed_names(text: str) -> Iterator[Span]:
    """Yields the names that begin such items, including ordinary words: "- Gangway (boarding)"."""
    for _, item in _items(text):
        name = ITEM_NAME.match(text, item.end())
        if name is not None:
            yield Span(*name.span(1), name.group(1), "ENTITY")


def terms(text: str) -> Iterator[Span]:
    """Yields the terms of a definition list: "Heron : Owns the Order Service"."""
    for found in DEFINED.finditer(text):
        yield Span(*found.span(1), found.group(1), "ENTITY")


def teams(text: str) -> Iterator[Span]:
    """Yields what the text calls a team, including ordinary words: "the Messaging team"."""
    for pattern in (TEAM, GERMAN_TEAM):
        for found in pattern.finditer(text):
            yield Span(*found.span(1), found.group(1), "TEAM")


def owners(text: str) -> Iterator[Span]:
    """Yields the owners in a field of owners, including ordinary words: "Owner: Water"."""
    for found in OWNER_VALUE.finditer(text):
        yield Span(*found.span("name"), found["name"], TYPES.get(found["field"].casefold(), "ENTITY"))


def _items(text: str) -> Iterator[tuple[re.Match[str], re.Match[str]]]:
    """Yields each field with the beginning of each item in the list below it."""
    for match in LISTED_BELOW.finditer(text):
        start = match.end()
        while item := ITEM.match(text, start):
            yield match, item
            start = (text.find("\n", item.end()) + 1) or len(text)


def _verb(gap: str) -> tuple[str, bool, bool, bool] | None:
    """Returns the type, and whether the target comes first, it is denied, and both must be parts of systems."""
    for kind, passive, between_parts, pattern in VERBS:
        found = pattern.fullmatch(gap)
        if found is not None:
            return kind, passive, bool(found.group("no")), between_parts
    return None


def _gap(text: str, spans: Sequence[Span], place: int) -> str:
    between = text[spans[place].end : spans[place + 1].start]
    # A blank line ends a sentence; a single line break is only wrapping.
    if len(between) > LONGEST_GAP or "\n\n" in between:
        return ""
    gap = " ".join(f"<{between}>".split())[1:-1].replace("**", "")
    gap = SAID_OF_IT.sub(" is ", gap)
    return TERM_GAP.sub(lambda found: f" {found.group(1).lower()}", gap)


def _list_after(text: str, spans: Sequence[Span], place: int) -> list[int]:
    found = [place]
    while place + 1 < len(spans) and _continues(_gap(text, spans, place)):
        place += 1
        if place + 1 < len(spans) and _verb(_gap(text, spans, place)):
            break  # "A uses B, and C uses D": C opens the next statement
        found.append(place)
    return found


def _is_none(text: str, subject: Span) -> bool:
    """Returns whether the subject is negated: "Neither A nor B uses C"."""
    return NEITHER.search(text, max(0, subject.start - LONGEST_GAP), subject.start) is not None


def _in_turn(text: str, spans: Sequence[Span], lefts: Sequence[int], rights: Sequence[int]) -> bool:
    """Returns whether the names pair up in order: "A and B use C and D respectively"."""
    return len(lefts) == len(rights) > 1 and RESPECTIVELY.match(text, spans[rights[-1]].end) is not None


def _likewise(text: str, spans: Sequence[Span], subject: int, last: int) -> list[int]:
    """Returns the names of which the same is said after the statement: "A uses B, as C and D do", "…, like C"."""
    gap = _gap(text, spans, last) if last + 1 < len(spans) else ""
    is_like = LIKE.fullmatch(gap) is not None
    if not is_like and AS.fullmatch(gap) is None:
        return []
    found = _list_after(text, spans, last + 1)
    if not is_like and DO.match(text, spans[found[-1]].end) is None:
        return []
    return [one for one in found if spans[one].entity_type == spans[subject].entity_type]


def _list_before(text: str, spans: Sequence[Span], place: int) -> list[int]:
    found = [place]
    while place > 0 and _continues(_gap(text, spans, place - 1)):
        if place > 1 and _verb(_gap(text, spans, place - 2)):
            break  # in "A uses B, and C uses D", B is not a subject
        place -= 1
        if NOT_LIKE.search(text[max(0, spans[place].start - LONGEST_GAP) : spans[place].start]):
            break
        found.append(place)
    return found


def _continues(gap: str) -> bool:
    return bool(gap.strip("` ")) and NEXT_IN_LIST.fullmatch(gap) is not None
