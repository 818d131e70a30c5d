"""CPU time of checking an answer's sentences.

    python tests/benchmarks/sentence_check.py CORPUS

CORPUS is a `corpus.jsonl` (BEIR's); its first 20 documents serve as the retrieved ones.
"""

from __future__ import annotations

import json
import random
import sys
import time
from itertools import islice
from pathlib import Path

from orchestrator.citations.assess import assess
from orchestrator.citations.check import check
from orchestrator.citations.source import SourceText
from service_kit.sentences import sentences

HOSTILE = {
    "10,000 words without an end": "word " * 10_000,
    "60,000 letters without a blank": "x" * 60_000,
    "20,000 nested brackets": "[" * 20_000 + "]" * 20_000,
    "10,000 sentences of two words": "Aa bb. " * 10_000,
}


def measure(corpus: Path) -> None:
    """Prints seconds and sentences for 200 copied sentences without markers, and for hostile input."""
    with corpus.open(encoding="utf-8") as lines:
        passages = [json.loads(line)["text"] for line in islice(lines, 20)]
    said = [passage[start:end] for passage in passages for start, end in sentences(passage)]
    random.Random(1).shuffle(said)
    for label, answer in {"200 copied sentences": " ".join((said * 2)[:200]), **HOSTILE}.items():
        begun = time.process_time()
        found = assess(check(answer, [], passages), list(map(SourceText, passages)))
        took = time.process_time() - begun
        verified = sum(one.status == "verified" for one in found.sentences)
        print(f"{label}: {took:.2f} s, {verified} of {len(found.sentences)} sentences verified")


def main(arguments: list[str]) -> int:
    """Runs the measurement, or prints what is missing."""
    if len(arguments) != 1:
        print(__doc__)
        return 2
    if not Path(arguments[0]).is_file():
        print(f"skipped: {arguments[0]} is not there")
        return 0
    measure(Path(arguments[0]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
