"""How often a chunk with a hidden title is found to be about it: python tests/benchmarks/graph_topics.py FOLDER [STEP]

FOLDER holds corpus.jsonl with `title` and `text`; every STEP-th passage is read (default 12). The title counts as found
if the chunk is about an entity with its key (also without parentheses and text after a comma), or with it as an alias
that the chunk states.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path

from knowledge_graph.extraction.document import extract
from knowledge_graph.extraction.english_reader import load_reader
from knowledge_graph.extraction.names import name_key
from knowledge_graph.extraction.records import Extraction, SourceChunk, SourceDocument


def reasons(extraction: Extraction, title: str) -> set[str]:
    """Returns the reasons why the chunk is about its title."""
    bare = re.sub(r"\s*\(.*", "", title)
    wanted = {name_key(one) for one in (title, bare, bare.split(",")[0])}
    called: dict[str, set[str]] = defaultdict(set)
    for alias in extraction.aliases:
        called[alias.target_key].add(alias.alias_key)
    return {
        one.about
        for one in extraction.mentions
        if one.about and one.about != "name" and wanted & {one.name_key, name_key(one.surface), *called[one.name_key]}
    }


def main(folder: Path, step: int) -> None:
    read, found, passages = load_reader(), Counter[str](), 0
    with (folder / "corpus.jsonl").open(encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            if number % step == 0:
                row = json.loads(line)
                passages += 1
                extraction = extract(SourceDocument("1.txt", None, False, (SourceChunk("1:0", row["text"]),)), read)
                why = reasons(extraction, row["title"])
                found["about"] += bool(why)
                found["definition"] += "definition" in why
    shares = ", ".join(f"{kind} {count / passages:.3f}" for kind, count in sorted(found.items()))
    sys.stdout.write(f"{folder.name}: {passages} passages, {shares}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 12)
