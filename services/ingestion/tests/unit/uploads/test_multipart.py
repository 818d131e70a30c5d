from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from ingestion.uploads.errors import BadMultipart, NotMultipart
from ingestion.uploads.multipart import received_files

CONTENT_TYPE = "multipart/form-data; boundary=XX"


def part(body: bytes, disposition: str = 'form-data; name="files"; filename="a.md"') -> bytes:
    return b"--XX\r\nContent-Disposition: " + disposition.encode() + b"\r\n\r\n" + body + b"\r\n"


async def pieces(body: bytes, size: int) -> AsyncIterator[bytes]:
    for start in range(0, len(body), size):
        yield body[start : start + size]


def is_empty(folder: Path) -> bool:
    return list(folder.iterdir()) == []


async def receive(
    body: bytes, folder: Path, size: int = 7, limit: int = 10_000_000, content_type: str = CONTENT_TYPE
) -> list[tuple[str, bytes, bool]]:
    """Returns (name, content, too large) of each file."""
    found = []
    async for one in received_files(content_type, pieces(body, size), folder, limit):
        file, too_large = one.file, one.file.size > limit
        content = file.path.read_bytes()
        if not too_large:
            assert file.size == len(content)
            assert file.content_hash == hashlib.sha256(content).hexdigest()
        found.append((file.name, content, too_large))
    return found


@pytest.mark.parametrize("size", [1, 7, 1000, 10_000_000])
async def test_files_are_complete_wherever_the_body_is_split(tmp_path: Path, size: int) -> None:
    big = bytes(range(256)) * 12000
    body = (
        part(b"one\r\n--X") + part(big if size > 1 else b"two", 'form-data; name="files"; filename="b.md"') + b"--XX--"
    )
    found = await receive(body, tmp_path, size)
    assert found == [("a.md", b"one\r\n--X", False), ("b.md", big if size > 1 else b"two", False)]
    assert is_empty(tmp_path)


async def test_a_file_beyond_the_limit_does_not_stop_the_next(tmp_path: Path) -> None:
    found = await receive(part(b"x" * 101) + part(b"fits") + b"--XX--", tmp_path, limit=100)
    assert [(content if not large else None, large) for _, content, large in found] == [(None, True), (b"fits", False)]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"nonsense",
        b"--YY\r\n\r\n",
        part(b"cut off"),
        part(b"cut off")[:-5],
        b"--XX\r\n\r\nno header\r\n--XX--",
        b"--XX\r\nContent-Disposition: form-data\r\n\r\nno name\r\n--XX--",
        b"--XX\r\nContent-Disposition: " + b"a" * 100_000 + b"\r\n\r\n\r\n--XX--",
        b"--XX\r\n\x00: \xff\r\n\r\n\r\n--XX--",
    ],
)
async def test_a_malformed_body_is_rejected(tmp_path: Path, body: bytes) -> None:
    with pytest.raises(BadMultipart):
        await receive(body, tmp_path)
    assert is_empty(tmp_path)


@pytest.mark.parametrize("content_type", ["multipart/form-data", "multipart/form-data; boundary=" + "x" * 500])
async def test_a_valid_boundary_is_required(tmp_path: Path, content_type: str) -> None:
    with pytest.raises(BadMultipart):
        await receive(b"", tmp_path, content_type=content_type)


@pytest.mark.parametrize("content_type", ["", "application/json", "text/plain; boundary=XX"])
async def test_another_content_type_is_rejected(tmp_path: Path, content_type: str) -> None:
    with pytest.raises(NotMultipart):
        await receive(b"", tmp_path, content_type=content_type)


async def test_file_names_need_not_be_utf_8(tmp_path: Path) -> None:
    for raw, name in [("Übung.md".encode(), "Übung.md"), (b"\xdcbung.md", "\ufffdbung.md")]:
        disposition = b'form-data; name="files"; filename="' + raw + b'"'
        body = b"--XX\r\nContent-Disposition: " + disposition + b"\r\n\r\ntext\r\n--XX--"
        assert [found[0] for found in await receive(body, tmp_path)] == [name]


async def test_headers_are_bounded(tmp_path: Path) -> None:
    with pytest.raises(BadMultipart):
        await receive(part(b"", 'form-data; name="files"' + "\r\nX-More: 1" * 20), tmp_path)
