"""A git repository as a source: files as of a commit, from loose objects and packs."""

from __future__ import annotations

import hashlib
from pathlib import Path
from uuid import uuid4

import pytest
from dulwich import porcelain
from dulwich.objects import Blob, Commit, Tree
from dulwich.repo import Repo

from contracts.sources import GitConfig
from ingestion.sources import git
from ingestion.sources.settings import Reach, SourceSettings
from ingestion.sources.source import Item, ItemRefused, SourceRefused, SourceUnavailable

MAX_BYTES = 100_000
WHO = b"Ada <ada@example.org>"
LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"


@pytest.fixture
def reach(tmp_path: Path) -> Reach:
    return SourceSettings(source_roots=(tmp_path,)).reach(uuid4(), True)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A repository with a work tree, one commit on `main`."""
    path = tmp_path / "repository"
    porcelain.init(str(path)).close()
    commit(path, {"docs/a.md": b"first", "LICENSE": b"free"})
    return path


def commit(path: Path, files: dict[str, bytes]) -> str:
    for name, content in files.items():
        (path / name).parent.mkdir(exist_ok=True)
        (path / name).write_bytes(content)
    porcelain.add(str(path), [str(path / name) for name in files])
    made = porcelain.commit(str(path), message=b"change", author=WHO, committer=WHO)
    return bytes(made).decode()


async def listed(path: Path, reach: Reach, ref: str = "HEAD") -> dict[str, Item]:
    async with git.open_reader(GitConfig(path=str(path), ref=ref), reach, {}, path) as reader:
        return {item.path: item async for item in reader.items()}


async def read(path: Path, name: str, reach: Reach, ref: str = "HEAD") -> str:
    async with git.open_reader(GitConfig(path=str(path), ref=ref), reach, {}, path) as reader:
        [item] = [item async for item in reader.items() if item.path == name]
        return (await reader.fetch(item, path.parent / "out", MAX_BYTES)).content_hash


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


async def test_files_come_from_the_commit_and_not_the_work_tree(path: Path, reach: Reach) -> None:
    (path / "docs" / "a.md").write_text("not committed")
    (path / "docs" / "b.md").write_text("not committed")
    found = await listed(path, reach)
    assert set(found) == {"docs/a.md", "LICENSE"}
    assert await read(path, "docs/a.md", reach) == sha256(b"first")


async def test_an_unchanged_file_keeps_its_fingerprint_across_commits(path: Path, reach: Reach) -> None:
    before = await listed(path, reach)
    second = commit(path, {"docs/a.md": b"second"})
    after = await listed(path, reach)
    assert before["LICENSE"].fingerprint == after["LICENSE"].fingerprint
    assert before["docs/a.md"].fingerprint != after["docs/a.md"].fingerprint
    assert after["docs/a.md"].uri == f"git:docs/a.md?commit={second}"


async def test_a_branch_a_tag_or_a_commit_can_be_selected(path: Path, reach: Reach) -> None:
    with Repo(str(path)) as repository:
        first = repository.head().decode()
    porcelain.tag_create(str(path), b"v1", message=b"one", annotated=True, author=WHO)
    porcelain.branch_create(str(path), "old")
    commit(path, {"docs/a.md": b"second"})
    for ref in ("v1", "old", "refs/heads/old", first, first[:10]):
        assert await read(path, "docs/a.md", reach, ref) == sha256(b"first"), ref
    assert await read(path, "docs/a.md", reach) == sha256(b"second")
    with pytest.raises(SourceUnavailable, match="no branch, tag or commit nothing"):
        await listed(path, reach, "nothing")


async def test_packed_and_bare_repositories_are_read(path: Path, reach: Reach) -> None:
    text = b"".join(b"line %d\n" % number for number in range(3000))
    commit(path, {"long.md": text})
    commit(path, {"long.md": text + b"end\n"})
    commit(path, {"large.md": b"0" * (MAX_BYTES + 1)})
    with pytest.raises(ItemRefused, match="larger"):
        await read(path, "large.md", reach)
    porcelain.pack_refs(str(path), all=True)
    with Repo(str(path)) as repository:
        repository.object_store.repack()
    assert await read(path, "long.md", reach) == sha256(text + b"end\n")
    with pytest.raises(ItemRefused, match="larger"):
        await read(path, "large.md", reach)
    assert await read(path / ".git", "long.md", reach) == sha256(text + b"end\n")


async def test_links_and_submodules_are_skipped_and_lfs_pointers_are_refused(path: Path, reach: Reach) -> None:
    with Repo(str(path)) as repository:
        blob, pointer = Blob.from_string(b"/etc/passwd"), Blob.from_string(LFS)
        tree = Tree()
        tree.add(b"link.md", 0o120000, blob.id)
        tree.add(b"module.md", 0o160000, repository.head())
        tree.add(b"large.pdf", 0o100644, pointer.id)
        made = Commit()
        made.tree, made.author, made.committer, made.message = tree.id, WHO, WHO, b"odd"
        made.author_time = made.commit_time = made.author_timezone = made.commit_timezone = 0
        for one in (blob, pointer, tree, made):
            repository.object_store.add_object(one)
        repository.refs[b"refs/heads/odd"] = made.id
    assert set(await listed(path, reach, "odd")) == {"large.pdf"}
    with pytest.raises(ItemRefused, match="Git LFS"):
        await read(path, "large.pdf", reach, "odd")


async def test_a_missing_object_is_reported_and_does_not_stop_the_rest(path: Path, reach: Reach) -> None:
    blob = (await listed(path, reach))["docs/a.md"].fingerprint
    assert blob
    (path / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(ItemRefused, match="lacks the file's content"):
        await read(path, "docs/a.md", reach)
    assert await read(path, "LICENSE", reach) == sha256(b"free")


async def test_paths_outside_the_roots_are_refused(path: Path, tmp_path: Path) -> None:
    inside = SourceSettings(source_roots=(tmp_path / "inside",)).reach(uuid4(), True)
    (tmp_path / "inside" / "tree").mkdir(parents=True)
    (tmp_path / "inside" / "tree" / ".git").write_text(f"gitdir: {path / '.git'}\n")
    for place in (tmp_path / "inside" / "tree", path):
        with pytest.raises(SourceRefused, match="SOURCE_ROOTS"):
            await git.check(GitConfig(path=str(place)), inside)
    borrowing = porcelain.init(str(tmp_path / "inside" / "borrowing"))
    borrowing.close()
    (tmp_path / "inside" / "borrowing" / ".git" / "objects" / "info" / "alternates").write_text(
        f"{path / '.git' / 'objects'}\n"
    )
    with pytest.raises(SourceRefused, match="SOURCE_ROOTS"):
        await git.check(GitConfig(path=str(tmp_path / "inside" / "borrowing")), inside)


async def test_a_folder_without_a_repository_is_refused(tmp_path: Path, reach: Reach) -> None:
    (tmp_path / "plain").mkdir()
    with pytest.raises(SourceRefused, match="not a git repository"):
        await git.check(GitConfig(path=str(tmp_path / "plain")), reach)
