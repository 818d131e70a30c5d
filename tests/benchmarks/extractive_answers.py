"""How often an answer without a chat model is right, partly right, or wrong.

    PYTHONPATH=tests python tests/benchmarks/extractive_answers.py SHARED [FOUND]

SHARED is the folder of evaluation sets, of which some documents are taken. Converter, index, search and extraction are
those of the services; only the graph, which answers questions about structure, is left out. FOUND (a file) caches the
search results, so that a second run measures only the extraction. The expected answers are in
`extractive_questions.jsonl`, those of everyday questions, some in German, some over only three files or over
`house_papers`, in `everyday_questions.jsonl`: each part has several wordings, and `not_before` is text that an answer
about the present must not begin with. `unseen` are those whose answers had not been looked at before the method was
finished.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid5

from api_calls import REPOSITORY
from benchmarks.retrieval_quality import SPACE, Bench, converted, opened

from contracts.ingestion import Chunk, embedding_text
from contracts.retrieval import SearchMode, SearchRequest, SearchResponse
from embedded.engines import Engines
from ingestion.conversion import Converter, Limits, Setup
from ingestion.documents.media_types import media_type_of
from orchestrator.citations.support import CitedSpan
from orchestrator.graphs.conversation.passages import answers_anyway, passage_of, quoted
from orchestrator.graphs.retrieve.beginnings import (
    request_for_beginnings,
    request_for_named,
    with_beginnings,
    with_named,
)

QUESTIONS = [Path(__file__).with_name(f"{name}_questions.jsonl") for name in ("extractive", "everyday")]
LIMITS = Limits(seconds=300, memory_bytes=3 << 30, pages=1000, input_bytes=200 << 20)
PEPS = "0008 0013 0020 0238 0257 0405 0458 0498 0572 0594 0602 0615 0616 0654 0668 0686 0701 0703"
OTHER_PEPS = "0202 0255 0318 0393 0465 0506 0557 0567 0604 0744 0750 0779 0484"
CONVERTED = [".asciidoc", ".csv", ".epub", ".html", ".md", ".nxml", ".ods", ".odt", ".xlsx"]
EVERY_STUDY = 170  # one abstract of this many
CHARACTERS_OF_ARTICLE = 8_000
THREE_FILES = ("handbook/identity-handbook.pdf", "incidents/inc-112-userdb-connections.md", "services.md")
SEARCH_K = 8
VERDICTS = ("right", "partly", "beside the point")
_QUOTATION = re.compile(r"[“`]((?:(?!” \[|` \[).)+)[”`] \[\d+\]")
Found = dict[str, dict[str, Any]]


def corpora(shared: Path, written: Path) -> dict[str, list[Path]]:
    """Returns the files of each question set; empty if they are not available. `written` takes those made from rows."""
    folders = {"examples": REPOSITORY / "infra" / "examples", "graph": shared / "graph-truth" / "files"}
    found = {name: sorted(file for file in folder.rglob("*") if file.is_file()) for name, folder in folders.items()}
    found["house"] = sorted(Path(__file__).with_name("house_papers").glob("*.md"))
    proposals = shared / "ingest-peps" / "t1"
    found["three"] = [file for name in THREE_FILES if (file := folders["examples"] / name).is_file()]
    for name, numbers in (("peps", PEPS), ("proposals", OTHER_PEPS)):
        found[name] = [file for number in numbers.split() if (file := proposals / f"pep-{number}.rst").is_file()]
    sources = sorted((shared / "doc-convert").glob("*/sources/*"))
    found["converted"] = [file for file in sources if file.suffix in CONVERTED]
    topics = _rows(shared / "write-freshwiki" / "topics.jsonl")
    articles = ((row["topic"], row["article_text"].partition("\n")[2][:CHARACTERS_OF_ARTICLE]) for row in topics)
    found["articles"] = _as_files(written / "articles", articles)
    entries = ((row["title"], row["text"]) for row in _rows(shared / "kg-docred" / "documents.jsonl"))
    found["entries"] = _as_files(written / "entries", entries)
    studies = ((row["title"], row["text"]) for row in _rows(shared / "ir-scifact" / "corpus.jsonl")[::EVERY_STUDY])
    found["studies"] = _as_files(written / "studies", studies)
    return found


def _rows(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()] if file.is_file() else []


def _as_files(folder: Path, texts: Iterable[tuple[str, str]]) -> list[Path]:
    """Writes each text below its title and returns the files."""
    folder.mkdir()
    files = []
    for title, text in texts:
        file = folder / f"{re.sub(r'[^A-Za-z0-9]+', '-', title)[:80].strip('-').lower()}.md"
        file.write_text(f"# {title}\n\n{text}\n", "utf-8")
        files.append(file)
    return files


async def search(bench: Bench, name: str, files: Sequence[Path], questions: Sequence[str]) -> Found:
    """Returns the search results in these files for each question."""
    workspace_id = uuid5(SPACE, f"extractive {name}")
    with Converter(Setup(threads=2)) as converter, tempfile.TemporaryDirectory() as folder:
        for file in files:
            document_id = uuid5(SPACE, str(file))
            about = converter.convert(file, file.name, document_id, Path(folder), LIMITS, lambda _: None)
            lines = (Path(folder) / "chunks.jsonl").read_text("utf-8").splitlines()
            chunks = [Chunk.model_validate_json(line) for line in lines]
            told, _ = converted(document_id, file.name, about.title or "", [], bench.embedder.space)
            media_type = media_type_of(file.name, file.read_bytes()[:4096])
            told = told.model_copy(
                update={
                    "title": about.title,
                    "language": about.language,
                    "media_type": media_type,
                    "chunk_count": len(chunks),
                }
            )
            vectors = await bench.embedder.corpus([embedding_text(one.heading_path, one.content) for one in chunks])
            await bench.index(workspace_id, told, chunks, vectors)
    answers = {}
    for question in questions:
        request = SearchRequest(query=question, mode=SearchMode.hybrid, k=SEARCH_K, highlight=True)
        answer = await bench.search(workspace_id, request)
        if more := request_for_named(request, answer):
            answer = with_named(answer, await bench.search(workspace_id, more))
        if more := request_for_beginnings(request, answer):
            answer = with_beginnings(answer, await bench.search(workspace_id, more))
        answers[f"{name}: {question}"] = answer.model_dump(mode="json")
    return answers


def judged(answer: str, row: dict[str, Any]) -> str:
    """Returns the verdict: right if the answer has all parts, and the first quotation is relevant."""
    quotations = [_plain(one) for one in _QUOTATION.findall(answer)]
    text, first = " … ".join(quotations), quotations[0] if quotations else ""
    stands = [any(_plain(wording) in text for wording in part) for part in row["parts"]]
    begins = any(_plain(wording) in first for part in row["parts"] for wording in part)
    past = _plain(row["not_before"]) if "not_before" in row else ""
    if past and past in first and not begins:
        return VERDICTS[1] if any(stands) else VERDICTS[2]
    if all(stands) and begins:
        return VERDICTS[0]
    return VERDICTS[1] if any(stands) else VERDICTS[2]


def extracted(question: str, response: SearchResponse) -> tuple[str, list[CitedSpan]]:
    """Returns the answer of a turn without a chat model."""
    passages = [passage_of(hit) for hit in response.hits]
    if not response.good_match and not answers_anyway(question, passages):
        return "", []
    return quoted(question, passages)


def measure(found: Found, rows: Sequence[dict[str, Any]], *, show: bool) -> Iterator[str]:
    """Yields a line per question set, with `show` also each answer that is not right."""
    verdicts: dict[str, Counter[str]] = defaultdict(Counter)
    took, quotations = [], 0
    for row in rows:
        key = f"{row['set']}: {row['question']}"
        if key not in found:
            continue
        response = SearchResponse.model_validate(found[key])
        start = time.perf_counter()
        answer, cited = extracted(row["question"], response)
        took.append(time.perf_counter() - start)
        quotations += len(cited)
        verdict = judged(answer, row)
        verdicts[row["set"]][verdict] += 1
        verdicts["all"][verdict] += 1
        if row.get("unseen"):
            verdicts["unseen"][verdict] += 1
        if show and verdict != VERDICTS[0]:
            yield f"\n[{verdict}] {row['question']}  expected {row['parts']}\n{answer or '(nothing found)'}"
    if not took:
        yield "skipped: no files are there"
        return
    yield "\nset | " + " | ".join(VERDICTS)
    for name, counted in verdicts.items():
        yield f"{name} | " + " | ".join(str(counted[verdict]) for verdict in VERDICTS)
    yield f"{1000 * sum(took) / len(took):.1f} ms an answer, {quotations / len(took):.1f} quotations"


def _plain(text: str) -> str:
    return " ".join(text.replace("`", "").replace("*", "").split()).casefold()


async def _search_all(shared: Path, rows: Sequence[dict[str, Any]], admin_url: str) -> Found:
    found: Found = {}
    with tempfile.TemporaryDirectory() as written:
        files_of = corpora(shared, Path(written))
        async with opened(admin_url) as bench:
            for name, files in files_of.items():
                if files:
                    asked = [row["question"] for row in rows if row["set"] == name]
                    found.update(await search(bench, name, files, asked))
    return found


def main(arguments: list[str]) -> int:
    """Searches, unless the results are cached in a file, and prints the verdicts."""
    if not arguments:
        print(__doc__)
        return 2
    groups = [[json.loads(line) for line in file.read_text("utf-8").splitlines()] for file in QUESTIONS]
    kept = Path(arguments[1]) if len(arguments) > 1 else None
    if kept and kept.is_file():
        found = json.loads(kept.read_text("utf-8"))
    else:
        with Engines.temporary() as engines:
            rows = [row for group in groups for row in group]
            found = asyncio.run(_search_all(Path(arguments[0]), rows, engines.admin_database_url))
        if kept:
            kept.write_text(json.dumps(found), "utf-8")
    for file, rows in zip(QUESTIONS, groups, strict=True):
        print(f"\n{file.stem}")
        for line in measure(found, rows, show=True):
            print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
