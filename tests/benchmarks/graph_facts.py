"""Accuracy of the graph's facts about structure, on corpora with a gold standard, with the services' own code.

    PYTHONPATH=tests python tests/benchmarks/graph_facts.py [--show] [FOLDER...]

The default folders are those under services/knowledge-graph/tests/gold, and graph-truth of the evaluation data if
present. Files are converted and added to the graph by the services' code, in the order of their names; facts are
queried from the service. A folder holds files/ (for the gold `examples`: infra/examples), gold.json and questions.json.
Names are matched by canonical name and aliases, ignoring case, accents, hyphens and spaces. Precision is computed over
relations between entities of the gold. The last table shows how many facts are right, by their displayed confidence;
the last line, how long the graph stage took for a document, without waiting in a queue.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
import tempfile
import time
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import quantiles
from typing import Any
from uuid import UUID, uuid4, uuid5

from api_calls import EVALUATION, REPOSITORY
from benchmarks.graph_quality import Graphs, graphs
from benchmarks.retrieval_quality import SPACE, converted

from contracts.gateway import Role
from embedded.engines import Engines
from inference.embeddings import BUNDLED_SPACE
from ingestion.conversion import Converter, Limits, Setup
from knowledge_graph.extraction.relation_types import family, is_structural
from service_kit.auth import Principal

GOLD = REPOSITORY / "services/knowledge-graph/tests/gold"
LIMITS = Limits(seconds=300, memory_bytes=3 << 30, pages=1000, input_bytes=200 << 20)
FAMILIES = {"DEPENDS_ON": "depends", "OWNS": "owns", "PART_OF": "part of"}
TYPES = {  # other types that count as this one
    "PERSON": "PERSON",
    "TEAM": "TEAM ORG GROUP",
    "ORG": "ORG COMPANY",
    "SERVICE": "SERVICE SYSTEM COMPONENT APPLICATION JOB",
    "STORE": "STORE DATABASE CACHE BUCKET",
    "PROJECT": "PROJECT INITIATIVE",
    "LIBRARY": "LIBRARY PACKAGE MODULE SOFTWARE TECHNOLOGY",
    "TABLE": "TABLE VIEW",
    "PLACE": "PLACE GPE LOC FAC LOCATION",
    "DOCUMENT_ID": "DOCUMENT_ID DECISION INCIDENT ADR",
    "CONCEPT": "CONCEPT TERM",
}
WAYS = ("path", "cycle")
"""Kinds of questions whose answer is a way, told in the text."""
BINS = (0.95, 0.9, 0.85, 0.8, 0.0)


def key(name: str) -> str:
    """Returns the name in lower case, with only unaccented letters and digits."""
    plain = "".join(char for char in unicodedata.normalize("NFKD", name) if not unicodedata.combining(char))
    return re.sub(r"[\W_]+", "", plain.casefold())


@dataclass
class Gold:
    """The gold standard of a corpus: types by name, current and other facts by family, and pairs not judged."""

    types: dict[str, str]
    names: dict[str, str]
    ignored: set[str]
    free: set[frozenset[str]]
    current: dict[str, set[tuple[str, str]]] = field(default_factory=lambda: defaultdict(set))
    unjudged: set[tuple[str, str]] = field(default_factory=set)
    denied: dict[tuple[str, str, str], str] = field(default_factory=dict)

    @classmethod
    def read(cls, folder: Path) -> Gold:
        told = json.loads((folder / "gold.json").read_text(encoding="utf-8"))
        names = {key(name): one["name"] for one in told["entities"] for name in (one["name"], *one.get("aliases", ()))}
        found = cls(
            {one["name"]: one["type"] for one in told["entities"]},
            names,
            {key(name) for name in told.get("ignored_names", ())},
            {frozenset(pair) for pair in told.get("neutral", ())},
        )
        for one in told["relations"]:
            pair, of = (one["subject"], one["object"]), FAMILIES.get(family(one["type"]))
            if one.get("implied") or one["type"] == "REFERENCES":
                found.unjudged.add(pair)
            elif of is not None and one["status"] == "current":
                found.current[of].add(pair)
            elif of is not None:
                found.denied[(*pair, of)] = one["status"]
        return found

    def stands(self, name: str, text: str) -> bool:
        """Returns whether the text contains the name or one of its aliases."""
        return any(one in key(text) for one, named in self.names.items() if named == name)

    def of(self, names: Iterable[str]) -> str | None:
        return next((self.names[key(one)] for one in names if key(one) in self.names), None)


@dataclass(frozen=True)
class Fact:
    """A current fact between two names of the gold, with the confidence of its best evidence."""

    ends: tuple[str, str]
    of: str
    confidence: float


@dataclass
class Workspace:
    """A corpus in the graph, queried as a viewer."""

    graph: Graphs
    id: UUID

    async def ask(self, method: str, path: str, **more: Any) -> Any:
        caller = Principal(uuid4(), self.id, Role.viewer)
        response = await self.graph.service.ask(caller, method, path, **more)
        return response.raise_for_status()

    async def tool(self, name: str, **parameters: Any) -> dict[str, Any]:
        return (await self.ask("POST", f"/v1/graph/tools/{name}", json=parameters)).json()["result"] or {}


async def fill(graph: Graphs, converter: Converter, folder: Path, output: Path, seconds: list[float]) -> Workspace:
    """Converts the corpus and adds it to the graph; appends how long the graph took for each document."""
    files = REPOSITORY / "infra/examples" if folder.name == "examples" else folder / "files"
    workspace = Workspace(graph, uuid5(SPACE, f"facts {folder}"))
    for file in sorted(one for one in files.rglob("*") if one.is_file()):
        document_id, path = uuid5(SPACE, str(file)), file.relative_to(files).as_posix()
        about = converter.convert(file, file.name, document_id, output, LIMITS, lambda _: None)
        told, _ = converted(document_id, file.name, about.title or "", [], BUNDLED_SPACE)
        described = {
            "title": about.title,
            "language": about.language,
            "written_at": about.written_at,
            "metadata": {"source": {"path": path}},
            "chunks_key": f"{workspace.id}/{document_id}/chunks.jsonl",
        }
        start = time.perf_counter()
        await graph.add(workspace.id, told.model_copy(update=described), (output / "chunks.jsonl").read_bytes())
        seconds.append(time.perf_counter() - start)
    return workspace


async def facts(workspace: Workspace, gold: Gold, entities: dict[str, Any], lines: list[Any]) -> list[Fact]:
    """Returns the graph's current facts between names of the gold."""
    found: dict[tuple[tuple[str, str], str], float] = {}
    named = {identity: gold.of([one["name"], *one["aliases"]]) for identity, one in entities.items()}
    shown = await evidence(workspace, {one["source"] for one in lines if is_structural(one["relation_type"])})
    for one in lines:
        of = FAMILIES.get(family(one["relation_type"]))
        source, target = named[one["source"]], named[one["target"]]
        if of is not None and source and target and source != target:
            sure = shown.get((one["source"], one["target"], one["relation_type"]), 0.0)
            found[((source, target), of)] = max(sure, found.get(((source, target), of), 0.0))
    return [Fact(ends, of, confidence) for (ends, of), confidence in sorted(found.items())]


async def evidence(workspace: Workspace, sources: Iterable[str]) -> dict[tuple[str, str, str], float]:
    """Returns the best confidence of each relation from these entities."""
    async with workspace.graph.replicas[0].database.workspace(workspace.id) as connection:
        rows = await connection.execute(
            "SELECT source_id, target_id, relation_type, max(confidence) FROM relation_evidence "
            "WHERE source_id = ANY(%s) AND status = 'current' AND closed_by IS NULL GROUP BY 1, 2, 3",
            [sorted(sources)],
        )
        return {(row[0], row[1], row[2]): float(row[3]) for row in await rows.fetchall()}


@dataclass
class Judged:
    """Counts over corpora: gold, right and wrong facts by family; facts by confidence."""

    rows: list[str] = field(default_factory=list)
    shown: list[tuple[float, bool]] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)


def judge_entities(gold: Gold, entities: Sequence[dict[str, Any]], judged: Judged) -> str:
    best: dict[str, dict[str, Any]] = {}
    for one in entities:
        name = gold.of([one["name"], *one["aliases"]])
        if name and (name not in best or one["mentions"] > best[name]["mentions"]):
            best[name] = one
    right = 0
    for name, kind in gold.types.items():
        if name not in best:
            judged.remarks.append(f"not found: {name} ({kind})")
        elif best[name]["entity_type"] in TYPES[kind].split():
            right += 1
        else:
            judged.remarks.append(f"type: {name}: {best[name]['entity_type']}, gold {kind}")
    return f"{len(best) / len(gold.types):.2f} {right / max(1, len(best)):.2f}"


def judge_facts(gold: Gold, found: Sequence[Fact], judged: Judged) -> Iterator[str]:
    for of in FAMILIES.values():
        right = {one.ends for one in found if one.of == of and one.ends in gold.current[of]}
        wrong = {one.ends for one in found if one.of == of and is_wrong(gold, one)}
        missing = gold.current[of] - right
        judged.remarks += [f"wrong {of}: {a} -> {b}" for a, b in sorted(wrong)]
        judged.remarks += [f"missing {of}: {a} -> {b}" for a, b in sorted(missing)]
        shares = len(right) / max(1, len(right) + len(wrong)), len(right) / max(1, len(gold.current[of]))
        yield f"{shares[0]:.2f} {shares[1]:.2f} ({len(gold.current[of])})"
    said = {(*one.ends, one.of) for one in found}
    false = sorted(said & gold.denied.keys())
    judged.remarks += [f"{gold.denied[one]}, said to be so: {one}" for one in false]
    yield f"{len(false)} of {len(gold.denied)}"
    judged.shown += [(one.confidence, not is_wrong(gold, one)) for one in found if not is_free(gold, one)]


def is_free(gold: Gold, one: Fact) -> bool:
    """Returns whether the gold neither confirms nor refutes the fact."""
    if one.ends in gold.current[one.of] or (*one.ends, one.of) in gold.denied:
        return False
    return frozenset(one.ends) in gold.free or one.ends in gold.unjudged or gold.types[one.ends[1]] == "DOCUMENT_ID"


def is_wrong(gold: Gold, one: Fact) -> bool:
    return one.ends not in gold.current[one.of] and not is_free(gold, one)


async def judge_questions(workspace: Workspace, gold: Gold, folder: Path, judged: Judged) -> str:
    questions = json.loads((folder / "questions.json").read_text(encoding="utf-8"))
    exact = wrong = 0
    for question in questions:
        told = (await workspace.tool("answer_question", question=question["question"])) or {}
        types = question.get("types") or ()
        names = {gold.of([row["name"]]) or row["name"] for row in told.get("rows", ())}
        names = {one for one in names if not types or gold.types.get(one, types[0]) in types}
        text = told.get("text", "")
        wanted = set(question["answer"])
        is_way = bool(wanted) and question["kind"] in WAYS
        is_exact = names == wanted or (is_way and all(gold.stands(one, text) for one in wanted))
        exact += is_exact
        wrong += bool(names - wanted) and not is_exact
        if not is_exact:
            judged.remarks.append(f"question: {question['question']} {sorted(wanted)}: {text or 'no answer'}")
    return f"{exact}, {wrong} of {len(questions)}"


def calibration(shown: Sequence[tuple[float, bool]]) -> Iterator[str]:
    yield "\nconfidence | facts | right"
    upper = 1.01
    for lower in BINS:
        some = [right for confidence, right in shown if lower <= confidence < upper]
        if some:
            yield f"{lower:.2f} and more | {len(some)} | {sum(some) / len(some):.3f}"
        upper = lower


async def measure(engines: Engines, folders: Sequence[Path], *, show: bool) -> None:
    judged = Judged()
    print("corpus | entities: recall, type | depends: precision, recall | owns | part of | wrongly current | questions")
    with Converter(Setup(threads=1)) as converter, tempfile.TemporaryDirectory() as output:
        async with graphs(engines) as graph:
            for folder in folders:
                workspace, gold = await fill(graph, converter, folder, Path(output), judged.seconds), Gold.read(folder)
                text = (await workspace.ask("GET", "/v1/graph/export?format=jsonl&min_mentions=1")).text
                lines = [json.loads(line) for line in text.splitlines()]
                entities = {one["id"]: one for one in lines if one["kind"] == "entity"}
                relations = [one for one in lines if one["kind"] == "relation"]
                found = await facts(workspace, gold, entities, relations)
                cells = [judge_entities(gold, list(entities.values()), judged), *judge_facts(gold, found, judged)]
                cells.append(await judge_questions(workspace, gold, folder, judged))
                print(" | ".join([folder.name, *cells]))
                if show:
                    print("".join(f"    {one}\n" for one in judged.remarks), end="")
                judged.remarks.clear()
    for line in calibration(judged.shown):
        print(line)
    p50, p95 = (quantiles(judged.seconds, n=20)[part] for part in (9, 18))
    print(f"\ngraph stage: {len(judged.seconds)} documents, p50 {p50:.2f} s, p95 {p95:.2f} s")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folders", type=Path, nargs="*")
    parser.add_argument("--show", action="store_true", help="what is wrong, missing or of another type")
    options = parser.parse_args()
    own = [*sorted(one for one in GOLD.iterdir() if (one / "gold.json").is_file()), EVALUATION / "graph-truth"]
    folders = [one.resolve() for one in options.folders or own if one.exists()]
    with Engines.temporary() as engines:
        asyncio.run(measure(engines, folders, show=options.show))
    return 0


if __name__ == "__main__":
    sys.exit(main())
