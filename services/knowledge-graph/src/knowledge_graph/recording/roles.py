"""Types names that no document types, by what all documents together say of them: what a service calls is a service.

A type depends only on the neighbours' own types, never on one that was derived here: so the order of documents does not
matter, and a deletion undoes what the document gave.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from knowledge_graph.extraction.roles import OPEN_TYPES, End, most, type_by
from knowledge_graph.recording.changes import Pair
from service_kit.repository import Repository
from service_kit.statements import Statements


@dataclass(frozen=True)
class OwnType:
    id: str
    own_type: str


@dataclass(frozen=True)
class Typeable:
    """An entity that its neighbours may type."""

    id: str
    name: str
    own_type: str


@dataclass(frozen=True)
class StoredRole:
    """What `times` statements of one kind say of the entity `id`; `is_source`: it is their subject."""

    id: str
    is_source: bool
    other: str
    other_type: str
    relation_type: str
    phrase: str
    times: int

    def type_of(self, entity: Typeable) -> str | None:
        """Returns the type that the statements give the entity."""
        own, other = End(entity.name, entity.own_type), End(self.other, self.other_type)
        source, target = (own, other) if self.is_source else (other, own)
        of_source, entity_type = type_by(self.relation_type, self.phrase, source, target)
        return entity_type if of_source == self.is_source else None


class RoleSql(Statements, file="roles.sql"):
    own_types: str
    neighbours: str
    typeable: str
    roles: str
    type: str


class Roles(Repository):
    """The types of a workspace's entities by what is said about them."""

    async def own_types(self, ids: Sequence[str]) -> dict[str, str]:
        """Returns the types that the entities have by their mentions or a correction."""
        return {one.id: one.own_type for one in await self.all(RoleSql.own_types, OwnType, ids=list(ids))}

    async def follow(self, touched: Iterable[str], pairs: Iterable[Pair], retyped: Iterable[str]) -> list[str]:
        """Decides again the types of `touched` entities, those of `pairs`, and the neighbours of `retyped` ones.

        Returns the entities whose type changed.
        """
        ids = {*touched, *(end for pair in pairs for end in pair)}
        ids |= set(await self.values(RoleSql.neighbours, ids=sorted(retyped)))
        votes: dict[str, Counter[str]] = defaultdict(Counter)
        types_to_decide = sorted(OPEN_TYPES | {"ORG", "PERSON"})
        typeable = await self.all(RoleSql.typeable, Typeable, ids=sorted(ids), open=types_to_decide)
        entities = {one.id: one for one in typeable}
        for role in await self.all(RoleSql.roles, StoredRole, ids=list(entities)):
            if (entity_type := role.type_of(entities[role.id])) is not None:
                votes[role.id][entity_type] += role.times
        types = {one: most(votes[one]) if votes.get(one) else None for one in sorted(ids)}
        return await self.values(RoleSql.type, ids=list(types), types=list(types.values()))
