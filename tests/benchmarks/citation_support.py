"""How often the citation check keeps true sentences and catches false ones.

    PYTHONPATH=tests python tests/benchmarks/citation_support.py FOLDER CORPUS

FOLDER has `pairs.jsonl` (kind, claim, document, of, supported), CORPUS is the documents' `corpus.jsonl` (BEIR's).
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from orchestrator.citations.check import MarkerFilter
from orchestrator.citations.judgement import judge
from orchestrator.citations.source import SourceText
from relevance.word_vectors import WordVectors


def measure(folder: Path, corpus: Path) -> None:
    """Prints verdicts and kept markers by kind of pair, for the source alone and together with the right one."""
    texts = {one["id"]: one["text"] for one in _rows(corpus)}
    pairs = _rows(folder / "pairs.jsonl")
    right = {pair["claim"]: pair["document"] for pair in pairs if pair["supported"]}
    alike = WordVectors().alike
    verdicts: dict[str, Counter[str]] = defaultdict(Counter)
    took = []
    for pair in pairs:
        kind, passage = pair["kind"], texts[pair["document"]]
        start = time.perf_counter()
        verdicts[kind][judge(pair["claim"], passage, alike=alike).verdict] += 1
        took.append(time.perf_counter() - start)
        other = right.get(pair["claim"], pair["document"])
        verdicts[kind]["alone"] += _kept(pair["claim"], [passage])
        verdicts[kind]["with the right one"] += _kept(
            pair["claim"], [passage, texts[other]] if other != pair["document"] else [passage]
        )
    columns = ("verified", "unclear", "contradicted", "alone", "with the right one")
    print("kind | pairs | " + " | ".join(columns))
    for kind, found in verdicts.items():
        total = found["verified"] + found["unclear"] + found["contradicted"]
        print(f"{kind} | {total} | " + " | ".join(f"{found[column] / total:.3f}" for column in columns))
    print(f"{1000 * sorted(took)[len(took) // 2]:.2f} ms a pair (median), {1000 * max(took):.1f} ms at most")


def _kept(claim: str, passages: list[str]) -> bool:
    markers = MarkerFilter(list(map(SourceText, passages)))
    markers.feed(f"{claim} [1]")
    markers.end()
    return not markers.removed


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def main(arguments: list[str]) -> int:
    """Runs the measurement, or prints which file is missing."""
    if len(arguments) != 2:
        print(__doc__)
        return 2
    folder, corpus = map(Path, arguments)
    for path in (folder / "pairs.jsonl", corpus):
        if not path.is_file():
            print(f"skipped: {path} is not there")
            return 0
    measure(folder, corpus)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
