"""The outcome of taking in a file."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

import pytest

from ingestion.documents.incoming_files import Change
from ingestion.documents.intake import Situation, outcome
from ingestion.documents.rows import DocumentRow

ONE, OTHER = UUID(int=1), UUID(int=2)


@pytest.mark.parametrize(
    ("excluded", "current", "same", "shared", "expected"),
    [
        (False, None, None, False, "created"),
        (False, ONE, None, False, "new_version"),
        (False, ONE, None, True, "created"),
        (False, ONE, ONE, False, "unchanged"),
        (False, ONE, ONE, True, "unchanged"),
        (False, None, OTHER, False, "linked"),
        (False, ONE, OTHER, False, "linked"),
        (True, None, None, False, "excluded"),
    ],
)
def test_content_and_origin_determine_the_outcome(
    document: Callable[..., DocumentRow],
    excluded: bool,
    current: UUID | None,
    same: UUID | None,
    shared: bool,
    expected: Change,
) -> None:
    situation = Situation(
        is_excluded=excluded,
        current=document(id=current) if current else None,
        same=document(id=same) if same else None,
        is_shared=shared,
    )
    assert outcome(situation) == expected
