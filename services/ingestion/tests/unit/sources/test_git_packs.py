"""The size of an unpacked object is known before unpacking, because a few bytes can expand to gigabytes."""

from __future__ import annotations

import zlib
from pathlib import Path

import pytest
from dulwich import porcelain
from dulwich.objects import Blob, ObjectID, RawObjectID, hex_to_sha

from ingestion.sources.git_objects import GitRepository, ObjectTooLarge
from ingestion.sources.git_packs import OFFSET_DELTA, REFERENCE_DELTA, Weight, packed_weight

BLOB = 3
GIBIBYTE = 1 << 30
BASE = RawObjectID(b"b" * 20)


def number(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def entry(kind: int, size: int, rest: bytes = b"") -> bytes:
    """Returns an object of a pack whose header declares `size`, regardless of `rest`."""
    head = kind << 4 | size & 15
    return bytes([head | 128]) + number(size >> 4) + rest if size >> 4 else bytes([head]) + rest


def difference(source: int, target: int) -> bytes:
    return zlib.compress(number(source) + number(target) + b"\x01x")


def test_a_small_delta_of_a_large_object_counts_with_its_full_size(tmp_path: Path) -> None:
    pack, base = tmp_path / "pack", entry(BLOB, GIBIBYTE, zlib.compress(b"0"))
    pack.write_bytes(base + entry(OFFSET_DELTA, 20, bytes([len(base)]) + difference(GIBIBYTE, 5)))

    def unknown(sha: RawObjectID) -> int:
        raise KeyError(sha)

    weight = packed_weight(pack, len(base), unknown)
    assert weight == Weight(size=5, largest=GIBIBYTE, differences=20)
    assert not weight.is_within(200 << 20)


def test_a_cycle_of_deltas_ends(tmp_path: Path) -> None:
    pack = tmp_path / "pack"
    pack.write_bytes(entry(REFERENCE_DELTA, 20, BASE + difference(5, 5)))
    with pytest.raises(ValueError, match="circle"):
        packed_weight(pack, 0, lambda _: 0)


def test_a_loose_object_larger_than_its_header_is_not_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "repository"
    path.mkdir()
    porcelain.init(str(path)).close()
    sha = ObjectID(b"ab" + b"0" * 38)
    file = path / ".git" / "objects" / "ab" / ("0" * 38)
    file.parent.mkdir()
    file.write_bytes(zlib.compress(b"blob 5\0" + bytes(1 << 20)))
    repository = GitRepository(path, [tmp_path])
    assert repository.size(sha) == 5
    with pytest.raises(zlib.error, match="exceeds"):
        repository.blob(sha, 1000)
    repository.close()


def test_an_object_that_is_too_large_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "repository"
    path.mkdir()
    with porcelain.init(str(path)) as made:
        blob = Blob.from_string(b"text")
        made.object_store.add_object(blob)
    repository = GitRepository(path, [tmp_path])
    assert repository.blob(blob.id, 4) == b"text"
    weights = {hex_to_sha(blob.id): Weight(5, GIBIBYTE, 20)}
    monkeypatch.setattr(repository.store, "weight", weights.get)
    with pytest.raises(ObjectTooLarge):
        repository.blob(blob.id, 200 << 20)
    repository.close()
