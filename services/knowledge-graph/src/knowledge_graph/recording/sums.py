"""Brings `surface`, `entity` and `relation` up to date with what changed.

Sums are adjusted by differences where only one document changed, and recomputed where other documents changed with it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from knowledge_graph.extraction.full_names import BEINGS, EVIDENT, UNTYPED
from knowledge_graph.recording.changes import Changes, Pair
from knowledge_graph.recording.names import RelatedPair
from knowledge_graph.recording.roles import Roles
from service_kit.repository import Repository
from service_kit.statements import Statements


@dataclass(frozen=True)
class ChangedPair:
    """The change in the number of relations between two entities."""

    source_id: str
    target_id: str
    change: int


class SumSql(Statements, file="sums.sql"):
    add_relations: str
    drop_relations: str
    sum_relations: str
    add_surfaces: str
    sum_surfaces: str
    delete_surfaces: str
    delete_unused_surfaces: str
    delete_entities: str
    sum_entities: str
    add_degrees: str
    count_degrees: str
    wrong_entities: str
    wrong_relations: str
    wrong_degrees: str


class Sums(Repository):
    """The sums over a workspace's mentions and evidence."""

    async def follow(self, changes: Changes) -> None:
        """Applies the changes, and records in them how much was deleted."""
        degrees = await self._sum_relations(changes)
        await self._sum_surfaces(changes)
        await self._type_entities(changes)
        changes.removed_relations = -sum(min(0, one.change) for one in degrees)
        outgoing: Counter[str] = Counter()
        incoming: Counter[str] = Counter()
        for one in degrees:
            outgoing[one.source_id] += one.change
            incoming[one.target_id] += one.change
        ids = sorted(one for one in outgoing.keys() | incoming.keys() if outgoing[one] or incoming[one])
        await self.run(
            SumSql.add_degrees,
            ids=ids,
            outgoing=[outgoing[one] for one in ids],
            incoming=[incoming[one] for one in ids],
        )
        # The degree is part of what is projected.
        changes.recounted |= set(ids)

    async def count_degrees(self, ids: Sequence[str]) -> None:
        await self.run(SumSql.count_degrees, ids=list(ids))

    async def wrong_entities(self) -> list[str]:
        return await self.values(SumSql.wrong_entities)

    async def wrong_pairs(self) -> list[Pair]:
        return [(one.source_id, one.target_id) for one in await self.all(SumSql.wrong_relations, RelatedPair)]

    async def wrong_degrees(self) -> list[str]:
        return await self.values(SumSql.wrong_degrees)

    async def _sum_relations(self, changes: Changes) -> list[ChangedPair]:
        added = {
            key: change
            for key, change in sorted(changes.evidence.items())
            if any(change) and key[:2] not in changes.resummed
        }
        ends = {"source_ids": [source for source, _, _ in added], "target_ids": [target for _, target, _ in added]}
        found = await self.all(
            SumSql.add_relations,
            ChangedPair,
            **ends,
            types=[relation_type for _, _, relation_type in added],
            weights=[weight for weight, _ in added.values()],
            evidences=[evidence for _, evidence in added.values()],
        )
        found += await self.all(SumSql.drop_relations, ChangedPair, **ends, all=False)
        if changes.resummed:
            resummed = sorted(changes.resummed)
            ends = {"source_ids": [source for source, _ in resummed], "target_ids": [target for _, target in resummed]}
            found += await self.all(SumSql.drop_relations, ChangedPair, **ends, all=True)
            found += await self.all(SumSql.sum_relations, ChangedPair, **ends)
        return found

    async def _sum_surfaces(self, changes: Changes) -> None:
        if changes.recounted:
            recounted = sorted(changes.recounted)
            await self.run(SumSql.delete_surfaces, ids=recounted)
            await self.run(SumSql.sum_surfaces, ids=recounted)
        added = {
            key: one for key, one in sorted(changes.uses.items()) if any(one[1:]) and key[0] not in changes.recounted
        }
        await self.run(
            SumSql.add_surfaces,
            entity_ids=[entity for entity, _, _ in added],
            surfaces=[surface for _, surface, _ in added],
            types=[entity_type for _, _, entity_type in added],
            surface_keys=[surface_key for surface_key, _, _ in added.values()],
            uses=[uses for _, uses, _ in added.values()],
            stated=[stated for _, _, stated in added.values()],
        )
        await self.run(SumSql.delete_unused_surfaces, ids=sorted({entity for entity, _, _ in added}))

    async def _type_entities(self, changes: Changes) -> None:
        """Sums the entities, then types those about which other documents say more."""
        roles, touched = Roles(self.connection, self.workspace_id), sorted(changes.entities)
        before = await roles.own_types(touched)
        await self._sum_entities(changes)
        after = await roles.own_types(touched)
        retyped = [one for one in touched if before.get(one) != after.get(one)]
        changes.recounted |= set(await roles.follow(touched, changes.stated | changes.resummed, retyped))

    async def _sum_entities(self, changes: Changes) -> None:
        ids = sorted(changes.entities)
        changes.removed_entities = await self.run(SumSql.delete_entities, ids=ids)
        await self.run(
            SumSql.sum_entities,
            ids=ids,
            evident=sorted(EVIDENT),
            untyped=sorted(UNTYPED),
            beings=sorted(BEINGS),
            documents=changes.documents(ids),
            recounted=[one in changes.recounted for one in ids],
            recounted_ids=sorted(changes.recounted),
        )
