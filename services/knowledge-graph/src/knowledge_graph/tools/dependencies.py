"""Analyses what an entity depends on, what depends on it, and how critical that makes it."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from contracts.graph_tools import (
    AnalyzeDependencies,
    Criticality,
    CriticalityLevel,
    Dependency,
    DependencyAnalysis,
)
from knowledge_graph.extraction.relation_types import with_below
from knowledge_graph.graph_store import Dependent, GraphStore
from knowledge_graph.tools.naming import meant

MOST_CYCLES = 10
SHOWN_NAMES = 3
# Level, dependents needed; or their share of all related entities, and the dependents needed then. The first match
# counts.
LEVELS = (
    (CriticalityLevel.critical, 20, 0.5, 5),
    (CriticalityLevel.high, 10, 0.34, 4),
    (CriticalityLevel.medium, 4, 0.2, 3),
    (CriticalityLevel.low, 1, 0.0, 1),
)


async def analyze_dependencies(
    store: GraphStore, workspace_id: UUID, request: AnalyzeDependencies
) -> DependencyAnalysis:
    """Analyses the dependencies. Raises NoToolResult if the entity is unknown."""
    found = await meant(store, workspace_id, request.entity)
    types = with_below(request.relation_types)
    # One more than is shown, to know whether there are more.
    reach = (types, request.depth, request.limit + 1)
    out = await store.closure(workspace_id, found.id, "out", *reach)
    into = await store.closure(workspace_id, found.id, "in", *reach)
    cycles = await store.cycles(workspace_id, found.id, types, MOST_CYCLES)
    names = {one.id: one.name for one in (*out, *into)} | {found.id: found.stored.name}
    missing = sorted({entity for cycle in cycles for entity in cycle} - names.keys())
    names |= {one.id: one.name for one in await store.entities(workspace_id, missing)} if missing else {}
    depended_by = into[: request.limit]
    return DependencyAnalysis(
        entity=found.entity,
        alternatives=found.alternatives,
        relation_types=types,
        depends_on=_shown(out[: request.limit], names, found.id),
        depended_by=_shown(depended_by, names, found.id),
        cycles=[[names.get(entity, entity) for entity in cycle] for cycle in cycles],
        criticality=criticality(found.stored.name, depended_by, len(out[: request.limit]), len(cycles)),
        truncated=max(len(out), len(into)) > request.limit
        or any(one.depth == request.depth > 1 for one in (*out, *into)),
    )


def criticality(name: str, dependents: Sequence[Dependent], dependencies: int, cycles: int) -> Criticality:
    """Rates an entity by the number of its direct and indirect dependents, and by their share of all related entities.

    A cycle raises an entity with dependents by one level, because nothing in the cycle can change alone.
    """
    direct = [one for one in dependents if one.depth == 1]
    every = len(dependents)
    share = every / max(1, every + dependencies)
    level = next(
        (level for level, many, part, least in LEVELS if every >= many or (every >= least and share >= part)),
        CriticalityLevel.none,
    )
    levels = list(CriticalityLevel)
    if cycles and every:
        level = levels[min(levels.index(level) + 1, len(levels) - 1)]
    return Criticality(
        level=level,
        reason=_reason(name, direct, every, dependencies, cycles),
        dependents=len(direct),
        all_dependents=every,
        share=round(share, 3),
    )


def _reason(name: str, direct: Sequence[Dependent], every: int, dependencies: int, cycles: int) -> str:
    if not every:
        more = f", while it depends on {_counted(dependencies)}" if dependencies else ""
        return f"nothing is known to depend on {name}{more}"
    listed = ", ".join(one.name for one in direct[:SHOWN_NAMES]) + (", …" if len(direct) > SHOWN_NAMES else "")
    verb = "depends" if len(direct) == 1 else "depend"
    parts = [f"{_counted(len(direct))} {verb} on {name} directly ({listed})"]
    if every > len(direct):
        parts.append(f"{every - len(direct)} more indirectly")
    parts.append(f"it depends on {_counted(dependencies)}" if dependencies else "it depends on nothing itself")
    if cycles:
        parts.append(f"it is part of {cycles} dependency cycle{'s' if cycles > 1 else ''}")
    return "; ".join(parts)


def _counted(number: int) -> str:
    return "1 entity" if number == 1 else f"{number} entities"


def _shown(found: Sequence[Dependent], names: dict[str, str], origin: str) -> list[Dependency]:
    return [
        Dependency(
            id=one.id,
            name=one.name,
            depth=one.depth,
            via=None if one.depth == 1 or one.via == origin else names.get(one.via, one.via),
        )
        for one in found
    ]
