"""Citation quality of an answer whose model cites at random: precision and recall of the shown citations.

    PYTHONPATH=tests python tests/benchmarks/random_citations.py FOLDER CORPUS

FOLDER has `pairs.jsonl` (kind, claim, document, supported), CORPUS is the documents' `corpus.jsonl` (BEIR's). An answer
has five sentences copied from five documents; three more documents were retrieved. Each sentence cites one of the eight
at random, or none (one in five).
"""

from __future__ import annotations

import json
import random
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from orchestrator.citations.assess import assess
from orchestrator.citations.check import MarkerFilter, check
from orchestrator.citations.source import SourceText
from relevance.word_vectors import WordVectors

ANSWERS, SENTENCES, OTHERS, BARE = 60, 5, 3, 0.2


def measure(folder: Path, corpus: Path) -> None:
    """Prints precision and recall of the model's markers, of all shown ones, and of those of verified sentences."""
    texts = {one["id"]: one["text"] for one in _rows(corpus)}
    true = [pair for pair in _rows(folder / "pairs.jsonl") if pair["kind"] == "edited"]
    rng, alike, counted = random.Random(1), WordVectors().alike, Counter[str]()
    for _ in range(ANSWERS):
        chosen = list({pair["document"]: pair for pair in rng.sample(true, 4 * SENTENCES)}.values())[:SENTENCES]
        documents = [pair["document"] for pair in chosen]
        documents += rng.sample(sorted(texts.keys() - set(documents)), OTHERS)
        rng.shuffle(documents)
        counted.update(_answer(chosen, documents, texts, alike, rng))
    print("citations | precision | recall")
    for name in ("at random", "shown", "of verified sentences"):
        right, put, sentences = (counted[f"{what} {name}"] for what in ("right", "put", "sentences"))
        print(f"{name} | {right / max(1, put):.3f} | {right / sentences:.3f}")


def _answer(chosen: list[dict[str, Any]], documents: list[str], texts: dict[str, str], alike: Any, rng: Any) -> Counter:
    counted: Counter[str] = Counter()
    passages = [texts[one] for one in documents]
    sources = [SourceText(one, "", alike) for one in passages]
    answer = []
    for pair in chosen:
        number = None if rng.random() < BARE else rng.randrange(len(documents)) + 1
        said = " ".join(pair["claim"].split()).rstrip(". ")
        answer.append(f"- {said}{f' [{number}]' if number else ''}.\n")
        counted["put at random"] += number is not None
        counted["right at random"] += number is not None and documents[number - 1] == pair["document"]
    markers = MarkerFilter(sources)
    streamed = markers.feed("".join(answer)) + markers.end()
    found = assess(check(streamed, markers.cited, passages), sources)
    of = {one.number: documents[one.passage - 1] for one in found.cited}
    for sentence in found.sentences:
        said = found.content[sentence.start : sentence.end]
        right = next((one["document"] for one in chosen if one["claim"].strip()[:40] in said), None)
        cited = {of[number] for number in sentence.citations}
        for name in ("shown", *(["of verified sentences"] if sentence.status == "verified" else [])):
            counted[f"put {name}"] += len(cited)
            counted[f"right {name}"] += right in cited
    for name in ("at random", "shown", "of verified sentences"):
        counted[f"sentences {name}"] += len(chosen)
    return counted


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
