"""The table of origins: the places that documents come from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import LiteralString
from uuid import UUID, uuid4

from contracts.ingestion import OriginKind
from ingestion.documents.rows import UNKEYED, OriginRow, columns
from service_kit.repository import Repository
from service_kit.statements import Statements

LISTED = 200


class OriginSql(Statements, file="origins.sql", columns=columns(OriginRow)):
    at: LiteralString
    find: LiteralString
    of_document: LiteralString
    count: LiteralString
    is_excluded_content: LiteralString
    write: LiteralString
    see: LiteralString
    miss: LiteralString
    delete: LiteralString
    delete_unkeyed: LiteralString
    lock_place: LiteralString
    lock_source: LiteralString


@dataclass(frozen=True)
class Provenance:
    """The place a file comes from. `path` is unique within its source, or within its kind if there is no source.

    `fingerprint` is the source's mark of unchanged content, known without reading it.
    """

    kind: OriginKind
    source_id: UUID | None
    path: str
    uri: str | None = None
    fingerprint: str | None = None

    @classmethod
    def of_content(cls, content_hash: str, within: str | None = None) -> Provenance:
        """Returns the provenance of an upload without a key: its bytes, and its path `within` an archive."""
        return cls(OriginKind.upload, None, f"{UNKEYED}{content_hash}" + (f"/{within}" if within else ""))


class Origins(Repository):
    async def lock_place(self, place: Provenance | OriginRow) -> None:
        """Keeps other transactions from changing the documents of this place until this one ends.

        Locks are taken in the order place, source, content, document.
        """
        await self.run(OriginSql.lock_place, **_key(place))

    async def lock_source(self, source_id: UUID) -> bool:
        """Keeps the source from being deleted until the transaction ends; returns False if it already is."""
        return await self.run(OriginSql.lock_source, source_id=source_id) == 1

    async def at(self, place: Provenance) -> OriginRow | None:
        return await self.one(OriginSql.at, OriginRow, **_key(place))

    async def find(self, origin_id: UUID) -> OriginRow | None:
        return await self.one(OriginSql.find, OriginRow, origin_id=origin_id)

    async def of_document(self, document_id: UUID) -> list[OriginRow]:
        """Returns at most LISTED origins, oldest first."""
        return await self.all(OriginSql.of_document, OriginRow, document_id=document_id, limit=LISTED)

    async def count(self, document_id: UUID) -> int:
        return int(await self.value(OriginSql.count, document_id=document_id))

    async def is_excluded_content(self, source_id: UUID, content_hash: str) -> bool:
        """Returns whether a user deleted a document from this source that had these bytes."""
        values = {"source_id": source_id, "content_hash": content_hash}
        return bool(await self.value(OriginSql.is_excluded_content, **values))

    async def write(
        self,
        place: Provenance,
        *,
        name: str,
        content_hash: str,
        document_id: UUID | None,
        origin_id: UUID | None = None,
    ) -> UUID:
        """Records the file at a place and returns the origin's id; without a document the place is excluded."""
        origin_id = origin_id or uuid4()
        file = {"name": name, "content_hash": content_hash, "uri": place.uri, "fingerprint": place.fingerprint}
        target = {"document_id": document_id, "excluded": document_id is None}
        await self.run(OriginSql.write, origin_id=origin_id, **_key(place), **file, **target)
        return origin_id

    async def see(self, origin_ids: Sequence[UUID]) -> None:
        """Records that the places still have the same files."""
        await self.run(OriginSql.see, origin_ids=list(origin_ids))

    async def miss(self, origin_id: UUID) -> None:
        """Records that the place no longer has a file."""
        await self.run(OriginSql.miss, origin_id=origin_id)

    async def delete(self, origin_id: UUID) -> None:
        await self.run(OriginSql.delete, origin_id=origin_id)

    async def delete_unkeyed(self, document_id: UUID) -> None:
        """Deletes the document's origins that are uploads without a key."""
        await self.run(OriginSql.delete_unkeyed, document_id=document_id)


def _key(place: Provenance | OriginRow) -> dict[str, object]:
    return {"source_id": place.source_id, "kind": place.kind.value, "path": place.path}
