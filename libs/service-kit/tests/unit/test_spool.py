import errno
import hashlib
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service_kit.spool import HEAD_BYTES, Spool, is_disk_full, temporary_spool


@given(st.lists(st.binary(max_size=5000), max_size=8))
def test_size_hash_and_head_describe_the_whole_content(pieces: list[bytes]) -> None:
    file = BytesIO()
    spool = Spool(Path("unused"), file, 10**9)
    spool.write(b"of an earlier body")
    spool.restart()
    for piece in pieces:
        spool.write(piece)
    body = b"".join(pieces)
    assert file.getvalue() == body
    assert (spool.size, spool.head, spool.is_too_large) == (len(body), body[:HEAD_BYTES], False)
    assert spool.content_hash == hashlib.sha256(body).hexdigest()


def test_beyond_the_limit_only_the_size_is_counted(tmp_path: Path) -> None:
    with temporary_spool(tmp_path, "upload-", 4) as spool:
        spool.write(b"1234")
        assert not spool.is_too_large
        spool.write(b"5")
        spool.write(b"67")
        assert (spool.is_too_large, spool.size) == (True, 7)
        spool.flush()
        assert spool.path.read_bytes() == b"1234"


def test_the_temporary_file_is_deleted_at_the_end(tmp_path: Path) -> None:
    with temporary_spool(tmp_path, "upload-", 10) as spool:
        spool.write(b"1")
        spool.flush()
        assert spool.path.read_bytes() == b"1"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("number", "full"), [(errno.ENOSPC, True), (errno.EDQUOT, True), (errno.EIO, False)])
def test_a_full_disk_is_distinguished_from_other_errors(number: int, full: bool) -> None:
    assert is_disk_full(OSError(number, "")) is full
