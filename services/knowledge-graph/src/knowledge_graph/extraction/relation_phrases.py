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
    r"(?:(?:the|a|an|its|our|their|both) )?(?:(?:library|package|service|module|database|team|project|class) )?"
)
IS = r"(?:is|are|was|were)"
PHRASES: tuple[tuple[str, bool, str], ...] = (
    (
        "DEPENDS_ON",
        False,
        r"(?:depends?|depended|relies|rely|relied) (?:up)?on|requires?|required|is dependent on|"
        r"is built (?:up)?on(?: top of)?",
    ),
    ("DEPENDS_ON", True, rf"{IS} {ADVERB}(?:required|needed) by"),
    ("USES", False, r"uses?|used|utili[sz]es?|makes? use of|is using|reads? from|writes? to"),
    ("USES", True, rf"{IS} {ADVERB}used by"),
    ("CALLS", False, r"calls?|called|invokes?|invoked|sends? requests to|talks? to"),
    ("CALLS", True, rf"{IS} {ADVERB}(?:called|invoked) by"),
    ("PART_OF", False, r"(?:is|are) (?:a )?(?:part|member|component|module|subsystem) of|belongs? to"),
    ("PART_OF", True, r"contains?|consists? of|comprises?|includes?"),
    ("OWNS", False, r"owns?|owned|is responsible for|are responsible for"),
    ("OWNS", True, rf"{IS} {ADVERB}owned by"),
    ("MAINTAINS", False, r"maintains?|maintained"),
    ("MAINTAINS", True, rf"{IS} {ADVERB}maintained by"),
)
VERBS = tuple(
    (kind, passive, re.compile(rf"`?{NOUN} {ADVERB}(?:{verb}) {DETERMINER}`?")) for kind, passive, verb in PHRASES
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
    rf"^[ \t]*(?:[-*•][ \t]*)?\**({'|'.join(name.replace(' ', '[ _-]') for name in FIELDS)})\**[ \t]*:\**[ \t]*(?=\S)",
    re.IGNORECASE | re.MULTILINE,
)
NEXT_IN_LIST = re.compile(r"`?,?(?: (?:and|as well as))?(?: on)? (?:the )?`?")
LONGEST_GAP = 80
CERTAIN, LISTED = 0.9, 0.8


@dataclass(frozen=True)
class StatedRelation:
    """`subject` and `target` are places in the list of spans; a subject of -1 is the heading's entity."""

    subject: int
    target: int
    relation_type: str
    confidence: float
    start: int
    end: int
    phrase: str


def statements(text: str, spans: Sequence[Span]) -> Iterator[StatedRelation]:
    """`spans` are sorted and do not overlap."""
    for place in range(len(spans) - 1):
        gap = _gap(text, spans, place)
        found = _verb(gap)
        if found is None:
            continue
        kind, passive = found
        phrase = gap.strip("` ")
        for left in _list_before(text, spans, place):
            for right in _list_after(text, spans, place + 1):
                subject, target = (right, left) if passive else (left, right)
                confidence = CERTAIN if (left, right) == (place, place + 1) else LISTED
                yield StatedRelation(subject, target, kind, confidence, spans[left].start, spans[right].end, phrase)


def field_statements(text: str, spans: Sequence[Span]) -> Iterator[tuple[StatedRelation, bool]]:
    """Lines such as `depends_on: A, B`, about the heading's entity; True where that one is the target."""
    for match in FIELD.finditer(text):
        line_end = text.find("\n", match.end())
        line_end = len(text) if line_end < 0 else line_end
        kind, passive = FIELDS[re.sub(r"[_-]", " ", match.group(1)).lower()]
        for place, span in enumerate(spans):
            if match.end() <= span.start and span.end <= line_end:
                yield StatedRelation(-1, place, kind, LISTED, match.start(1), span.end, match.group(1)), passive


def _verb(gap: str) -> tuple[str, bool] | None:
    return next(((kind, passive) for kind, passive, pattern in VERBS if pattern.fullmatch(gap)), None)


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


def _list_before(text: str, spans: Sequence[Span], place: int) -> list[int]:
    found = [place]
    while place > 0 and _continues(_gap(text, spans, place - 1)):
        if place > 1 and _verb(_gap(text, spans, place - 2)):
            break  # in "A uses B, and C uses D" B is no subject
        place -= 1
        found.append(place)
    return found


def _continues(gap: str) -> bool:
    return bool(gap.strip("` ")) and NEXT_IN_LIST.fullmatch(gap) is not None
