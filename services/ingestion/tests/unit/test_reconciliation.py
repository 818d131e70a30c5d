"""Drift that a reconciliation finds in given stores."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from ingestion.reconciliation.drift import (
    REMEDY,
    DocumentAtService,
    DriftKind,
    KeptVersion,
    RecordedDocument,
    Survey,
    compare,
)

NOW = datetime(2026, 11, 22, tzinfo=UTC)
LONG_AGO = NOW - timedelta(days=1)
WORKSPACE, ONE, TWO = UUID(int=9), UUID(int=1), UUID(int=2)
HASH = "a" * 64
KNOWN = RecordedDocument(ONE, "one.md", 1, 1, 3, HASH, embedded=True, graphed=True, updated_at=LONG_AGO)
FILES = ("document.md", "chunks.jsonl", "vectors.npy")
ORIGINAL = f"{WORKSPACE}/originals/{HASH}"


def derived(name: str, version: int = 1, document: UUID = ONE) -> str:
    return f"{WORKSPACE}/documents/{document}/v{version}/{name}"


def survey(**changes: object) -> Survey:
    """Returns a workspace whose stores agree, with these changes."""
    objects = {ORIGINAL: LONG_AGO, **{derived(name): LONG_AGO for name in FILES}}
    fits = Survey(
        {ONE: KNOWN},
        [KeptVersion(ONE, 1, HASH)],
        set(),
        {ONE: DocumentAtService(1, 3)},
        {ONE: DocumentAtService(1)},
        objects,
    )
    return replace(fits, **changes)  # type: ignore[arg-type]


def kinds(found: Survey) -> list[DriftKind]:
    return [drift.kind for drift in compare(found, NOW)]


def without(key: str) -> dict[str, datetime]:
    return {name: age for name, age in survey().objects.items() if name != key}


def test_consistent_stores_have_no_drift() -> None:
    assert kinds(survey()) == []


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"index": {}}, DriftKind.not_indexed),
        ({"index": {ONE: DocumentAtService(1, 2)}}, DriftKind.index_differs),
        ({"graph": {}}, DriftKind.not_graphed),
        ({"objects": without(ORIGINAL)}, DriftKind.original_missing),
        ({"objects": without(derived("chunks.jsonl"))}, DriftKind.derived_missing),
        ({"objects": without(derived("vectors.npy"))}, DriftKind.derived_missing),
        ({"index": {ONE: DocumentAtService(1, 3), TWO: DocumentAtService(1, 5)}}, DriftKind.index_orphan),
        ({"graph": {ONE: DocumentAtService(1), TWO: DocumentAtService(4)}}, DriftKind.graph_orphan),
        ({"objects": survey().objects | {derived("document.md", 7): LONG_AGO}}, DriftKind.object_orphan),
        ({"objects": survey().objects | {f"{WORKSPACE}/originals/{'b' * 64}": LONG_AGO}}, DriftKind.object_orphan),
    ],
)
def test_each_difference_is_classified(changes: dict[str, object], expected: DriftKind) -> None:
    assert kinds(survey(**changes)) == [expected]
    assert REMEDY[expected]


def test_recent_changes_are_not_compared() -> None:
    assert kinds(survey(documents={ONE: replace(KNOWN, updated_at=NOW)}, index={}, graph={})) == []
    assert kinds(survey(objects=survey().objects | {derived("document.md", 7): NOW})) == []
    assert kinds(survey(index={ONE: DocumentAtService(1, 3), TWO: DocumentAtService(1, 3)}, deleting={TWO})) == []


def test_a_version_being_processed_is_not_drift() -> None:
    working = replace(KNOWN, version=2, chunk_count=9, content_hash="c" * 64, graphed=False)
    objects = survey().objects | {f"{WORKSPACE}/originals/{'c' * 64}": LONG_AGO}
    versions = [KeptVersion(ONE, 1, HASH), KeptVersion(ONE, 2, "c" * 64)]
    assert kinds(survey(documents={ONE: working}, versions=versions, objects=objects)) == []


def test_a_document_that_was_never_searchable_needs_no_index() -> None:
    failed = replace(KNOWN, searchable_version=None, chunk_count=None, embedded=False, graphed=False)
    assert kinds(survey(documents={ONE: failed}, index={}, graph={}, objects={ORIGINAL: LONG_AGO})) == []


def test_an_orphan_is_reported_with_its_objects() -> None:
    keys = {derived(name, 3, TWO): LONG_AGO for name in FILES}
    (drift,) = compare(survey(objects=survey().objects | keys), NOW)
    assert (drift.document_id, set(drift.keys)) == (TWO, set(keys))
