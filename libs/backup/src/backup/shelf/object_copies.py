"""Copies objects over S3 from the object store to the backup folder and back."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime

from backup.errors import DamagedBackup
from backup.shelf.folder import BackupShelf
from backup.shelf.manifest import CopiedObject, sha256_of
from service_kit.objects import ObjectMissing, ObjectStore
from service_kit.settings import ObjectStoreSettings

THREADS = 8


class ObjectCopies:
    """Copies between the object store and the shelf."""

    def __init__(self, settings: ObjectStoreSettings, shelf: BackupShelf) -> None:
        self.store, self.shelf = ObjectStore(settings), shelf

    def fetch(self, known: Mapping[str, CopiedObject]) -> dict[str, CopiedObject]:
        """Copies all objects that are not known yet, and returns all existing objects by key."""
        self.shelf.objects.mkdir(mode=0o700, exist_ok=True)
        found: dict[str, CopiedObject] = {}
        new: list[CopiedObject] = []
        for one in self.store.listed():
            listed = CopiedObject(
                key=str(one.object_name), sha256="", size=one.size, etag=one.etag, modified=one.last_modified
            )
            before = known.get(listed.key)
            if (
                before
                and before.model_copy(update={"sha256": ""}) == listed
                and self.shelf.copy_of(before.sha256).exists()
            ):
                found[listed.key] = before
            else:
                new.append(listed)
        with ThreadPoolExecutor(THREADS) as threads:
            found |= {one.key: one for one in threads.map(self._fetch, new) if one}
        return found

    def _fetch(self, listed: CopiedObject) -> CopiedObject | None:
        """Copies one object; returns None if it has been deleted in the meantime."""
        part = self.shelf.objects / f"{uuid.uuid4()}.part"
        try:
            self.store.get_file(listed.key, part)
        except ObjectMissing:
            return None
        copied = listed.model_copy(update={"sha256": sha256_of(part), "size": part.stat().st_size})
        place = self.shelf.copy_of(copied.sha256)
        place.parent.mkdir(mode=0o700, exist_ok=True)
        part.replace(place)
        return copied

    def put_back(self, objects: Iterable[CopiedObject]) -> None:
        """Writes the objects into the object store."""
        with ThreadPoolExecutor(THREADS) as threads:
            for _ in threads.map(lambda one: self.store.put_file(one.key, self.shelf.copy_of(one.sha256)), objects):
                pass

    def close(self) -> None:
        self.store.close()


def verify(shelf: BackupShelf, objects: Iterable[CopiedObject]) -> None:
    """Raises DamagedBackup if a copy is missing or differs."""
    with ThreadPoolExecutor(THREADS) as threads:
        for _ in threads.map(lambda one: _verify(shelf, one), objects):
            pass


def _verify(shelf: BackupShelf, one: CopiedObject) -> None:
    place = shelf.copy_of(one.sha256)
    if not place.exists():
        raise DamagedBackup(place, f"it is missing (object {one.key})")
    if sha256_of(place) != one.sha256:
        raise DamagedBackup(place, f"its checksum differs (object {one.key})")


def as_of_moment(
    before: Mapping[str, CopiedObject], after: Mapping[str, CopiedObject], moment: datetime
) -> dict[str, CopiedObject]:
    """Returns the objects that the database may name at a moment, given the copies before and after it.

    This is a superset: it includes objects deleted in between; those that no document of that moment needs are
    deleted when the stores are reconciled.
    """
    return {**before, **{key: one for key, one in after.items() if key not in before or one.modified <= moment}}
