"""Compares what the stores hold of a workspace, without I/O."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple
from uuid import UUID

DERIVED = re.compile(r"^[^/]+/documents/([0-9a-f-]{36})/v([0-9]+)/([^/]+)$")
NEEDED = frozenset({"document.md", "chunks.jsonl"})
VECTORS = "vectors.npy"
ORIGINAL = re.compile(r"^[^/]+/originals/([0-9a-f]{64})$")


class DriftKind(StrEnum):
    """Kinds of drift; `REMEDY` says how each is repaired."""

    original_missing = "original-missing"
    derived_missing = "derived-missing"
    not_indexed = "not-indexed"
    index_differs = "index-differs"
    not_graphed = "not-graphed"
    index_orphan = "index-orphan"
    graph_orphan = "graph-orphan"
    object_orphan = "object-orphan"


REMEDY: Mapping[DriftKind, str] = {
    DriftKind.original_missing: "none: upload the file again, or synchronise its source",
    DriftKind.derived_missing: "convert again",
    DriftKind.not_indexed: "index again",
    DriftKind.index_differs: "index again",
    DriftKind.not_graphed: "add to the knowledge graph again",
    DriftKind.index_orphan: "remove from the index",
    DriftKind.graph_orphan: "remove from the graph",
    DriftKind.object_orphan: "delete the objects",
}


@dataclass(frozen=True)
class Drift:
    """A difference between stores. `keys` are the objects concerned; `document_id` is None for unused originals."""

    kind: DriftKind
    document_id: UUID | None
    detail: str
    keys: tuple[str, ...] = ()


@dataclass(frozen=True)
class RecordedDocument:
    """A document in ingestion's tables. `embedded`: its vectors are stored; `graphed`: its graph stage is done."""

    id: UUID
    name: str
    version: int
    searchable_version: int | None
    chunk_count: int | None
    content_hash: str
    embedded: bool
    graphed: bool
    updated_at: datetime


@dataclass(frozen=True)
class KeptVersion:
    document_id: UUID
    version: int
    content_hash: str


class DocumentAtService(NamedTuple):
    """What another service holds of a document; `chunks` is None if it does not count them."""

    version: int
    chunks: int | None = None


@dataclass(frozen=True)
class Survey:
    """The contents of all stores for one workspace.

    `versions` are the versions whose objects must exist, `objects` maps keys to the time of their last change, and
    `deleting` are documents whose deletion is incomplete.
    """

    documents: Mapping[UUID, RecordedDocument]
    versions: Collection[KeptVersion]
    deleting: Collection[UUID]
    index: Mapping[UUID, DocumentAtService]
    graph: Mapping[UUID, DocumentAtService]
    objects: Mapping[str, datetime]


def compare(survey: Survey, settled_before: datetime) -> list[Drift]:
    """Returns the differences. Ignores documents and objects changed after `settled_before`, as still in progress."""
    originals = {found[1] for key in survey.objects if (found := ORIGINAL.match(key))}
    derived: dict[tuple[UUID, int], set[str]] = {}
    for key in survey.objects:
        if found := DERIVED.match(key):
            derived.setdefault((UUID(found[1]), int(found[2])), set()).add(found[3])
    found_drift: list[Drift] = []
    for document in survey.documents.values():
        if document.updated_at < settled_before:
            found_drift += _of_document(document, survey, originals, derived)
    found_drift += _orphans(survey.index, survey, DriftKind.index_orphan, "the index")
    found_drift += _orphans(survey.graph, survey, DriftKind.graph_orphan, "the graph")
    return [*found_drift, *_orphan_objects(survey, settled_before)]


def _of_document(
    document: RecordedDocument, survey: Survey, originals: set[str], derived: Mapping[tuple[UUID, int], set[str]]
) -> Iterator[Drift]:
    if document.content_hash not in originals:
        yield Drift(DriftKind.original_missing, document.id, f"{document.name}: the original is missing")
    served = document.searchable_version
    if served is None:
        return
    needed = NEEDED | {VECTORS} if document.embedded and served == document.version else NEEDED
    missing = needed - derived.get((document.id, served), set())
    if missing:
        what = ", ".join(sorted(missing))
        yield Drift(DriftKind.derived_missing, document.id, f"{document.name}: version {served} lacks {what}")
    yield from _in_index(document, served, survey.index.get(document.id))
    graph = survey.graph.get(document.id)
    if document.graphed and (graph is None or graph.version < served):
        yield Drift(DriftKind.not_graphed, document.id, f"{document.name}: version {served} is not in the graph")


def _in_index(document: RecordedDocument, served: int, held: DocumentAtService | None) -> Iterator[Drift]:
    if held is None or held.version < served:
        yield Drift(DriftKind.not_indexed, document.id, f"{document.name}: version {served} is not in the index")
    elif held.version == served == document.version and held.chunks != document.chunk_count:
        counts = f"{held.chunks} of {document.chunk_count} chunks"
        yield Drift(DriftKind.index_differs, document.id, f"{document.name}: the index has {counts}")


def _orphans(held: Mapping[UUID, DocumentAtService], survey: Survey, kind: DriftKind, place: str) -> Iterator[Drift]:
    for document_id in held:
        if document_id not in survey.documents and document_id not in survey.deleting:
            yield Drift(kind, document_id, f"{place} holds a document that does not exist")


def _orphan_objects(survey: Survey, settled_before: datetime) -> Iterator[Drift]:
    hashes = {version.content_hash for version in survey.versions}
    hashes |= {document.content_hash for document in survey.documents.values()}
    versions = {(version.document_id, version.version) for version in survey.versions}
    orphans: dict[UUID | None, list[str]] = {}
    for key, changed in survey.objects.items():
        if changed >= settled_before:
            continue
        if found := ORIGINAL.match(key):
            if found[1] not in hashes:
                orphans.setdefault(None, []).append(key)
        elif found := DERIVED.match(key):
            owner = UUID(found[1])
            if owner not in survey.deleting and (owner, int(found[2])) not in versions:
                orphans.setdefault(owner, []).append(key)
    for document_id, keys in orphans.items():
        what = "originals" if document_id is None else "objects"
        detail = f"{len(keys)} {what} that no document needs"
        yield Drift(DriftKind.object_orphan, document_id, detail, tuple(sorted(keys)))
