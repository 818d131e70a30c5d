"""Paths through the graph: found from the reached entities, drawn with an arrow per step. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from knowledge_graph.graph_store import Dependent
from knowledge_graph.tools.structure.sources import StatingPlaces
from knowledge_graph.tools.structure.wording import plain


def way_between(first: str, last: str, reached: Sequence[Dependent]) -> list[str]:
    """Returns the ids from first to last; an empty list if the last was not reached."""
    via = {one.id: one.via for one in reached}
    way = [last]
    while way[-1] in via:
        way.append(via[way[-1]])
    return way[::-1] if way[-1] == first and len(way) > 1 else []


def drawn(way: Sequence[str], names: dict[str, str], sources: StatingPlaces) -> str:
    parts = [plain(names.get(way[0], way[0]))]
    for first, last in pairwise(way):
        arrow = "→" if (first, last) in sources.stated or (last, first) not in sources.stated else "←"
        number = sources.number((first, last)) or sources.number((last, first))
        parts += [arrow, plain(names.get(last, last)) + (f" [{number}]" if number else "")]
    return " ".join(parts)
