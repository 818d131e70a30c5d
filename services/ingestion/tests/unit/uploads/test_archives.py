"""Archives are expanded within their limits, regardless of their headers."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import lzma
import stat
import struct
import tarfile
import zipfile
from collections.abc import Callable
from contextlib import aclosing, closing
from pathlib import Path

import pytest

from ingestion.documents.incoming_files import IncomingFile
from ingestion.documents.refusals import Refused
from ingestion.uploads.archives import ArchiveLimits
from ingestion.uploads.archives.expansion import Expander, archive_kind
from ingestion.uploads.archives.naming import member_path

LIMITS = ArchiveLimits(files=50, total_bytes=40_000_000, ratio=200, file_bytes=1_000_000)
Files = dict[str, bytes]
NOTES: Files = {"notes.md": b"# Notes", "deep/er/table.csv": b"a,b\n1,2"}


def zipped(files: Files, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def tarred(files: Files, *others: tarfile.TarInfo) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for other in others:
            archive.addfile(other)
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


async def members(
    archive: bytes, folder: Path, name: str, limits: ArchiveLimits = LIMITS
) -> list[tuple[str, str | bytes]]:
    """Returns (path, content or slug of the refusal) for each member."""
    path = folder / "archive"
    path.write_bytes(archive)
    kind = archive_kind(name, archive[:8192])
    assert kind is not None
    found: list[tuple[str, str | bytes]] = []
    with closing(Expander(limits, folder)) as expander:
        async for member in expander.expanded(path, kind):
            if isinstance(member.content, Refused):
                found.append((member.path, member.content.error))
            else:
                found.append((member.path, checked(member.content)))
    assert names(folder) == ["archive"]
    return found


def names(folder: Path) -> list[str]:
    return [one.name for one in folder.iterdir()]


def checked(file: IncomingFile) -> bytes:
    content = file.path.read_bytes()
    if file.size <= LIMITS.file_bytes:
        assert (file.size, file.content_hash) == (len(content), hashlib.sha256(content).hexdigest())
        assert file.head == content[:8192]
    return content


@pytest.mark.parametrize(
    ("name", "pack"),
    [
        ("a.zip", zipped),
        ("a.ZIP", lambda files: zipped(files, zipfile.ZIP_BZIP2)),
        ("a.tar", tarred),
        ("a.tar.gz", lambda files: gzip.compress(tarred(files))),
        ("a.tgz", lambda files: gzip.compress(tarred(files))),
        ("a.tar.bz2", lambda files: bz2.compress(tarred(files))),
        ("a.tar.xz", lambda files: lzma.compress(tarred(files))),
        ("backup", zipped),
        ("backup", tarred),
    ],
)
async def test_files_are_expanded_unchanged(tmp_path: Path, name: str, pack: Callable[[Files], bytes]) -> None:
    assert dict(await members(pack(NOTES), tmp_path, name)) == NOTES


@pytest.mark.parametrize("pack", [zipped, tarred])
async def test_each_rejected_file_in_an_archive_has_a_reason(tmp_path: Path, pack: Callable[[Files], bytes]) -> None:
    files = {
        "good.md": b"# Good",
        "../../etc/notes.md": b"x",
        "/etc/notes.md": b"x",
        "C:\\notes.md": b"x",
        "inner.zip": zipped(NOTES),
        "tool.exe": b"MZ",
        "__MACOSX/._good.md": b"x",
        "large.txt": b"x" * 1_000_001,
        "last.md": b"# Last",
    }
    found = dict(await members(pack(files), tmp_path, "a.zip" if pack is zipped else "a.tar"))
    large = found.pop("large.txt")  # truncated at the limit; the intake refuses it by its size
    assert isinstance(large, bytes)
    assert len(large) <= 1_000_000
    assert found == {
        "good.md": b"# Good",
        "../../etc/notes.md": "unsafe-path",
        "/etc/notes.md": "unsafe-path",
        "C:\\notes.md": "unsafe-path",
        "inner.zip": "nested-archive",
        "tool.exe": "unsupported-format",
        "__MACOSX/._good.md": "not-a-file",
        "last.md": b"# Last",
    }


async def test_links_and_devices_in_a_tar_are_rejected(tmp_path: Path) -> None:
    others = []
    for name, kind in [("link.md", tarfile.SYMTYPE), ("hard.md", tarfile.LNKTYPE), ("null.md", tarfile.CHRTYPE)]:
        info = tarfile.TarInfo(name)
        info.type, info.linkname = kind, "/etc/passwd"
        others.append(info)
    found = await members(tarred(NOTES, *others), tmp_path, "a.tar")
    assert dict(found) == {"link.md": "not-a-file", "hard.md": "not-a-file", "null.md": "not-a-file", **NOTES}


async def test_links_and_encrypted_members_of_a_zip_are_rejected(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        link = zipfile.ZipInfo("link.md")
        link.create_system, link.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
        archive.writestr("secret.md", "text")
        archive.writestr("good.md", "text")
    content = bytearray(buffer.getvalue())
    at = content.rfind(b"PK\x01\x02", 0, content.rfind(b"secret.md"))
    content[at + 8] |= 1
    found = await members(bytes(content), tmp_path, "a.zip")
    assert found == [("link.md", "not-a-file"), ("secret.md", "encrypted"), ("good.md", b"text")]


@pytest.mark.parametrize(
    ("name", "bomb"),
    [
        ("a.zip", lambda: zipped({f"{index}.txt": b"0" * 999_999 for index in range(49)})),
        ("a.tar.gz", lambda: gzip.compress(tarred({f"{index}.txt": b"0" * 999_999 for index in range(49)}))),
        ("a.tar.xz", lambda: lzma.compress(tarred({f"{index}.txt": b"0" * 999_999 for index in range(49)}))),
        ("a.tar.gz", lambda: gzip.compress(tarred({"large.exe": b"0" * 60_000_000}))),
    ],
)
async def test_expansion_stops_at_the_byte_limit(tmp_path: Path, name: str, bomb: Callable[[], bytes]) -> None:
    found = await members(bomb(), tmp_path, name)
    assert found[-1] == ("", "archive-too-large")


async def test_expansion_stops_at_the_file_limit(tmp_path: Path) -> None:
    for name, pack in [("a.zip", zipped), ("a.tar", tarred)]:
        found = await members(pack({f"{index}.txt": b"x" for index in range(51)}), tmp_path, name)
        assert (len(found), found[-1]) == (51, ("", "archive-too-large"))


async def test_an_oversized_header_is_rejected(tmp_path: Path) -> None:
    info = tarfile.TarInfo("././@PaxHeader")
    info.type, info.size = tarfile.XHDTYPE, 8_000_000
    record = info.tobuf(tarfile.USTAR_FORMAT) + b"9" * 8_000_000
    assert await members(gzip.compress(record), tmp_path, "a.tar.gz") == [("", "archive-too-large")]


async def test_an_oversized_directory_is_rejected(tmp_path: Path) -> None:
    whole = bytearray(zipped(NOTES))
    at = whole.rfind(b"PK\x05\x06")
    struct.pack_into("<L", whole, at + 12, 2**30)
    assert await members(bytes(whole), tmp_path, "a.zip") == [("", "archive-too-large")]


@pytest.mark.parametrize(
    ("name", "archive"),
    [
        ("a.zip", b"no archive at all"),
        ("a.tar", b"no archive at all" * 100),
        ("a.tar.gz", gzip.compress(b"no archive at all" * 100, mtime=0)),
        ("a.tar.gz", gzip.compress(tarred(NOTES), mtime=0)[:-40]),
        ("a.tar.xz", lzma.compress(tarred(NOTES))[:60]),
        ("a.tar.bz2", b"BZh9" + b"x" * 100),
    ],
)
async def test_a_damaged_archive_is_reported(tmp_path: Path, name: str, archive: bytes) -> None:
    assert (await members(archive, tmp_path, name))[-1] == ("", "archive-damaged")


async def test_a_damaged_file_in_an_archive_does_not_stop_the_others(tmp_path: Path) -> None:
    archive = bytearray(zipped({"first.txt": b"first" * 100, "second.txt": b"second"}, zipfile.ZIP_STORED))
    archive[archive.find(b"firstfirst")] ^= 1
    found = await members(bytes(archive), tmp_path, "a.zip")
    assert found == [("first.txt", "member-damaged"), ("second.txt", b"second")]


async def test_an_interrupted_expansion_leaves_no_file(tmp_path: Path) -> None:
    path = tmp_path / "archive"
    path.write_bytes(zipped(NOTES))
    with closing(Expander(LIMITS, tmp_path)) as expander:
        async with aclosing(expander.expanded(path, "zip")) as expanding:
            async for _ in expanding:
                break
        assert names(tmp_path) == ["archive"]


def test_office_documents_are_not_archives() -> None:
    head = zipped({"[Content_Types].xml": b"<x/>"})
    assert archive_kind("report.docx", head) is None
    assert archive_kind("report", head) is None
    assert archive_kind("book.epub", zipped({"mimetype": b"application/epub+zip"})) is None
    assert archive_kind("notes.md.gz", gzip.compress(b"x")) is None
    assert archive_kind("page.html", b"PK\x03\x04") is None


def test_a_path_keeps_its_folders() -> None:
    assert member_path("./docs//guide\\a.md") == "docs/guide/a.md"
    assert isinstance(member_path(".."), Refused)
    assert isinstance(member_path(""), Refused)
    assert isinstance(member_path("x/" * 500 + "a.md"), Refused)
