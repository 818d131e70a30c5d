"""The time limit of a conversion depends on the file, so that small ones cannot hold a slot for ten minutes."""

from __future__ import annotations

from pathlib import Path

import pytest

from ingestion.conversion import Limits
from ingestion.conversion.time_limit import limits_for

LIMITS = Limits(seconds=600, memory_bytes=1, pages=1, input_bytes=1)


def seconds(folder: Path, content: bytes, limits: Limits = LIMITS) -> float:
    file = folder / "file"
    file.write_bytes(content)
    return limits_for(file, limits).seconds


def test_the_time_limit_of_a_small_file_is_two_minutes(tmp_path: Path) -> None:
    assert seconds(tmp_path, b"x" * 40) == 121


def test_the_setting_is_the_upper_bound_for_any_file(tmp_path: Path) -> None:
    assert seconds(tmp_path, b"x" * (10 << 20)) == 600
    assert seconds(tmp_path, b"x", Limits(5, 1, 1, 1)) == 5


@pytest.mark.parametrize("head", [b"%PDF-1.7", b"\x89PNG\r\n\x1a\n", b"PK\x03\x04", b"RIFF0000WEBP"])
def test_rendered_and_compressed_formats_get_more_time_than_text(tmp_path: Path, head: bytes) -> None:
    rest = b"x" * (100 << 10)
    assert 600 >= seconds(tmp_path, head + rest) > seconds(tmp_path, rest) > 120
