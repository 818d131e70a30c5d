"""Relations that a text states: "X depends on A, B and C", "Y is used by X", "Owner: Z" under the heading of X.

What stands between two names must be such a phrase from end to end, so a negation, a condition or another verb in
between gives no relation: precision before recall.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from knowledge_graph.extraction.records import Span

ADVERB = r"(?:(?:also|now|currently|directly|mainly|still|then|always|heavily|only|internally|itself|jointly) )?"
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
    ("RUNS_ON", False, r"runs? on|(?:has|have) run on"),
    ("MAINTAINS", False, r"maintains?|maintained"),
    ("MAINTAINS", True, r"maintained by"),
    ("USES", True, r"wird von"),
)
"""What ends in "by" is passive; the German passive has its verb behind the names."""
NOT = r"(?:(?:(?:do|does|did|will) not|(?:do|does|did)n[’']t|won[’']t|never|no longer) )?"
IS_NOT = r"(?:(?:not|never|no longer) )?"
PARTICIPLE = re.compile(
    r"`? (?:[a-zäöü]{1,12} ){0,3}(?:benutzt|genutzt|verwendet|gebraucht|benötigt|aufgerufen|gelesen)(?!\w)"
)


def _opening(verb: str) -> str:
    """Returns what stands before the verb; its group `no` holds what denies it."""
    return rf"{IS} (?P<no>{IS_NOT}){ADVERB}" if verb.endswith(" by") else rf"(?P<no>{NOT})(?:will )?{ADVERB}"


VERBS = tuple(
    (kind, passive, re.compile(rf"`?{NOUN} {_opening(verb)}(?:{verb}) {DETERMINER}`?"))
    for kind, passive, verb in PHRASES
)
FIELDS = {
    "depends on": ("DEPENDS_ON", False),
    "dependencies": ("DEPENDS_ON", False),
    "requires": ("DEPENDS_ON", False),
    "uses": ("USES", False),
    "used by": ("USES", True),
    "calls": ("CALLS", False),
    "called by": ("CALLS", True),
    "part of": ("PART_OF", False),
    "owned by": ("OWNS", True),
    "owner": ("OWNS", True),
    "maintained by": ("MAINTAINS", True),
    "maintainer": ("MAINTAINS", True),
}
FIELD = re.compile(
    rf"(?:^[ \t]*(?:[-*•][ \t]*)?|(?<=\w\. ))"
    rf"\**({'|'.join(name.replace(' ', '[ _-]') for name in FIELDS)})\**[ \t]*:\**[ \t]*(?=\S)",
    re.IGNORECASE | re.MULTILINE,
)
"""A field of its own line, or a sentence: "Fares that follow demand. Owner: Fares. Lead: Ioana Petrescu."."""
LISTED_BELOW = re.compile(
    rf"^[ \t]*\**({'|'.join(name.replace(' ', '[ _-]') for name in FIELDS)})\**[ \t]*:\**[ \t]*\n(?:[ \t]*\n)?",
    re.IGNORECASE | re.MULTILINE,
)
"""A field whose values stand in a list below it."""
ITEM = re.compile(r"[ \t]*(?:[-*•]|\d{1,3}[.)])[ \t]+[*_`\[]{0,3}(?:[Tt]he )?[*_`\[]{0,3}")
ITEM_NAME = re.compile(
    r"([A-Z][\w.&’'-]{1,60}+(?: [A-Z\d][\w.&’'-]{0,60}+){0,4})[*_`]{0,3}[ \t]*+(?:[(:,;–—]|- |$)", re.MULTILINE
)
TEAM = re.compile(r"(?<!\w)[Tt]he ([A-Z][\w-]{2,30}(?: [A-Z][\w-]{1,30})?)[ \n](?:team|squad|guild)(?!\w)")
NEXT_IN_LIST = re.compile(r"`?,?(?: (?:and|as well as|und|sowie))?(?: on)? (?:the )?`?")
RESPECTIVELY = re.compile(r"`?,? respectively(?!\w)")
NOT_LIKE = re.compile(r"(?<!\w)(?:unlike|instead of|rather than|anders als|statt) (?:the )?`?$", re.IGNORECASE)
LIKE = re.compile(r"`?, (?:just )?(?:like|(?:as|so) (?:do|does|did)) (?:the )?`?")
AS = re.compile(r"`?,? (?:just )?as (?:the )?`?")
DO = re.compile(r"`? (?:do|does|did)(?!\w)")
LONGEST_GAP = 80
CERTAIN, LISTED = 0.9, 0.8


@dataclass(frozen=True)
class StatedRelation:
    """`subject` and `target` are places in the list of spans; a subject of -1 is the heading's entity. `denied`: the
    phrase between the two says that it is not so, or no longer."""

    subject: int
    target: int
    relation_type: str
    confidence: float
    start: int
    end: int
    phrase: str
    denied: bool = False


def statements(text: str, spans: Sequence[Span]) -> Iterator[StatedRelation]:
    """`spans` are sorted and do not overlap."""
    for place in range(len(spans) - 1):
        gap = _gap(text, spans, place)
        found = _verb(gap)
        if found is None:
            continue
        kind, passive, denied = found
        phrase = gap.strip("` ")
        lefts, rights = sorted(_list_before(text, spans, place)), _list_after(text, spans, place + 1)
        if phrase.startswith("wird ") and PARTICIPLE.match(text, spans[rights[-1]].end) is None:
            continue
        if not passive and not denied:
            lefts += _likewise(text, spans, place, rights[-1])
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
                )


def field_statements(text: str, spans: Sequence[Span]) -> Iterator[tuple[StatedRelation, bool]]:
    """Lines such as `depends_on: A, B`, about the heading's entity; True where that one is the target."""
    for match in FIELD.finditer(text):
        ends = [end for sign in ("\n", ". ") if (end := text.find(sign, match.end())) >= 0]
        line_end = min(ends, default=len(text))
        kind, passive = FIELDS[re.sub(r"[_-]", " ", match.group(1)).lower()]
        for place, span in enumerate(spans):
            if match.end() <= span.start and span.end <= line_end:
                yield StatedRelation(-1, place, kind, LISTED, match.start(1), span.end, match.group(1)), passive


def list_statements(text: str, spans: Sequence[Span]) -> Iterator[tuple[StatedRelation, bool]]:
    """A field such as `Depends on:` above a list, each item of which begins with a name; as `field_statements`."""
    places = {span.start: place for place, span in enumerate(spans)}
    for match, item in _items(text):
        kind, passive = FIELDS[re.sub(r"[_-]", " ", match.group(1)).lower()]
        place = places.get(item.end())
        if place is not None:
            yield StatedRelation(-1, place, kind, LISTED, item.start(), spans[place].end, match.group(1)), passive


def listed_names(text: str) -> Iterator[Span]:
    """Yields what such items begin with, whether or not it looks like a name elsewhere: "- Gangway (boarding)"."""
    for _, item in _items(text):
        name = ITEM_NAME.match(text, item.end())
        if name is not None:
            yield Span(*name.span(1), name.group(1), "ENTITY")


def teams(text: str) -> Iterator[Span]:
    """Yields what a text calls a team, whether or not it looks like a name elsewhere: "the Messaging team"."""
    for found in TEAM.finditer(text):
        yield Span(*found.span(1), found.group(1), "TEAM")


def _items(text: str) -> Iterator[tuple[re.Match[str], re.Match[str]]]:
    """Yields fields, each with the beginning of an item of the list below it."""
    for match in LISTED_BELOW.finditer(text):
        start = match.end()
        while item := ITEM.match(text, start):
            yield match, item
            start = (text.find("\n", item.end()) + 1) or len(text)


def _verb(gap: str) -> tuple[str, bool, bool] | None:
    """Returns type, whether the target comes first, and whether it is denied."""
    for kind, passive, pattern in VERBS:
        found = pattern.fullmatch(gap)
        if found is not None:
            return kind, passive, bool(found.group("no"))
    return None


def _gap(text: str, spans: Sequence[Span], place: int) -> str:
    between = text[spans[place].end : spans[place + 1].start]
    # A blank line ends a sentence; a single line break is only how the text was wrapped.
    return (
        ""
        if len(between) > LONGEST_GAP or "\n\n" in between
        else " ".join(f"<{between}>".split())[1:-1].replace("** ", " ")
    )


def _list_after(text: str, spans: Sequence[Span], place: int) -> list[int]:
    found = [place]
    while place + 1 < len(spans) and _continues(_gap(text, spans, place)):
        place += 1
        if place + 1 < len(spans) and _verb(_gap(text, spans, place)):
            break  # "A uses B, and C uses D": C opens the next statement
        found.append(place)
    return found


def _in_turn(text: str, spans: Sequence[Span], lefts: Sequence[int], rights: Sequence[int]) -> bool:
    """ "A and B use C and D respectively": the first the first, and so on."""
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
            break  # in "A uses B, and C uses D" B is no subject
        place -= 1
        if NOT_LIKE.search(text[max(0, spans[place].start - LONGEST_GAP) : spans[place].start]):
            break
        found.append(place)
    return found


def _continues(gap: str) -> bool:
    return bool(gap.strip("` ")) and NEXT_IN_LIST.fullmatch(gap) is not None
