"""Follows a folder on a mounted path, with its subfolders."""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from itertools import islice
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote_from_bytes

from contracts.formats import has_extension
from contracts.sources import FolderConfig
from ingestion.documents.media_types import media_type_of
from ingestion.sources.allowed_paths import NotAllowed, is_beneath, located, opened_beneath
from ingestion.sources.selection import Selection
from ingestion.sources.settings import Reach
from ingestion.sources.source import Fetched, Gap, Item, ItemRefused, ItemVanished, SourceRefused, SourceUnavailable
from ingestion.sources.spool import MEBIBYTE, SourceSpool, spooling

BATCH = 500


async def check(config: FolderConfig, reach: Reach) -> None:
    """Raises SourceRefused if the folder cannot be a source."""
    Selection(config.include, config.exclude)
    await asyncio.to_thread(_check, config.path, reach)


def _check(path: str, reach: Reach) -> None:
    try:
        if not located(path, reach.roots).is_dir():
            raise SourceRefused(f"{path} is not a folder")
    except NotAllowed as error:
        raise SourceRefused(str(error)) from error
    except OSError as error:
        raise SourceRefused(f"{path} cannot be opened: {error.strerror}") from error


@asynccontextmanager
async def open_reader(
    config: FolderConfig, reach: Reach, _known: Mapping[str, str], _scratch: Path
) -> AsyncIterator[FolderReader]:
    """Opens the folder; raises SourceUnavailable if it is not there."""
    try:
        root = await asyncio.to_thread(located, config.path, reach.roots)
        device = (await asyncio.to_thread(root.stat)).st_dev
    except NotAllowed as error:
        raise SourceUnavailable("not-allowed", str(error)) from error
    except OSError as error:
        raise _away(config.path, error) from error
    yield FolderReader(config.path, root, Selection(config.include, config.exclude), reach.roots, str(device))


def _away(path: str, error: OSError) -> SourceUnavailable:
    return SourceUnavailable("folder-missing", f"The folder {path} cannot be read: {error.strerror}.")


class FolderReader:
    """Lists and reads the folder. `place` identifies its file system, because an unmounted folder looks empty."""

    def __init__(self, path: str, root: Path, selection: Selection, roots: Sequence[Path], place: str) -> None:
        self.path, self.root, self.selection, self.roots, self.place = path, root, selection, roots, place

    async def items(self) -> AsyncIterator[Item | Gap]:
        """Yields the selected files; raises SourceUnavailable if the folder itself cannot be listed."""
        found = self._below(self.root, "", frozenset())
        while batch := await asyncio.to_thread(lambda: list(islice(found, BATCH))):
            for one in batch:
                yield one

    async def fetch(self, item: Item, target: Path, max_bytes: int) -> Fetched:
        return await asyncio.to_thread(self._fetch, item, target, max_bytes)

    def _below(self, folder: Path, prefix: str, above: frozenset[tuple[int, int]]) -> Iterator[Item | Gap]:
        """Walks a folder. `above` has the (device, inode) of its parents, so that links cannot form a loop."""
        try:
            state = folder.stat()
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError as error:
            if not prefix:
                raise _away(self.path, error) from error
            if not isinstance(error, FileNotFoundError):
                yield Gap(prefix, f"The folder cannot be read: {error.strerror}.")
            return
        here = (state.st_dev, state.st_ino)
        if here in above:
            return
        for entry in entries:
            yield from self._entry(entry, prefix + entry.name, above | {here})

    def _entry(self, entry: os.DirEntry[str], path: str, above: frozenset[tuple[int, int]]) -> Iterator[Item | Gap]:
        try:
            if entry.is_symlink() and not is_beneath(Path(entry.path).resolve(strict=True), self.roots):
                yield from self._outside(entry, path)
                return
            state = entry.stat()
        except (OSError, RuntimeError):  # deleted meanwhile, a broken link, or a loop of links
            return
        if stat.S_ISDIR(state.st_mode):
            if self.selection.enters(path):
                yield from self._below(Path(entry.path), path + "/", above)
        elif stat.S_ISREG(state.st_mode) and self.selection.wants(path):
            yield self._item(path, _fingerprint(state), state.st_size)

    def _outside(self, entry: os.DirEntry[str], path: str) -> Iterator[Item | Gap]:
        if entry.is_dir():
            if self.selection.enters(path):
                yield Gap(path + "/", "The link leads out of the folders that the operator allows.")
        elif self.selection.wants(path):
            yield self._item(path, None, None)  # fetching it gives the reason

    def _item(self, path: str, fingerprint: str | None, size: int | None) -> Item:
        name = path.rsplit("/", 1)[-1]
        return Item(_storable(path), fingerprint, f"file:{quote_from_bytes(os.fsencode(path))}", _storable(name), size)

    def _fetch(self, item: Item, target: Path, max_bytes: int) -> Fetched:
        try:
            with opened_beneath(self.root / item.path, self.roots) as file:
                return _copied(file, item, target, max_bytes)
        except NotAllowed as error:
            raise ItemRefused("not-allowed", str(error)) from error
        except FileNotFoundError as error:
            if "\N{REPLACEMENT CHARACTER}" in item.path:
                raise ItemRefused("bad-name", "The file's name is not valid Unicode.") from error
            raise ItemVanished from error
        except OSError as error:
            raise ItemRefused("unreadable", f"The file cannot be read: {error.strerror}.") from error


def _fingerprint(state: os.stat_result) -> str:
    return f"{state.st_size}-{state.st_mtime_ns}-{state.st_ino}"


def _storable(name: str) -> str:
    """Replaces bytes that are not UTF-8 by U+FFFD."""
    return os.fsencode(name).decode("utf-8", "replace")


def _copied(file: BinaryIO, item: Item, target: Path, max_bytes: int) -> Fetched:
    before = os.fstat(file.fileno())
    if not stat.S_ISREG(before.st_mode):
        raise ItemRefused("not-a-file", "It is a pipe, a socket or a device.")
    with spooling(target, max_bytes) as spool:
        _copy(file, spool, item.name)
    if _fingerprint(os.fstat(file.fileno())) != _fingerprint(before):
        raise ItemRefused("changing", "The file changed while being read; the next synchronisation will pick it up.")
    return Fetched(_fingerprint(before), None, item.name, spool.content_hash, spool.size)


def _copy(file: BinaryIO, spool: SourceSpool, name: str) -> None:
    while data := file.read(MEBIBYTE):
        if spool.size == 0 and not has_extension(name) and media_type_of(name, data[:8192]) is None:
            raise ItemVanished  # a program or other data that is not a document
        spool.write(data)
