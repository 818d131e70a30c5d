"""Conversions that hang, grow, crash or lose their worker."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

import psutil
import pytest

from ingestion.conversion import (
    ConversionError,
    Converter,
    InputTooLarge,
    Limits,
    MemoryLimitExceeded,
    PageLimitExceeded,
    TimeLimitExceeded,
    WorkerDied,
)

Convert = Callable[..., Any]
DOCUMENT = UUID(int=3)
SLOW = "<html><body>" + "<div>" * 1500 + "deep" + "</div>" * 1500 + "<p>word</p>" * 60_000 + "</body></html>"


def conversions(of: int) -> list[psutil.Process]:
    """Returns the conversion processes: the children of the fork server of the process `of`."""
    servers = [child for child in psutil.Process(of).children() if "forkserver" in " ".join(child.cmdline())]
    return [child for server in servers for child in server.children(recursive=True)]


def test_a_conversion_is_ended_at_its_time_limit(convert: Convert, limits: Limits) -> None:
    before = set(conversions(os.getpid()))
    with pytest.raises(TimeLimitExceeded, match=r"0\.5 seconds"):
        convert(SLOW, "slow.html", replace(limits, seconds=0.5))
    assert set(conversions(os.getpid())) <= before


def test_deep_nesting_fails_with_a_readable_error(convert: Convert, limits: Limits) -> None:
    nested = "<html><body>" + "<div>" * 5000 + "deep" + "</div>" * 5000 + "</body></html>"
    with pytest.raises(ConversionError, match=r"nested too deeply|longer than"):
        convert(nested, "deep.html", replace(limits, seconds=60))


def test_a_conversion_is_ended_at_its_memory_limit(convert: Convert, limits: Limits) -> None:
    before = set(conversions(os.getpid()))
    with pytest.raises(MemoryLimitExceeded, match="16 MB"):
        convert(SLOW, "slow.html", replace(limits, memory_bytes=16 << 20))
    assert set(conversions(os.getpid())) <= before


def test_page_and_size_limits_are_enforced(convert: Convert, limits: Limits, evaluation_files: Path) -> None:
    source = evaluation_files / "bad-files/files/pypdf__indirect-rotation.pdf"
    with pytest.raises(PageLimitExceeded, match="5 pages; 2 are allowed"):
        convert(source, "a.pdf", replace(limits, pages=2))
    with pytest.raises(InputTooLarge):
        convert(source, "a.pdf", replace(limits, input_bytes=100))


def test_a_killed_child_is_reported_and_heartbeats_are_received(
    converter: Converter, limits: Limits, tmp_path: Path
) -> None:
    source = tmp_path / "slow.html"
    source.write_text(SLOW)
    calls: list[float] = []

    def on_progress(_: object) -> None:
        calls.append(time.monotonic())
        if len(calls) >= 2:
            for child in conversions(os.getpid()):
                child.send_signal(signal.SIGKILL)

    with pytest.raises(WorkerDied):
        converter.convert(source, "slow.html", DOCUMENT, tmp_path, limits, on_progress)
    assert len(calls) >= 2


def test_an_exception_in_the_caller_ends_the_conversion(converter: Converter, limits: Limits, tmp_path: Path) -> None:
    source = tmp_path / "slow.html"
    source.write_text(SLOW)

    before = set(conversions(os.getpid()))

    def on_progress(_: object) -> None:
        raise KeyError("cancelled")

    with pytest.raises(KeyError):
        converter.convert(source, "slow.html", DOCUMENT, tmp_path, limits, on_progress)
    assert set(conversions(os.getpid())) <= before


WORKER = """
import sys
from pathlib import Path
from uuid import UUID
from ingestion.conversion import Converter, Limits
if __name__ == "__main__":
    with Converter() as converter:
        print("ready", flush=True)
        limits = Limits(120, 3 << 30, 100, 50 << 20)
        folder = Path(sys.argv[1])
        converter.convert(folder / "slow.html", "slow.html", UUID(int=4), folder, limits, lambda _: None)
"""


def test_the_child_dies_with_its_worker(tmp_path: Path) -> None:
    (tmp_path / "slow.html").write_text(SLOW)
    (tmp_path / "worker.py").write_text(WORKER)
    worker = subprocess.Popen([sys.executable, tmp_path / "worker.py", tmp_path], stdout=subprocess.PIPE)
    with worker:
        deadline = time.monotonic() + 200
        found: list[psutil.Process] = []
        while time.monotonic() < deadline and not found:
            time.sleep(0.5)
            found = conversions(worker.pid)
        descendants = psutil.Process(worker.pid).children(recursive=True)
        assert found
        time.sleep(1)  # well into the conversion
        worker.kill()
    _, left = psutil.wait_procs(descendants, timeout=120)
    # An orphan that has ended remains a zombie until init reaps it.
    assert [one for one in left if one.is_running() and one.status() != psutil.STATUS_ZOMBIE] == []


def test_torch_and_its_dependencies_are_not_loaded() -> None:
    program = (
        "import sys, ingestion.conversion.preload as p, importlib.util as u\n"
        "assert u.find_spec('torch') is None and u.find_spec('transformers') is None\n"
        "print([m for m in ('torch', 'transformers') if m in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_the_caller_does_not_import_docling() -> None:
    program = "import sys, ingestion.conversion; print('docling' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "False"


EXPECTED = {
    "converts": {"converted"},
    "error": {"corrupt-file", "empty-document"},
    "clear error": {"password-protected"},
    "no outgoing request": {"converted"},
    "detected or error": {"converted"},
    "error, no hang": {"corrupt-file", "converted"},
    "error or empty": {"empty-document", "corrupt-file"},
    "OCR or empty": {"converted", "empty-document"},
    "no hang": {"converted", "empty-document", "corrupt-file"},
}


def test_broken_files_give_a_result_or_a_readable_error(convert: Convert, evaluation_files: Path) -> None:
    folder = evaluation_files / "bad-files"
    wrong = []
    for row in (folder / "manifest.jsonl").read_text().splitlines():
        case = json.loads(row)
        outcome, message = "converted", "A sentence."
        try:
            convert(folder / case["file"], Path(case["file"]).name)
        except ConversionError as error:
            outcome, message = error.error_class, str(error)
        if outcome not in EXPECTED[case["expect"]] or not message.endswith(".") or "Traceback" in message:
            wrong.append((case["file"], outcome, message))
    assert wrong == []


@pytest.mark.parametrize("name", ["notes.txt", "notes.tex", "notes.html", "notes.xml"])
def test_a_text_may_start_with_many_spaces_and_empty_lines(convert: Convert, limits: Limits, name: str) -> None:
    """Regression: each leading space doubled the detection time, so that 31 of them failed a harmless file."""
    text = " " * 60 + "\n" * 60 + "The heron nests in colonies.\n\ntags: " + "#heron" * 40 + " bird\n"
    assert convert(text, name, replace(limits, seconds=60)).converted.chunks == 1
