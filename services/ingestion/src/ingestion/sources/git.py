"""Follows a git repository at a mounted path: its files as of a commit, from the object database."""

from __future__ import annotations

import asyncio
import stat
import zlib
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from itertools import islice
from pathlib import Path
from urllib.parse import quote

from dulwich.errors import ApplyDeltaError, FileFormatException
from dulwich.object_store import MaxTreeDepthExceeded, iter_tree_contents
from dulwich.objects import ObjectID
from dulwich.pack import UnresolvedDeltas

from contracts.formats import has_extension
from contracts.sources import GitConfig
from ingestion.documents.media_types import media_type_of
from ingestion.sources.allowed_paths import NotAllowed, located
from ingestion.sources.git_objects import MAX_TREE_DEPTH, GitRepository, NotARepository, ObjectTooLarge, RefNotFound
from ingestion.sources.selection import Selection
from ingestion.sources.settings import Reach
from ingestion.sources.source import Fetched, Item, ItemRefused, ItemVanished, SourceRefused, SourceUnavailable
from ingestion.sources.spool import spooling, too_large

BATCH = 1000
LFS_POINTER = b"version https://git-lfs.github.com/spec/"
LFS = "The repository holds a pointer to the file (Git LFS), not the file itself."
UNPACKING = "The repository stores the file as a difference from others; to read it takes more than {} bytes."
MISSING = "The repository lacks the file's content: {}."
DAMAGED = "The repository is damaged, or lacks objects: {}."
# Errors that reading a damaged or incomplete repository may raise.
BROKEN = (
    zlib.error,
    KeyError,
    IndexError,
    ValueError,
    OSError,
    AssertionError,
    FileFormatException,
    MaxTreeDepthExceeded,
    ApplyDeltaError,
    UnresolvedDeltas,
)


async def check(config: GitConfig, reach: Reach) -> None:
    """Raises SourceRefused if this cannot be a source, also if the repository has no such commit now."""
    Selection(config.include, config.exclude)
    try:
        (await asyncio.to_thread(_open, config, reach)).repository.close()
    except SourceUnavailable as error:
        raise SourceRefused(error.message) from error


@asynccontextmanager
async def open_reader(
    config: GitConfig, reach: Reach, _known: Mapping[str, str], _scratch: Path
) -> AsyncIterator[GitReader]:
    """Opens the repository; raises SourceUnavailable if it or the named commit does not exist."""
    reader = await asyncio.to_thread(_open, config, reach)
    try:
        yield reader
    finally:
        reader.repository.close()


def _open(config: GitConfig, reach: Reach) -> GitReader:
    try:
        place = located(config.path, reach.roots)
        repository = GitRepository(place, reach.roots)
    except NotAllowed as error:
        raise SourceUnavailable("not-allowed", str(error)) from error
    except NotARepository as error:
        raise SourceUnavailable("not-a-repository", str(error)) from error
    except OSError as error:
        message = f"The repository {config.path} cannot be read: {error.strerror}."
        raise SourceUnavailable("folder-missing", message) from error
    try:
        commit = repository.commit(config.ref)
        return GitReader(repository, commit.id.decode(), commit.tree, Selection(config.include, config.exclude))
    except RefNotFound as error:
        repository.close()
        message = f"The repository has no branch, tag or commit {config.ref}."
        raise SourceUnavailable("ref-not-found", message) from error
    except BROKEN as error:
        repository.close()
        raise SourceUnavailable("repository-damaged", DAMAGED.format(type(error).__name__)) from error


class GitReader:
    """Lists and reads the files of a commit. Fingerprints are blob ids, so unchanged files are never read."""

    def __init__(self, repository: GitRepository, commit: str, tree: ObjectID, selection: Selection) -> None:
        self.repository, self.selection, self.commit, self.tree = repository, selection, commit, tree

    async def items(self) -> AsyncIterator[Item]:
        """Yields the selected files; raises SourceUnavailable if a part of the tree is missing."""
        found = self._files()
        while batch := await asyncio.to_thread(_next_batch, found):
            for one in batch:
                yield one

    async def fetch(self, item: Item, target: Path, max_bytes: int) -> Fetched:
        return await asyncio.to_thread(self._fetch, item, target, max_bytes)

    def _files(self) -> Iterator[Item]:
        for entry in iter_tree_contents(self.repository.store, self.tree, max_depth=MAX_TREE_DEPTH):
            assert entry.path is not None
            assert entry.mode is not None
            assert entry.sha is not None
            path = entry.path.decode("utf-8", "replace")
            if stat.S_ISREG(entry.mode) and self.selection.wants(path):  # not links and submodules
                uri = f"git:{quote(path)}?commit={self.commit}"
                yield Item(path, entry.sha.decode(), uri, path.rsplit("/", 1)[-1], None)

    def _fetch(self, item: Item, target: Path, max_bytes: int) -> Fetched:
        assert item.fingerprint is not None
        sha = ObjectID(item.fingerprint.encode())
        try:
            if self.repository.size(sha) > max_bytes:
                raise too_large(max_bytes)
            content = self.repository.blob(sha, max_bytes)
        except ObjectTooLarge as error:
            raise ItemRefused("too-large-to-unpack", UNPACKING.format(max_bytes)) from error
        except BROKEN as error:
            raise ItemRefused("missing-object", MISSING.format(type(error).__name__)) from error
        if content.startswith(LFS_POINTER):
            raise ItemRefused("lfs-pointer", LFS)
        if not has_extension(item.name) and media_type_of(item.name, content[:8192]) is None:
            raise ItemVanished  # a program or other data that is not a document
        with spooling(target, max_bytes) as spool:
            spool.write(content)
        return Fetched(item.fingerprint, None, item.name, spool.content_hash, spool.size)


def _next_batch(found: Iterator[Item]) -> list[Item]:
    try:
        return list(islice(found, BATCH))
    except BROKEN as error:
        raise SourceUnavailable("repository-damaged", DAMAGED.format(type(error).__name__)) from error
