"""Extraction compared with labelled documents: entities, pairs of related entities, and throughput.

python tests/benchmarks/graph_extraction.py FOLDER [--show]    FOLDER holds documents.jsonl (DocRED's form, one a line)

An extracted entity is a cluster: all mentions of one id in the text of one document, identified by their surfaces. A
labelled entity is identified by its aliases. They match, one to one, if a surface and an alias have the same name key
(ignoring case, accents, article, plural and possessive); those that share most names first. A cluster that comes only
from a title or a file name does not count. Labelled times and numbers are not names: "names" leaves them out, the other
row counts them as missed. A labelled pair is found if both ends match and any relation joins them; "stated" leaves out
co-occurrence.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from knowledge_graph.extraction.document import Methods, extract
from knowledge_graph.extraction.english_reader import load_reader
from knowledge_graph.extraction.names import name_key
from knowledge_graph.extraction.records import Extraction, SourceChunk, SourceDocument

Row = tuple[str, str, str]
FOLDER = "KG_DOCRED"
NOT_NAMES = frozenset({"TIME", "NUM"})
CO_OCCURRENCE = "cooccurrence"


@dataclass
class Counted:
    """Counts over all documents; `pairs` and `found` by extraction method."""

    labelled: int = 0
    extracted: int = 0
    matched: int = 0
    pairs: int = 0
    joined: int = 0
    stated: int = 0

    @property
    def f1(self) -> float:
        return 2 * self.matched / max(1, self.labelled + self.extracted)

    def __str__(self) -> str:
        precision, recall = self.matched / max(1, self.extracted), self.matched / max(1, self.labelled)
        return f"F1 {self.f1:.3f} (P {precision:.3f}, R {recall:.3f})"


def documents(folder: Path) -> Iterator[tuple[SourceDocument, dict[str, Any]]]:
    with (folder / "documents.jsonl").open(encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            labelled = json.loads(line)
            chunk = SourceChunk(f"{labelled['id']}:0", labelled["text"])
            yield SourceDocument(f"{number}.txt", labelled["title"], False, (chunk,)), labelled


def clusters(extraction: Extraction) -> dict[str, set[str]]:
    """Maps entity ids to the keys of their surfaces in the text."""
    found: dict[str, set[str]] = defaultdict(set)
    for mention in extraction.mentions:
        if mention.end > mention.start:
            found[mention.entity_id].add(name_key(mention.surface))
    return dict(found)


def matches(found: dict[str, set[str]], labelled: Sequence[set[str]]) -> dict[int, str]:
    """Maps the index of a labelled entity to an entity id; pairs that share most names come first."""
    shared = [
        (-len(names & wanted), place, entity)
        for place, wanted in enumerate(labelled)
        for entity, names in found.items()
        if names & wanted
    ]
    chosen: dict[int, str] = {}
    for _, place, entity in sorted(shared):
        if place not in chosen and entity not in chosen.values():
            chosen[place] = entity
    return chosen


def count(extraction: Extraction, labelled: dict[str, Any], counted: Counted, *, names_only: bool) -> None:
    """Adds one document to the counts."""
    entities = labelled["entities"]
    keys = [
        {name_key(alias) for alias in one["aliases"]} if not (names_only and one["type"] in NOT_NAMES) else set()
        for one in entities
    ]
    found = clusters(extraction)
    chosen = matches(found, keys)
    counted.labelled += sum(bool(one) for one in keys)
    counted.extracted += len(found)
    counted.matched += len(chosen)
    joined = {frozenset((one.source_id, one.target_id)) for one in extraction.relations}
    stated = {frozenset((one.source_id, one.target_id)) for one in extraction.relations if one.method != CO_OCCURRENCE}
    pairs = {frozenset((one["head"], one["tail"])) for one in labelled["relations"] if one["head"] != one["tail"]}
    for pair in pairs:
        if not all(keys[place] for place in pair):
            continue
        counted.pairs += 1
        ends = frozenset(chosen.get(place, "") for place in pair)
        counted.joined += ends in joined
        counted.stated += ends in stated


def measure(folder: Path, methods: Methods) -> tuple[Counted, Counted, float, dict[str, Extraction]]:
    """Returns the counts of names only and of everything, and documents per second of this process's CPU time."""
    read = load_reader(parse=methods.dependency)
    names, everything, by_id = Counted(), Counted(), {}
    corpus = list(documents(folder))
    extract(corpus[0][0], read, methods)
    started = time.process_time()
    extractions = [extract(document, read, methods) for document, _ in corpus]
    seconds = time.process_time() - started
    for extraction, (_, labelled) in zip(extractions, corpus, strict=True):
        by_id[labelled["id"]] = extraction
        count(extraction, labelled, names, names_only=True)
        count(extraction, labelled, everything, names_only=False)
    return names, everything, len(corpus) / seconds, by_id


def graph_extraction() -> list[Row]:
    """Returns rows for the table of figures; none if the environment does not name the folder."""
    if not os.environ.get(FOLDER):
        return [(f"graph extraction: set {FOLDER} to the folder of labelled documents", "-", "-")]
    folder, rows = Path(os.environ[FOLDER]), list[Row]()
    for words, methods in (
        ("", Methods()),
        (", without resolution", Methods(resolution=False)),
        (", without the parser", Methods(dependency=False)),
    ):
        names, everything, rate, _ = measure(folder, methods)
        rows.append((f"graph extraction: entities, names{words}", str(names), "F1 0.80" if not words else ""))
        rows.append((f"graph extraction: entities, with times and numbers{words}", str(everything), ""))
        recall = f"{names.joined / names.pairs:.3f}, stated {names.stated / names.pairs:.3f}"
        rows.append((f"graph extraction: pair recall of relations{words}", recall, ""))
        rows.append((f"graph extraction: chunks/s of one core{words}", f"{rate:.1f}", ""))
    return rows


def show(folder: Path) -> Iterator[str]:
    """Prints missed and superfluous entities, by type."""
    _, _, _, by_id = measure(folder, Methods())
    missed, spurious = Counter[str](), Counter[str]()
    for _, labelled in documents(folder):
        found = clusters(by_id[labelled["id"]])
        keys = [{name_key(alias) for alias in one["aliases"]} for one in labelled["entities"]]
        chosen = matches(found, keys)
        for place, one in enumerate(labelled["entities"]):
            if place not in chosen and one["type"] not in NOT_NAMES:
                missed[one["type"]] += 1
                yield f"missed {one['type']} {one['aliases']} ({labelled['title']})"
        for entity in found.keys() - set(chosen.values()):
            mentions = [one for one in by_id[labelled["id"]].mentions if one.entity_id == entity]
            spurious[mentions[0].entity_type] += 1
            surfaces = sorted({one.surface for one in mentions})
            yield f"spurious {mentions[0].entity_type} {surfaces} ({labelled['title']})"
    yield f"missed {dict(missed)} spurious {dict(spurious)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--show", action="store_true", help="list what was missed and what was spurious")
    arguments = parser.parse_args()
    os.environ[FOLDER] = str(arguments.folder)
    for line in (
        show(arguments.folder) if arguments.show else (f"{a:<76} {b:<40} {c}" for a, b, c in graph_extraction())
    ):
        sys.stdout.write(line + "\n")


if __name__ == "__main__":
    main()
