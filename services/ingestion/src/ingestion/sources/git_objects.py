"""Reads a repository's references and objects, without its configuration, hooks or work tree."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from pathlib import Path

from dulwich.object_store import DiskObjectStore
from dulwich.objects import Commit, ObjectID, RawObjectID, ShaFile, Tag, hex_to_sha
from dulwich.refs import DiskRefsContainer, Ref

from ingestion.sources.allowed_paths import located
from ingestion.sources.git_packs import Weight, packed_weight

MAX_TREE_DEPTH = 100
HEX_DIGITS = 40
LOOSE_HEAD_BYTES = 32
# For commits, tags and trees; the tree of a folder with 100,000 files has about 4 MiB.
STRUCTURE_BYTES = 64 * 1024 * 1024


class NotARepository(Exception):
    """There is no git repository. The message is a sentence for users."""


class RefNotFound(Exception):
    """There is no branch, tag or commit of this name."""


class ObjectTooLarge(ValueError):
    """Unpacking the object takes more bytes than allowed, even if the object itself is small."""


class _BoundedStore(DiskObjectStore):
    """Checks what unpacking an object takes before doing it: a few kilobytes can expand to gigabytes."""

    allowed_bytes = STRUCTURE_BYTES

    def get_raw(self, name: RawObjectID | ObjectID) -> tuple[int, bytes]:
        """Returns the type and content; raises ObjectTooLarge, and zlib.error if the object understates its size."""
        raw = hex_to_sha(ObjectID(name)) if len(name) == HEX_DIGITS else RawObjectID(name)
        self.loose_object_size_limit = self.allowed_bytes + LOOSE_HEAD_BYTES
        weight = self.weight(raw)
        if weight is not None and not weight.is_within(self.allowed_bytes):
            raise ObjectTooLarge
        return super().get_raw(name)

    def weight(self, sha: RawObjectID) -> Weight | None:
        """Returns what unpacking takes; None for an object that is not in a pack of this repository."""
        for pack in self.packs:
            try:
                offset = pack.index.object_offset(sha)
            except KeyError:
                continue
            path = Path(self.pack_dir) / Path(pack.data.filename).name
            return packed_weight(path, offset, pack.index.object_offset)
        return None


class GitRepository:
    """A repository with all its parts below `roots`. Raises NotARepository, NotAllowed and OSError."""

    def __init__(self, path: Path, roots: Sequence[Path]) -> None:
        git = _git_folder(path, roots)
        shared = _named_folder(git / "commondir", git, roots) if (git / "commondir").is_file() else git
        objects = located(str(shared / "objects"), roots)
        alternates = objects / "info" / "alternates"
        for line in alternates.read_text(errors="replace").splitlines() if alternates.is_file() else ():
            located(str(objects / line), roots)
        self.objects = objects
        self.refs = DiskRefsContainer(shared, worktree_path=git)
        self.store = _BoundedStore(objects, max_tree_depth=MAX_TREE_DEPTH)

    def close(self) -> None:
        self.store.close()

    def commit(self, ref: str) -> Commit:
        """Returns the commit of a branch, tag, full ref name, or id of at least seven digits. Raises RefNotFound."""
        names = (ref, f"refs/{ref}", f"refs/heads/{ref}", f"refs/tags/{ref}", f"refs/remotes/origin/{ref}")
        for name in names:
            try:
                found = self._peeled(self.refs[Ref(name.encode())])
            except (KeyError, ValueError):
                continue
            return found
        for sha in self._abbreviated(ref):
            return self._peeled(sha)
        raise RefNotFound

    def size(self, sha: ObjectID) -> int:
        """Returns the size in bytes that an object declares. Raises KeyError if it is missing."""
        weight = self.store.weight(hex_to_sha(sha))
        if weight is not None:
            return weight.size
        name = sha.decode()
        loose = self.objects / name[:2] / name[2:]
        if not loose.is_file():
            raise KeyError(name)
        with loose.open("rb") as file:
            header = zlib.decompressobj().decompress(file.read(128), 64)  # for example "blob 1234", NUL, content
        return int(header.partition(b"\0")[0].split()[1])

    def blob(self, sha: ObjectID, max_bytes: int) -> bytes:
        """Returns the content. Raises KeyError if it is missing, ObjectTooLarge, and other errors if it is damaged."""
        self.store.allowed_bytes = max_bytes
        try:
            return self.store.get_raw(sha)[1]
        finally:
            self.store.allowed_bytes = STRUCTURE_BYTES

    def _abbreviated(self, ref: str) -> list[ObjectID]:
        if not 7 <= len(ref) <= HEX_DIGITS or set(ref.lower()) - set("0123456789abcdef"):
            return []
        found = list(self.store.iter_prefix(ref.lower().encode()))
        return found if len(found) == 1 else []

    def _peeled(self, sha: ObjectID) -> Commit:
        found: ShaFile = self.store[sha]
        while isinstance(found, Tag):
            found = self.store[found.object[1]]
        if not isinstance(found, Commit):
            raise RefNotFound
        return found


def _git_folder(path: Path, roots: Sequence[Path]) -> Path:
    inside = path / ".git"
    if inside.is_file():  # a linked work tree or a submodule
        return _named_folder(inside, path, roots)
    git = located(str(inside), roots) if inside.is_dir() else path
    if not (git / "objects").is_dir() or not (git / "HEAD").exists():
        raise NotARepository(f"{path.name} is not a git repository.")
    return git


def _named_folder(file: Path, relative_to: Path, roots: Sequence[Path]) -> Path:
    """Returns the folder that the file's first line names."""
    line = file.read_text(errors="replace")[:4096].partition("\n")[0].removeprefix("gitdir:").strip()
    return located(str(relative_to / line), roots)
