"""Agreement of converted Markdown with Docling's expected output, by format.

Agreement is the Dice coefficient of the words of both (as multisets): twice the words in common over all words of both.
The expected output is that of another release, so 1 is not the aim. If there are several expected outputs, as from
several OCR engines, the best one counts.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from uuid import UUID

from benchmarks.figures import Row

from ingestion.conversion import ConversionError, Converter, Limits

DATA = Path(__file__).resolve().parents[3] / "shared" / "eval" / "doc-convert"
LIMITS = Limits(seconds=120, memory_bytes=3 << 30, pages=100, input_bytes=50 << 20)
PLACEHOLDER = re.compile(r"<!--.*?-->", re.DOTALL)
# Docling's own agreement with its expected output on these formats, with another release.
AIMS = {
    "docx": 0.98,
    "pptx": 0.99,
    "html": 0.97,
    "md": 0.97,
    "odf": 0.96,
    "jats": 0.95,
    "latex": 0.92,
    "csv": 0.92,
    "asciidoc": 0.87,
    "xlsx": 0.79,
    "pdf": 0.94,
    "ocr": 0.84,
}


def conversion_agreement() -> list[Row]:
    if not DATA.is_dir():
        return [("agreement of converted Markdown", "../shared/eval/doc-convert is not here", "")]
    rows = [json.loads(line) for line in (DATA / "manifest.jsonl").read_text(encoding="utf-8").splitlines()]
    found: dict[str, list[float]] = defaultdict(list)
    with Converter() as converter:
        for row in rows:
            if row["groundtruth_md"]:
                expected = [(DATA / name).read_text(encoding="utf-8") for name in row["groundtruth_md"]]
                found[row["format"]].append(_agreement(converter, DATA / row["source"], expected))
    return [
        (
            f"agreement, {kind} ({len(values)} files)",
            f"{fmean(values):.3f}",
            f"{AIMS[kind]:.2f}" if kind in AIMS else "",
        )
        for kind, values in sorted(found.items())
    ]


def _agreement(converter: Converter, source: Path, expected: Sequence[str]) -> float:
    """Returns the agreement; 0 for a file that is not converted, such as an old Office file without LibreOffice."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            converter.convert(source, source.name, UUID(int=1), Path(folder), LIMITS, lambda _: None)
        except ConversionError:
            return 0.0
        text = Path(folder, "document.md").read_text(encoding="utf-8")
    return max(dice(text, each) for each in expected)


def dice(text: str, expected: str) -> float:
    ours, theirs = (Counter(re.findall(r"\w+", PLACEHOLDER.sub("", each))) for each in (text, expected))
    total = ours.total() + theirs.total()
    return 2 * (ours & theirs).total() / total if total else 1.0
