"""A folder as a source: which files are listed and read, and which are not accessible."""

from __future__ import annotations

import hashlib
import os
import socket
from pathlib import Path
from uuid import uuid4

import pytest

from contracts.sources import FolderConfig
from ingestion.sources import folder
from ingestion.sources.settings import Reach, SourceSettings
from ingestion.sources.source import Gap, Item, ItemRefused, ItemVanished, SourceRefused, SourceUnavailable

MAX_BYTES = 1_000_000


@pytest.fixture
def root(tmp_path: Path) -> Path:
    path = tmp_path / "documents"
    path.mkdir()
    return path


@pytest.fixture
def reach(root: Path) -> Reach:
    return SourceSettings(source_roots=(root,)).reach(uuid4(), True)


async def listed(path: Path, reach: Reach) -> dict[str, Item | Gap]:
    async with folder.open_reader(FolderConfig(path=str(path)), reach, {}, path) as reader:
        return {one.prefix if isinstance(one, Gap) else one.path: one async for one in reader.items()}


async def fetched(path: Path, item: str, reach: Reach, target: Path) -> str:
    """Fetches an item and returns its hash."""
    async with folder.open_reader(FolderConfig(path=str(path)), reach, {}, path) as reader:
        [found] = [one async for one in reader.items() if isinstance(one, Item) and one.path == item]
        result = await reader.fetch(found, target, MAX_BYTES)
    assert result.size == len(target.read_bytes())  # noqa: ASYNC240  a small file
    assert result.fingerprint == found.fingerprint
    return result.content_hash


async def test_files_are_listed_with_path_and_size(root: Path, reach: Reach, tmp_path: Path) -> None:
    (root / "a b").mkdir()
    (root / "a b" / "ü.md").write_text("text")
    found = (await listed(root, reach))["a b/ü.md"]
    assert isinstance(found, Item)
    assert (found.name, found.size) == ("ü.md", 4)
    assert found.uri == "file:a%20b/%C3%BC.md", "the path of the server is not told"
    assert await fetched(root, "a b/ü.md", reach, tmp_path / "out") == hashlib.sha256(b"text").hexdigest()


async def test_different_content_time_or_inode_gives_a_different_fingerprint(root: Path, reach: Reach) -> None:
    async def fingerprint() -> str | None:
        found = (await listed(root, reach))["a.md"]
        assert isinstance(found, Item)
        return found.fingerprint

    (root / "a.md").write_text("one")
    seen = [await fingerprint(), await fingerprint()]
    assert seen[0] == seen[1]
    os.utime(root / "a.md", ns=(1, 1))
    seen.append(await fingerprint())
    (root / "b").write_text("two")
    os.utime(root / "b", ns=(1, 1))
    (root / "b").replace(root / "a.md")
    seen.append(await fingerprint())
    assert len(set(seen)) == 3


async def test_links_are_followed_inside_the_root_and_refused_outside(root: Path, reach: Reach, tmp_path: Path) -> None:
    outside = tmp_path / "secret"
    outside.mkdir()
    (outside / "key.txt").write_text("secret")
    (root / "real.md").write_text("text")
    (root / "inside.md").symlink_to("real.md")
    (root / "outside.txt").symlink_to(outside / "key.txt")
    (root / "away").symlink_to(outside)
    (root / "nowhere.md").symlink_to("missing")
    (root / "circle").symlink_to(".")
    found = await listed(root, reach)
    assert set(found) == {"real.md", "inside.md", "outside.txt", "away/"}
    assert isinstance(found["away/"], Gap)
    with pytest.raises(ItemRefused, match="out of the folders"):
        await fetched(root, "outside.txt", reach, tmp_path / "out")


async def test_a_file_replaced_by_a_link_after_the_listing_is_not_opened(
    root: Path, reach: Reach, tmp_path: Path
) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    (root / "a.txt").write_text("text")
    async with folder.open_reader(FolderConfig(path=str(root)), reach, {}, tmp_path) as reader:
        [item] = [one async for one in reader.items() if isinstance(one, Item)]
        (root / "a.txt").unlink()
        (root / "a.txt").symlink_to(secret)
        with pytest.raises(ItemRefused):
            await reader.fetch(item, tmp_path / "out", MAX_BYTES)
        (root / "a.txt").unlink()
        with pytest.raises(ItemVanished):
            await reader.fetch(item, tmp_path / "out", MAX_BYTES)


async def test_special_files_are_never_opened(root: Path, reach: Reach, tmp_path: Path) -> None:
    os.mkfifo(root / "pipe.md")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(root / "socket.md"))
        assert await listed(root, reach) == {}
    (root / "a.md").write_text("text")
    async with folder.open_reader(FolderConfig(path=str(root)), reach, {}, tmp_path) as reader:
        [item] = [one async for one in reader.items() if isinstance(one, Item)]
        (root / "a.md").unlink()
        os.mkfifo(root / "a.md")
        with pytest.raises(ItemRefused, match="pipe"):
            await reader.fetch(item, tmp_path / "out", MAX_BYTES)


async def test_executables_without_an_extension_are_skipped(root: Path, reach: Reach, tmp_path: Path) -> None:
    (root / "tool").write_bytes(b"\x7fELF\x00\x01")
    (root / "LICENSE").write_text("free")
    await fetched(root, "LICENSE", reach, tmp_path / "out")
    with pytest.raises(ItemVanished):
        await fetched(root, "tool", reach, tmp_path / "out")


async def test_a_name_that_is_not_unicode_is_refused_with_a_reason(root: Path, reach: Reach, tmp_path: Path) -> None:
    (root / os.fsdecode(b"caf\xe9.md")).write_text("text")
    with pytest.raises(ItemRefused, match="not valid Unicode"):
        await fetched(root, "caf\N{REPLACEMENT CHARACTER}.md", reach, tmp_path / "out")


async def test_a_missing_folder_counts_as_an_unreachable_source(root: Path, reach: Reach) -> None:
    with pytest.raises(SourceUnavailable, match="cannot be read"):
        await listed(root / "gone", reach)


@pytest.mark.parametrize("path", ["/etc", "/etc/nothing-here", "{root}/..", "{root}/../documents-2", "{root}/link"])
async def test_paths_outside_the_roots_are_refused_with_the_same_message(path: str, root: Path, reach: Reach) -> None:
    (root / "link").symlink_to("/etc")
    with pytest.raises(SourceRefused, match="SOURCE_ROOTS"):
        await folder.check(FolderConfig(path=path.format(root=root)), reach)


async def test_without_roots_the_error_names_the_setting(root: Path) -> None:
    with pytest.raises(SourceRefused, match="SOURCE_ROOTS"):
        await folder.check(FolderConfig(path=str(root)), SourceSettings(source_roots=()).reach(uuid4(), True))


async def test_a_path_below_a_root_must_be_a_folder(root: Path, reach: Reach) -> None:
    (root / "team").mkdir()
    (root / "file.md").write_text("text")
    await folder.check(FolderConfig(path="team"), reach)
    with pytest.raises(SourceRefused, match="not a folder"):
        await folder.check(FolderConfig(path=str(root / "file.md")), reach)
    with pytest.raises(SourceRefused, match="No such file"):
        await folder.check(FolderConfig(path=str(root / "gone")), reach)


def test_roots_are_read_as_a_path_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_ROOTS", f"/a{os.pathsep}/b c{os.pathsep}")
    assert [root.path for root in SourceSettings().source_roots] == [Path("/a"), Path("/b c")]
    monkeypatch.setenv("SOURCE_ROOTS", "")
    assert SourceSettings().source_roots == ()
