"""Types that names have by what is well known, by their shape, or by what stands beside them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from knowledge_graph.extraction.chunk_analysis import ChunkAnalysis
from knowledge_graph.extraction.full_names import EVIDENT
from knowledge_graph.extraction.names import PARTS
from knowledge_graph.extraction.records import Span
from knowledge_graph.extraction.word_lists import equations, words

TECHNOLOGIES = frozenset(name for names, _ in equations("technologies", ",") for name in names)
PLACE_HEADS = words("place_heads")
PLACES = frozenset({"GPE", "LOC", "FAC"})
KIND = "|".join(sorted((re.escape(kind) for kind in PARTS), key=len, reverse=True))
APPOSED = re.compile(
    rf"[`*_]{{0,3}}(?:,| \(| [–—-]) ?(?:an?|the|our|der|die|das|ein|eine) (?:[\w-]{{1,30}} ){{0,2}}({KIND})"
    r"(?=\s{0,3}[,.);:]|$)",
    re.IGNORECASE | re.MULTILINE,
)
"""Between commas or in parentheses: "Logbook, the archive bucket", "chat-archive (an S3 bucket)"."""
TOWN = re.compile(rf"(?:{'|'.join(sorted(PLACE_HEADS))}) in ([A-ZÄÖÜ][\w-]{{2,40}}(?: [A-ZÄÖÜ][\w-]{{1,40}})?)")
"""What stands behind an address: "Falk Quay in Port Callan"."""
ADDRESSED = re.compile(r"\s{0,3}[<(][\w.+-]{1,64}@")
FULL_NAME = re.compile(r"[A-ZÄÖÜ][\w’'-]{1,30}+(?: [A-ZÄÖÜ][\w.’'-]{0,30}+){1,3}")
LONGEST_APPOSITION = 100


def evident_types(chunks: Sequence[ChunkAnalysis], *, names_systems: bool) -> Iterator[tuple[str, str]]:
    """Yields names with the types that they have wherever they stand so; `names_systems`: the document states that
    something is a part of a system."""
    spans = [span for chunk in chunks for span in chunk.spans]
    software = {span.surface for span in spans if span.surface in TECHNOLOGIES}
    # Where nothing else is technical, Kafka is the writer, and Franz Kafka is never a broker.
    is_technical = names_systems or len(software) > 1 or any(span.entity_type in EVIDENT for span in spans)
    people = {span.surface.rpartition(" ")[2] for span in spans if " " in span.surface and span.entity_type == "PERSON"}
    for surface in sorted(software - people) if is_technical else ():
        yield surface, "LIBRARY"
    for span in spans:
        if span.surface.rpartition(" ")[2] in PLACE_HEADS and span.surface.count(" ") in {1, 2}:
            yield span.surface, "FAC"
    for chunk in chunks:
        for found in TOWN.finditer(chunk.text):
            yield found.group(1), "GPE"
        for span in chunk.spans:
            yield from _beside(chunk.text, span)


def _beside(text: str, span: Span) -> Iterator[tuple[str, str]]:
    apposed = APPOSED.match(text, span.end, span.end + LONGEST_APPOSITION)
    if apposed is not None and span.entity_type not in PLACES | {"PERSON"}:
        yield span.surface, PARTS[apposed.group(1).casefold()]
    if ADDRESSED.match(text, span.end) and FULL_NAME.fullmatch(span.surface):
        yield span.surface, "PERSON"
