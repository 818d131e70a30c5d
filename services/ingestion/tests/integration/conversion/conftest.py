"""Fixtures: a warmed converter for the session, and a function that runs it on a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import pytest

from contracts.ingestion import Chunk
from ingestion.conversion import ConversionProgress, Converted, Converter, Limits

DOCUMENT = UUID("00000000-0000-4000-8000-000000000001")


@dataclass(frozen=True)
class Result:
    converted: Converted
    chunks: list[Chunk]
    markdown: str
    progress: list[ConversionProgress]


Convert = Callable[..., Result]


@pytest.fixture(scope="session")
def converter() -> Iterator[Converter]:
    with Converter() as converter:
        yield converter


@pytest.fixture(scope="session")
def limits() -> Limits:
    return Limits(seconds=120, memory_bytes=3 << 30, pages=100, input_bytes=50 << 20)


@pytest.fixture
def convert(converter: Converter, limits: Limits, tmp_path: Path) -> Convert:
    def run(content: bytes | str | Path, name: str, limits: Limits = limits) -> Result:
        source = content if isinstance(content, Path) else tmp_path / "source"
        if not isinstance(content, Path):
            source.write_bytes(content.encode() if isinstance(content, str) else content)
        output = tmp_path / "output"
        output.mkdir(exist_ok=True)
        progress: list[ConversionProgress] = []
        converted = converter.convert(source, name, DOCUMENT, output, limits, progress.append)
        rows = (output / "chunks.jsonl").read_text(encoding="utf-8").splitlines()
        return Result(
            converted,
            [Chunk.model_validate_json(row) for row in rows],
            (output / "document.md").read_text(encoding="utf-8"),
            progress,
        )

    return run


@pytest.fixture(scope="session")
def evaluation_files() -> Path:
    """The folder of evaluation documents, which is beside the repository because they may not be copied into it."""
    folder = Path(__file__).resolve().parents[5].parent / "shared" / "eval"
    if not folder.is_dir():
        pytest.skip(f"the evaluation files are not at {folder}")
    return folder
