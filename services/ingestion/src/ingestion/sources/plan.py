"""Plans a synchronisation by comparing the source's files with those taken in before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from uuid import UUID

from ingestion.sources.source import Gap, Item, ItemRefused
from ingestion.sources.spool import too_large

# A longer path does not fit into an index entry.
MAX_PATH_BYTES = 2000


@dataclass(frozen=True)
class KnownFile:
    """A file that was taken in before. It has no document if that was deleted since, by a user if `excluded`."""

    id: UUID
    path: str
    document_id: UUID | None
    fingerprint: str | None
    content_hash: str | None
    excluded: bool
    missing: bool


@dataclass(frozen=True)
class WantedFile:
    """A file to read; `known` is set if its path was taken in before."""

    item: Item
    known: KnownFile | None

    @property
    def is_new(self) -> bool:
        return self.known is None or self.known.document_id is None


@dataclass
class SyncPlan:
    """What to do with each file that the source has now."""

    wanted: list[WantedFile] = field(default_factory=list)
    unchanged: list[KnownFile] = field(default_factory=list)
    excluded: list[KnownFile] = field(default_factory=list)
    refused: list[tuple[Item, ItemRefused]] = field(default_factory=list)


def make_plan(items: Iterable[Item], known: Mapping[str, KnownFile], max_bytes: int) -> SyncPlan:
    """Returns the plan, sorted by path. It trusts unchanged fingerprints and announced sizes."""
    plan = SyncPlan()
    for item in sorted(items, key=lambda item: item.path):
        before = known.get(item.path)
        if before and before.excluded:
            plan.excluded.append(before)
        elif before and before.document_id and item.fingerprint and item.fingerprint == before.fingerprint:
            plan.unchanged.append(before)
        elif refusal := _refusal(item, max_bytes):
            plan.refused.append((item, refusal))
        else:
            plan.wanted.append(WantedFile(item, before))
    return plan


def missing(known: Mapping[str, KnownFile], listed: Iterable[str], gaps: Iterable[Gap]) -> list[KnownFile]:
    """Returns the files that were taken in before and are gone now; files that may be in a gap do not count as gone."""
    present, unknown = set(listed), tuple(gap.prefix for gap in gaps)
    return [one for path, one in sorted(known.items()) if path not in present and not path.startswith(unknown)]


def _refusal(item: Item, max_bytes: int) -> ItemRefused | None:
    if len(item.path.encode()) > MAX_PATH_BYTES:
        return ItemRefused("path-too-long", f"The path is longer than {MAX_PATH_BYTES} bytes.")
    if item.size == 0:
        return ItemRefused("empty-file", "The file is empty.")
    if item.size is not None and item.size > max_bytes:
        return too_large(max_bytes)
    return None
