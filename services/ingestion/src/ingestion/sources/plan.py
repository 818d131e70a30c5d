"""Plans a synchronisation from what is there now and what was taken before. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from uuid import UUID

from ingestion.sources.source import Gap, Item, ItemRefused
from ingestion.sources.spool import too_large

# Beyond this an index entry does not hold the path.
MAX_PATH_BYTES = 2000


@dataclass(frozen=True)
class KnownFile:
    """A file that was taken before. Without a document it was deleted since: by a user when `excluded`."""

    id: UUID
    path: str
    document_id: UUID | None
    fingerprint: str | None
    content_hash: str | None
    excluded: bool
    missing: bool


@dataclass(frozen=True)
class WantedFile:
    """A file to read; `known` when its path was taken before."""

    item: Item
    known: KnownFile | None

    @property
    def is_new(self) -> bool:
        return self.known is None or self.known.document_id is None


@dataclass
class SyncPlan:
    """What to do with each file that is there now."""

    wanted: list[WantedFile] = field(default_factory=list)
    unchanged: list[KnownFile] = field(default_factory=list)
    excluded: list[KnownFile] = field(default_factory=list)
    refused: list[tuple[Item, ItemRefused]] = field(default_factory=list)


def make_plan(items: Iterable[Item], known: Mapping[str, KnownFile], max_bytes: int) -> SyncPlan:
    """Plans in the order of the paths. An unchanged fingerprint is trusted, and so is an announced size."""
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
    """Returns what was taken before and is gone now. What may lie in a gap is not gone."""
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
