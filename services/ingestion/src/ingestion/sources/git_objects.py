"""A repository as files to read: its references and objects, found without its configuration, hooks or work tree."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from pathlib import Path

from dulwich.object_store import DiskObjectStore
from dulwich.objects import Commit, ObjectID, ShaFile, Tag, hex_to_sha
from dulwich.refs import DiskRefsContainer, Ref

from ingestion.sources.allowed_paths import located

MAX_TREE_DEPTH = 100
# Types of objects in a pack that are stored as a difference (gitformat-pack).
OFFSET_DELTA, REFERENCE_DELTA = 6, 7
HASH_BYTES, HEX_DIGITS = 20, 40


class NotARepository(Exception):
    """The message is a sentence."""


class RefNotFound(Exception):
    """No branch, tag or commit of this name."""


class GitRepository:
    """A repository below `roots`, which none of its parts may leave. Raises NotARepository, NotAllowed and OSError."""

    def __init__(self, path: Path, roots: Sequence[Path]) -> None:
        git = _git_folder(path, roots)
        shared = _named_folder(git / "commondir", git, roots) if (git / "commondir").is_file() else git
        objects = located(str(shared / "objects"), roots)
        alternates = objects / "info" / "alternates"
        for line in alternates.read_text(errors="replace").splitlines() if alternates.is_file() else ():
            located(str(objects / line), roots)
        self.objects = objects
        self.refs = DiskRefsContainer(shared, worktree_path=git)
        self.store = DiskObjectStore(objects, max_tree_depth=MAX_TREE_DEPTH)

    def close(self) -> None:
        self.store.close()

    def commit(self, ref: str) -> Commit:
        """Finds the commit of a branch, a tag, a full name, or an id of seven digits or more. Raises RefNotFound."""
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
        """Returns the size of an object's content in bytes, without unpacking it. Raises KeyError if it is missing."""
        for pack in self.store.packs:
            try:
                offset = pack.index.object_offset(hex_to_sha(sha))
            except KeyError:
                continue
            return _packed_size(Path(self.store.pack_dir) / Path(pack.data.filename).name, offset)
        name = sha.decode()
        loose = self.objects / name[:2] / name[2:]
        if not loose.is_file():
            raise KeyError(name)
        with loose.open("rb") as file:
            header = zlib.decompressobj().decompress(file.read(128), 64)  # for instance: blob 1234, NUL, content
        return int(header.partition(b"\0")[0].split()[1])

    def blob(self, sha: ObjectID) -> bytes:
        """Returns the content; look at its size first. Raises KeyError when it is missing."""
        return self.store.get_raw(sha)[1]

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
    if inside.is_file():  # a linked work tree, or a submodule
        return _named_folder(inside, path, roots)
    git = located(str(inside), roots) if inside.is_dir() else path
    if not (git / "objects").is_dir() or not (git / "HEAD").exists():
        raise NotARepository(f"{path.name} is not a git repository.")
    return git


def _named_folder(file: Path, relative_to: Path, roots: Sequence[Path]) -> Path:
    """The folder that the first line of the file names."""
    line = file.read_text(errors="replace")[:4096].partition("\n")[0].removeprefix("gitdir:").strip()
    return located(str(relative_to / line), roots)


def _packed_size(pack: Path, offset: int) -> int:
    with pack.open("rb") as file:
        file.seek(offset)
        byte = file.read(1)[0]
        kind, size, shift = (byte >> 4) & 7, byte & 15, 4
        while byte & 128:
            byte = file.read(1)[0]
            size |= (byte & 127) << shift
            shift += 7
        if kind == REFERENCE_DELTA:
            file.seek(HASH_BYTES, 1)
        elif kind == OFFSET_DELTA:
            while file.read(1)[0] & 128:
                pass
        else:
            return size
        # A difference begins with the sizes of what it starts from and of what it makes.
        begin = zlib.decompressobj().decompress(file.read(64), 32)
    _, position = _number(begin, 0)
    return _number(begin, position)[0]


def _number(data: bytes, position: int) -> tuple[int, int]:
    value, shift = 0, 0
    while True:
        byte = data[position]
        position += 1
        value |= (byte & 127) << shift
        shift += 7
        if not byte & 128:
            return value, position
