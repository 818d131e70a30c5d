"""Stores what users correct: each correction is provenance of its own until it is undone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID, uuid4

from contracts.graph_corrections import CorrectionRequest
from knowledge_graph.corrections.graphing import NamedEnd, graphed
from knowledge_graph.errors import CorrectionNotFound, FactNotStated, NameNotKnown, NamesAreOne, NotMerged
from knowledge_graph.extraction.names import is_name
from knowledge_graph.extraction.relation_types import with_below
from knowledge_graph.projection.queue import queue
from knowledge_graph.recording.provenance import Graphed, GraphProvenance, MadeFrom
from knowledge_graph.recording.turns import writing
from knowledge_graph.store.postgres import PostgresStore
from knowledge_graph.tools.naming import MeantEntity, NoToolResult, meant
from service_kit.auth import Principal
from service_kit.postgres import Database
from service_kit.repository import Repository
from service_kit.statements import Statements

COLUMNS = "id, kind, entity, other, relation_type, entity_type, status, dated, reason, created_by, created_at"
EXACTLY = frozenset({"exact", "alias"})
LONGEST_TITLE = 200


@dataclass(frozen=True)
class StoredCorrection:
    id: UUID
    kind: str
    entity: str
    other: str | None
    relation_type: str | None
    entity_type: str | None
    status: str
    dated: str | None
    reason: str
    created_by: UUID
    created_at: datetime


@dataclass(frozen=True)
class JoinedNames:
    """A place states that the alias is another name of the target."""

    alias_id: str
    alias_key: str
    alias: str
    target_id: str
    target_key: str
    target: str

    @property
    def ends(self) -> tuple[NamedEnd, NamedEnd]:
        alias = NamedEnd(self.alias_id, self.alias_key, self.alias)
        return alias, NamedEnd(self.target_id, self.target_key, self.target)


class CorrectionSql(Statements, file="corrections.sql", columns=COLUMNS):
    page: str
    record: str
    delete: str
    is_stated: str
    joined: str


class _Corrections(Repository):
    async def page(
        self, correction_id: UUID | None, after: tuple[datetime, UUID] | None, limit: int
    ) -> list[StoredCorrection]:
        created_at, last = after or (None, None)
        values = {"id": correction_id, "created_at": created_at, "after": last, "limit": limit}
        return await self.all(CorrectionSql.page, StoredCorrection, **values)

    async def record(self, **columns: object) -> StoredCorrection:
        stored = await self.one(CorrectionSql.record, StoredCorrection, **columns)
        assert stored is not None, "the statement returns the row"
        return stored

    async def delete(self, correction_id: UUID) -> bool:
        return bool(await self.run(CorrectionSql.delete, id=correction_id))

    async def is_stated(self, source_id: str, target_id: str, relation_type: str) -> bool:
        values = {"source_id": source_id, "target_id": target_id, "types": with_below([relation_type])}
        return bool(await self.value(CorrectionSql.is_stated, **values))

    async def joined(self, ids: list[str]) -> JoinedNames | None:
        return await self.one(CorrectionSql.joined, JoinedNames, ids=ids)


class GraphCorrections:
    """The use cases of corrections. `projects` is True if the graph has a projection."""

    def __init__(self, database: Database, store: PostgresStore, *, projects: bool) -> None:
        self.database, self.store, self.projects = database, store, projects

    async def correct(self, caller: Principal, request: CorrectionRequest) -> StoredCorrection:
        """Stores and applies a correction, or raises NameNotKnown, FactNotStated, NamesAreOne or NotMerged."""
        workspace_id, correction_id = caller.workspace_id, uuid4()
        async with writing(self.database, workspace_id) as connection:
            entity, other = await self._ends(workspace_id, request)
            corrections = _Corrections(connection, workspace_id)
            if request.kind in {"confirm", "reject"} and other is not None:
                if not await corrections.is_stated(entity.id, other.id, request.relation_type or ""):
                    raise FactNotStated(f"nothing states {entity.name} {request.relation_type} {other.name}; add it")
            elif request.kind == "split" and other is not None:
                joined = await corrections.joined([entity.id, other.id])
                if joined is None:
                    raise NotMerged(f"no document makes {entity.name} and {other.name} one")
                entity, other = joined.ends
            stored = await corrections.record(
                id=correction_id,
                kind=request.kind,
                entity_id=entity.id,
                entity=entity.name,
                other=other.name if other else None,
                relation_type=request.relation_type,
                entity_type=request.entity_type,
                status=request.status,
                dated=request.dated,
                reason=request.reason,
                created_by=caller.user_id,
            )
            name = f"Correction: {request.reason}"[:LONGEST_TITLE]
            source = MadeFrom(1, name, None, None, "", correction_id.hex)
            made = Graphed(correction_id, source, 0, graphed(correction_id, request, entity, other))
            changes = await GraphProvenance(connection, workspace_id).replace(made)
            await queue(connection, workspace_id, changes, projects=self.projects)
        return stored

    async def page(self, workspace_id: UUID, after: tuple[datetime, UUID] | None, limit: int) -> list[StoredCorrection]:
        """Returns the corrections in force, newest first, after the given one."""
        async with self.database.workspace(workspace_id) as connection:
            return await _Corrections(connection, workspace_id).page(None, after, limit)

    async def one(self, workspace_id: UUID, correction_id: UUID) -> StoredCorrection:
        """Returns a correction. Raises CorrectionNotFound."""
        async with self.database.workspace(workspace_id) as connection:
            found = await _Corrections(connection, workspace_id).page(correction_id, None, 1)
        if not found:
            raise CorrectionNotFound
        return found[0]

    async def undo(self, workspace_id: UUID, correction_id: UUID) -> None:
        """Undoes a correction; what the documents and other corrections state remains. Raises CorrectionNotFound."""
        async with writing(self.database, workspace_id) as connection:
            if not await _Corrections(connection, workspace_id).delete(correction_id):
                raise CorrectionNotFound
            changes, _ = await GraphProvenance(connection, workspace_id).delete(correction_id)
            await queue(connection, workspace_id, changes, projects=self.projects)

    async def _ends(self, workspace_id: UUID, request: CorrectionRequest) -> tuple[NamedEnd, NamedEnd | None]:
        if request.kind == "split":
            return _spelled(request.entity), _spelled(request.other or "")
        is_new = request.kind == "add"
        entity = await self._end(workspace_id, request.entity, may_be_new=is_new)
        other = None if request.other is None else await self._end(workspace_id, request.other, may_be_new=is_new)
        if other is not None and other.id == entity.id:
            raise NamesAreOne(f"{request.entity} and {request.other} are already one entity")
        return entity, other

    async def _end(self, workspace_id: UUID, name: str, *, may_be_new: bool) -> NamedEnd:
        """Returns the named entity. No similar names: correcting the wrong entity would be worse than none."""
        found = await self._known(workspace_id, name)
        if found is not None and found.entity.how in EXACTLY:
            return NamedEnd(found.id, found.stored.name_key, found.stored.name)
        if not may_be_new:
            near = f"; the nearest is {found.stored.name}" if found is not None else ""
            raise NameNotKnown(f"the graph has no entity named {name!r}{near}")
        return _spelled(name)

    async def _known(self, workspace_id: UUID, name: str) -> MeantEntity | None:
        try:
            return await meant(self.store, workspace_id, name)
        except NoToolResult:
            return None


def _spelled(name: str) -> NamedEnd:
    if not is_name(name):
        raise NameNotKnown(f"{name!r} cannot be the name of an entity")
    return NamedEnd.new(name)
