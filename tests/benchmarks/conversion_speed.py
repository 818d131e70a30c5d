"""Conversion by the worker's converter, one file at a time, against a plain Docling loop over the same files."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from uuid import UUID

import psutil
from api_calls import EVALUATION
from benchmarks.figures import Row

from ingestion.conversion import Converted, Converter, Limits, Setup

Seconds = tuple[float, float]
THREADS = 2
PROPOSALS = 60
CONVERSIONS = 300
LIMITS = Limits(seconds=300, memory_bytes=3 << 30, pages=1000, input_bytes=200 << 20)
LEFT_OUT = {"doc", "ppt", "pdf_password"}  # they need LibreOffice, or a password


def conversion_speed() -> list[Row]:
    documents, proposals = _documents(), _proposals()
    if not documents or not proposals:
        return [("conversion", "../shared/eval is not here", "0.9 of bare docling")]
    files = documents + proposals
    bare = _bare(files)
    with Converter(Setup(threads=THREADS)) as converter, tempfile.TemporaryDirectory() as folder:
        _convert(converter, proposals[0], Path(folder))  # the fork server starts with the first
        converted: dict[Path, Converted] = {}
        own: dict[Path, float] = {}
        for file in files:
            began = time.perf_counter()
            converted[file] = _convert(converter, file, Path(folder))
            own[file] = time.perf_counter() - began
    paged = [file for file in files if converted[file].pages and converted[file].engine.startswith("docling/rapid")]
    pages = sum(converted[file].pages or 0 for file in paged)
    return [
        _row("documents of many formats", len(documents), "documents", documents, own, bare),
        _row("proposals in reStructuredText", len(proposals), "documents", proposals, own, bare),
        _row("all of them", len(files), "documents", files, own, bare),
        _row("PDF files and images", pages, "pages", paged, own, bare),
    ]


def conversion_memory() -> list[Row]:
    """Compares resident memory in the first and last tenth of many conversions, with the fork server's."""
    files = _documents() + _proposals()
    if not files:
        return [("memory of conversions", "../shared/eval is not here", "no trend")]
    caller, server, children = [], [], []
    with Converter(Setup(threads=THREADS)) as converter, tempfile.TemporaryDirectory() as folder:
        for number in range(CONVERSIONS):
            _convert(converter, files[number % len(files)], Path(folder))
            me = psutil.Process()
            caller.append(me.memory_info().rss)
            servers = [each for each in me.children() if "forkserver" in " ".join(each.cmdline())]
            server.append(sum(each.memory_info().rss for each in servers))
            children.append(sum(_resident(child) for each in servers for child in each.children()))
    most = f"{_trend(children)}, at most {max(children) >> 20} MiB"
    return [
        (f"memory over {CONVERSIONS} conversions: worker", _trend(caller), "no trend"),
        (f"memory over {CONVERSIONS} conversions: fork server", _trend(server), "no trend"),
        (f"memory over {CONVERSIONS} conversions: their processes", most, "recycled above 1024 MiB"),
    ]


def _documents() -> list[Path]:
    manifest = EVALUATION / "doc-convert" / "manifest.jsonl"
    rows = [json.loads(line) for line in manifest.read_text().splitlines()] if manifest.is_file() else []
    return [EVALUATION / "doc-convert" / row["source"] for row in rows if row["format"] not in LEFT_OUT]


def _proposals() -> list[Path]:
    files = sorted((EVALUATION / "ingest-peps" / "t1").glob("*.rst"))
    return files[:: max(1, len(files) // PROPOSALS)][:PROPOSALS]


def _convert(converter: Converter, file: Path, folder: Path) -> Converted:
    return converter.convert(file, file.name, UUID(int=1), folder, LIMITS, lambda _: None)


def _bare(files: Sequence[Path]) -> dict[Path, Seconds]:
    program = [sys.executable, str(Path(__file__).with_name("bare_docling.py")), str(THREADS)]
    names = json.dumps([str(file) for file in files])
    done = subprocess.run(program, input=names, capture_output=True, text=True, check=True)
    seconds: dict[str, Seconds] = json.loads(done.stdout.splitlines()[-1])
    return {Path(name): each for name, each in seconds.items()}


def _row(
    what: str, count: int, unit: str, files: Sequence[Path], own: dict[Path, float], bare: dict[Path, Seconds]
) -> Row:
    ours = sum(own[file] for file in files)
    exported, chunked = (sum(bare[file][part] for file in files) for part in (0, 1))
    ratios = f"{chunked / ours:.2f} of docling with chunks, {exported / ours:.2f} without"
    return f"conversion: {what}", f"{count / ours:.1f} {unit}/s; {ratios}", "0.9 of bare docling"


def _trend(samples: Sequence[int]) -> str:
    tenth = max(1, len(samples) // 10)
    first, last = statistics.median(samples[tenth : 2 * tenth]), statistics.median(samples[-tenth:])
    return f"{int(first) >> 20} to {int(last) >> 20} MiB"


def _resident(process: psutil.Process) -> int:
    try:
        return int(process.memory_info().rss)
    except psutil.NoSuchProcess:
        return 0
