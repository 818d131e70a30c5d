"""Shortest paths: breadth first from both ends, always continuing from the end with fewer relations."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise
from uuid import UUID

from knowledge_graph.graph_store import GraphPath, StoredRelation
from knowledge_graph.searches.links import Steps

LONGEST, MOST_PATHS = 6, 5
MOST_LINKS = 100_000
"""Maximum relations that one step reads. Two hubs with more between them have no path, rather than a slow one."""
MOST_RELATIONS = 2_000

Parents = dict[str, list[str]]


@dataclass
class Side:
    """The entities reached from one end, each with its predecessors on the way; `frontier` is the last level."""

    frontier: list[str]
    parents: Parents = field(default_factory=dict)
    depth: int = 0


async def shortest_paths(
    store: Steps,
    workspace_id: UUID,
    source: str,
    target: str,
    max_length: int,
    limit: int,
    relation_types: Sequence[str] | None,
) -> list[GraphPath]:
    """Implements `GraphStore.shortest_paths`."""
    if len(await store.entities(workspace_id, sorted({source, target}))) < len({source, target}):
        return []
    if source == target:
        return [GraphPath([source], [])]
    near, far = Side([source], {source: []}), Side([target], {target: []})
    while near.depth + far.depth < min(max_length, LONGEST):
        side, other = await _cheaper(store, workspace_id, near, far)
        if side is None:
            return []
        links = await store.links(workspace_id, side.frontier, relation_types)
        found: defaultdict[str, list[str]] = defaultdict(list)
        for link in links:
            if link.other not in side.parents:
                found[link.other].append(link.origin)
        side.parents |= found
        side.frontier, side.depth = sorted(found), side.depth + 1
        if meeting := [one for one in side.frontier if one in other.parents]:
            ways = _walk(source, target, near.parents, far.parents, meeting)
            paths = list(islice(ways, min(limit, MOST_PATHS)))
            return await _with_relations(store, workspace_id, paths, relation_types)
        if not side.frontier:
            return []
    return []


async def _cheaper(store: Steps, workspace_id: UUID, near: Side, far: Side) -> tuple[Side | None, Side]:
    """Returns the side with fewer relations to visit, or None if it has too many, and the other side."""
    degrees = await store.degrees(workspace_id, sorted({*near.frontier, *far.frontier}))
    costs = [sum(sum(degrees.get(one, (0, 0))) for one in side.frontier) for side in (near, far)]
    side, other = (near, far) if costs[0] <= costs[1] else (far, near)
    return (side if min(costs) <= MOST_LINKS else None), other


def _walk(source: str, target: str, near: Parents, far: Parents, meeting: list[str]) -> Iterator[list[str]]:
    """Yields the paths as lists of ids. Every entity in `onward` leads to the target."""
    onward: defaultdict[str, set[str]] = defaultdict(set)
    frontier = set(meeting)
    while frontier:
        for one in frontier:
            for parent in near[one]:
                onward[parent].add(one)
        frontier = {parent for one in frontier for parent in near[one]}
    frontier = set(meeting)
    while frontier:
        for one in frontier:
            onward[one] |= set(far[one])
        frontier = {parent for one in frontier for parent in far[one]}

    def follow(path: list[str]) -> Iterator[list[str]]:
        if path[-1] == target:
            yield path
            return
        for one in sorted(onward[path[-1]]):
            yield from follow([*path, one])

    return follow([source])


async def _with_relations(
    store: Steps, workspace_id: UUID, paths: list[list[str]], relation_types: Sequence[str] | None
) -> list[GraphPath]:
    ids = sorted({one for path in paths for one in path})
    strongest: dict[frozenset[str], StoredRelation] = {}
    for relation in await store.relations_among(workspace_id, ids, relation_types, MOST_RELATIONS):
        strongest.setdefault(frozenset((relation.source_id, relation.target_id)), relation)
    steps = [[strongest.get(frozenset(pair)) for pair in pairwise(path)] for path in paths]
    return [
        GraphPath(path, [one for one in step if one is not None])
        for path, step in zip(paths, steps, strict=True)
        # A relation may have been deleted between two of the queries.
        if all(step)
    ]
