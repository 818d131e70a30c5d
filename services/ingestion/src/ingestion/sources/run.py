"""Runs one synchronisation: lists, compares, reads new and changed files, and finally removes those that are gone."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import inf
from pathlib import Path
from time import monotonic
from uuid import UUID

from contracts.ingestion import Lane, OriginKind
from contracts.sources import OnRemoved, SyncAction, SyncTrigger
from ingestion.documents.incoming_files import IncomingFile, Taken
from ingestion.documents.intake import Intake
from ingestion.documents.origins import Provenance
from ingestion.sources.plan import KnownFile, SyncPlan, WantedFile, make_plan, missing
from ingestion.sources.source import (
    Fetched,
    Gap,
    Item,
    ItemRefused,
    ItemVanished,
    Placed,
    SourceReader,
    SourceUnavailable,
)
from ingestion.sources.sources import Sources
from ingestion.sources.sync_changes import ChangeList, ItemChange
from ingestion.sources.syncs import AllSyncs, HeldSync
from service_kit.postgres import Database
from service_kit.spool import HEAD_BYTES

AT_ONCE = 4
LOOK_ROUND_EVERY = 16
ROOM_SECONDS = 2.0
REMOVED_AT_ONCE = 100
SEEN_AT_ONCE = 5000
EMPTY = (
    "The folder is empty, and lies on another file system than before: is it mounted? If it is meant to be empty, "
    "synchronise it by hand, and its {count} documents are removed."
)


@dataclass(frozen=True)
class SyncLimits:
    """`max_items` bounds the files of a source; `slice_seconds` is how long other workspaces wait for this one."""

    max_file_bytes: int
    max_items: int
    slice_seconds: float


class SliceOver(Exception):
    """The time slice is over and another workspace is waiting; the rest is done in the next slice."""


@dataclass
class SyncCounts:
    """The progress of a synchronisation, as users see it."""

    seen: int = 0
    added: int = 0
    changed: int = 0
    removed: int = 0
    unchanged: int = 0
    refused: int = 0
    excluded: int = 0
    bytes: int = 0


class SyncRun:
    """One attempt of a synchronisation. `counts` are correct at any time."""

    def __init__(self, database: Database, intake: Intake, held: HeldSync, limits: SyncLimits, scratch: Path) -> None:
        self.database, self.intake, self.held, self.limits, self.scratch = database, intake, held, limits, scratch
        self.kind = OriginKind(held.config["kind"])
        self.counts = SyncCounts()
        self.changes = ChangeList(database, held)
        self.items: dict[str, Item] = {}
        self.gaps: list[Gap] = []
        self.touched: list[tuple[UUID, str | None]] = []
        self.place: str | None = None
        self.slice_ends = inf

    async def known(self) -> dict[str, KnownFile]:
        """Returns the files taken in from the source before, by path."""
        async with self.database.workspace(self.held.workspace_id) as connection:
            return await Sources(connection, self.held.workspace_id).known_files(self.held.source_id)

    async def synchronise(self, reader: SourceReader, known: dict[str, KnownFile]) -> None:
        """Synchronises the source; a file that cannot be taken in is refused without affecting others.

        Raises SliceOver, SourceGone, and SourceUnavailable before anything is removed.
        """
        await self._resume()
        began = monotonic()
        await self._list(reader, known)
        # Reading gets at least as much time as listing, because every slice lists from the beginning.
        self.slice_ends = max(began + self.limits.slice_seconds, 2 * monotonic() - began)
        plan = make_plan(self.items.values(), known, self.limits.max_file_bytes)
        await self._note(plan)
        await self._read(reader, plan)
        await self._flush_touched()
        # Last, so that a moved file has already been recognised by its content at its new path.
        await self._remove(missing(known, self.items, self.gaps))
        await self.changes.flush()

    async def _resume(self) -> None:
        # Even at the first attempt, because one that a stopping worker returned to the queue is not counted.
        await self.changes.resume()
        actions = list(self.changes.earlier.values())
        self.counts.added = actions.count(SyncAction.add)
        self.counts.changed = actions.count(SyncAction.change)
        self.counts.removed = actions.count(SyncAction.remove)
        self.counts.bytes = self.held.bytes

    async def _list(self, reader: SourceReader, known: dict[str, KnownFile]) -> None:
        async for one in reader.items():
            if isinstance(one, Gap):
                self.gaps.append(one)
            else:
                self.items[one.path] = one
            if len(self.items) > self.limits.max_items:
                message = f"The source has more than {self.limits.max_items} files (SOURCE_MAX_FILES): narrow it."
                raise SourceUnavailable("too-many-files", message)
        self.place = reader.place if isinstance(reader, Placed) else None
        self._require_believable(known)
        self.counts.seen = len(self.items) + len(self.gaps)

    def _require_believable(self, known: dict[str, KnownFile]) -> None:
        """Raises SourceUnavailable for an empty folder that may not be mounted, unless a user started this run."""
        count = sum(one.document_id is not None and not one.missing for one in known.values())
        moved = self.held.place is not None and self.place != self.held.place
        if count and moved and not self.items and not self.gaps and self.held.trigger is not SyncTrigger.request:
            raise SourceUnavailable("folder-empty", EMPTY.format(count=count))

    async def _note(self, plan: SyncPlan) -> None:
        """Records the files that need no reading."""
        self.counts.unchanged = sum(one.path not in self.changes.earlier for one in plan.unchanged)
        self.counts.excluded = len(plan.excluded)
        for gap in self.gaps:
            await self._refuse(gap.prefix or "/", None, gap.reason)
        for item, refusal in plan.refused:
            await self._refuse(item.path, item.size, refusal.message)
        if not self.held.dry_run:
            ids = [one.id for one in (*plan.unchanged, *plan.excluded)]
            for start in range(0, len(ids), SEEN_AT_ONCE):
                await self.intake.seen(self.held.workspace_id, ids[start : start + SEEN_AT_ONCE])

    async def _touch(self, known: KnownFile, fingerprint: str | None) -> None:
        """Records a file that was read but had not changed; its new fingerprint avoids reading it next time."""
        self.counts.unchanged += known.path not in self.changes.earlier
        if not self.held.dry_run:
            self.touched.append((known.id, fingerprint))
            if len(self.touched) >= SEEN_AT_ONCE:
                await self._flush_touched()

    async def _flush_touched(self) -> None:
        touched, self.touched = self.touched, []
        if touched:
            async with self.database.workspace(self.held.workspace_id) as connection:
                await Sources(connection, self.held.workspace_id).touch_files(touched)
            await self.intake.seen(self.held.workspace_id, [origin_id for origin_id, _ in touched])

    async def _read(self, reader: SourceReader, plan: SyncPlan) -> None:
        """Reads one file at a time while earlier ones are being stored."""
        slots = asyncio.Semaphore(AT_ONCE)
        try:
            async with asyncio.TaskGroup() as storing:
                for number, wanted in enumerate(plan.wanted):
                    if number % LOOK_ROUND_EVERY == 0 and not await self._may_go_on(number):
                        break
                    await slots.acquire()
                    target = self.scratch / str(number)
                    fetched = await self._fetch(reader, wanted, target)
                    if isinstance(fetched, Fetched):
                        work = self._store(wanted, fetched, target)
                        storing.create_task(work).add_done_callback(lambda _: slots.release())
                    else:
                        slots.release()
                else:
                    return
        except BaseExceptionGroup as group:
            raise group.exceptions[0] from None
        await self._flush_touched()
        await self.changes.flush()
        raise SliceOver

    async def _may_go_on(self, done: int) -> bool:
        """Waits for room in the queue; returns False if the slice is over. Dry runs, which cannot resume, have none."""
        if self.held.dry_run:
            return True
        # Polling is enough, because other processes make room one document at a time.
        while not (has_room := await self.intake.has_room(self.held.workspace_id, Lane.bulk)):
            await self.changes.flush()
            if await self._is_over():
                break
            await asyncio.sleep(ROOM_SECONDS)
        return has_room and not (done and await self._is_over())

    async def _is_over(self) -> bool:
        if monotonic() < self.slice_ends:
            return False
        async with self.database.system() as connection:
            return await AllSyncs(connection).another_waits(self.held.workspace_id)

    async def _fetch(self, reader: SourceReader, wanted: WantedFile, target: Path) -> Fetched | None:
        """Returns None if there is nothing to store, after counting the file."""
        item = wanted.item
        if self.held.dry_run and wanted.is_new and item.fingerprint is not None:
            await self._enter(wanted, SyncAction.add, None, item.size)
            return None
        try:
            fetched = await reader.fetch(item, target, self.limits.max_file_bytes)
        except ItemRefused as refusal:
            await self._refuse(item.path, item.size, refusal.message)
        except ItemVanished:
            del self.items[item.path]
            self.counts.seen -= 1
        else:
            if fetched is not None:
                self.counts.bytes += fetched.size
                return fetched
            assert wanted.known is not None
            await self._touch(wanted.known, None)
        return None

    async def _store(self, wanted: WantedFile, fetched: Fetched, target: Path) -> None:
        known = wanted.known
        if known and not wanted.is_new and known.content_hash == fetched.content_hash:
            await self._touch(known, fetched.fingerprint)
        elif self.held.dry_run:
            await self._enter(wanted, SyncAction.add if wanted.is_new else SyncAction.change, None, fetched.size)
        else:
            file = await asyncio.to_thread(_incoming, fetched, target)
            place = Provenance(self.kind, self.held.source_id, wanted.item.path, wanted.item.uri, fetched.fingerprint)
            taken = await self.intake.take(self.held.workspace_id, file, place, Lane.bulk)
            await self._count(wanted, taken, fetched.size)
        with suppress(FileNotFoundError):
            await asyncio.to_thread(target.unlink)

    async def _count(self, wanted: WantedFile, taken: Taken, size: int) -> None:
        document_id = taken.document.id if taken.document else None
        match taken.change:
            case "refused":
                assert taken.refused is not None
                await self._refuse(wanted.item.path, size, taken.refused.message)
            case "excluded":
                self.counts.excluded += 1
            case "unchanged":
                self.counts.unchanged += wanted.item.path not in self.changes.earlier
            case "created" | "new_version" | "linked":
                action = SyncAction.add if wanted.is_new else SyncAction.change
                await self._enter(wanted, action, document_id, size)

    async def _enter(self, wanted: WantedFile, action: SyncAction, document_id: UUID | None, size: int | None) -> None:
        if action is SyncAction.add:
            self.counts.added += 1
        else:
            self.counts.changed += 1
        await self.changes.add(ItemChange(action, wanted.item.path, document_id, size))

    async def _refuse(self, path: str, size: int | None, message: str) -> None:
        self.counts.refused += 1
        await self.changes.add(ItemChange(SyncAction.refuse, path, None, size, message))

    async def _remove(self, gone: Sequence[KnownFile]) -> None:
        """Lists removals before it carries them out, because afterwards the next attempt could not detect them."""
        # Files already marked as missing were listed when they went missing.
        marks = self.held.on_removed is OnRemoved.mark_stale
        gone = [one for one in gone if not (one.missing and marks)]
        for start in range(0, len(gone), REMOVED_AT_ONCE):
            batch = gone[start : start + REMOVED_AT_ONCE]
            for one in batch:
                if one.document_id is not None and one.path not in self.changes.earlier:
                    self.counts.removed += 1
                    await self.changes.add(ItemChange(SyncAction.remove, one.path, one.document_id))
            await self.changes.flush()
            if not self.held.dry_run:
                for one in batch:
                    await self.intake.drop(self.held.workspace_id, one.id, self.held.on_removed)


def _incoming(fetched: Fetched, target: Path) -> IncomingFile:
    with target.open("rb") as file:
        head = file.read(HEAD_BYTES)
    return IncomingFile(target, fetched.name, fetched.size, fetched.content_hash, head)


def fingerprints(known: Iterable[KnownFile]) -> dict[str, str]:
    """Returns the fingerprints to pass to a reader, only of files that still have a document."""
    return {one.path: one.fingerprint for one in known if one.fingerprint and one.document_id and not one.excluded}
