"""Uploads a dataset's documents to a workspace, each once, and waits until they are searchable."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from attractor_client.client import AttractorClient
from attractor_client.evaluation.dataset import CorpusDocument, Dataset, Question
from attractor_client.evaluation.judging import JudgedQuestion, Target
from attractor_client.evaluation.workers import side_by_side
from contracts.ingestion import DocumentStatus, DocumentSummary, EmbeddingStatus

FILES_PER_UPLOAD = 50
UPLOADS_AT_ONCE = 4
POLL_SECONDS = 1.0

Progress = Callable[[str, int, int], None]
"""Called with the current step, how much of it is done, and the total."""


@dataclass
class PlacedDocument:
    """A corpus in the workspace. `documents`: ids by the corpus's own ids. `refused`: why a document is not searchable.

    `others` counts documents of the workspace outside the corpus, `incomplete` those found only by lexical search.
    """

    documents: dict[str, UUID] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    uploaded: int = 0
    others: int = 0
    incomplete: int = 0

    @property
    def names(self) -> dict[UUID, str]:
        """Returns the corpus's own id of each document; the first one if several have the same text."""
        return {document: name for name, document in reversed(self.documents.items())}


async def place(client: AttractorClient, dataset: Dataset, progress: Progress, *, graph: bool) -> PlacedDocument:
    """Uploads the documents whose bytes are not in the workspace yet, and waits until all are searchable.

    With `graph` it also waits until the knowledge graph has read them.
    """
    hashes: dict[str, list[str]] = defaultdict(list)
    for document in dataset.documents:
        hashes[document.content_hash].append(document.id)
    there = {one.content_hash async for one in client.documents.all() if one.status is not DocumentStatus.deleting}
    placed = PlacedDocument()
    absent = [one for one in dataset.documents if one.content_hash not in there]
    await _upload(client, absent, placed, progress)
    await _settled(client, progress, graph)
    async for found in client.documents.all():
        names = hashes.get(found.content_hash)
        if names is None:
            placed.others += 1
        elif found.searchable_version is None:
            placed.refused.update(dict.fromkeys(names, f"it is {found.status.value}"))
        else:
            placed.documents.update(dict.fromkeys(names, found.id))
            placed.incomplete += found.embedding_status is not EmbeddingStatus.complete
    return placed


def judged(dataset: Dataset, placed: PlacedDocument) -> list[JudgedQuestion]:
    """Returns the questions with the expected documents; if documents are identical, the best grade counts."""
    titles = {one.id: one.title for one in dataset.documents}
    questions = []
    for question in dataset.questions:
        grades: dict[UUID | str, tuple[int, str]] = {}
        for name, grade in dataset.grades[question.id].items():
            where = placed.documents.get(name, name)
            grades[where] = max(grades.get(where, (0, "")), (grade, name))
        targets = tuple(
            Target(
                name, grade, frozenset([where]) if isinstance(where, UUID) else frozenset(), title=titles.get(name, "")
            )
            for where, (grade, name) in grades.items()
        )
        questions.append(JudgedQuestion(Question(question.id, question.text), targets))
    return questions


async def _upload(
    client: AttractorClient, documents: Sequence[CorpusDocument], placed: PlacedDocument, progress: Progress
) -> None:
    total, done = len(documents), 0
    batches = iter([documents[start : start + FILES_PER_UPLOAD] for start in range(0, total, FILES_PER_UPLOAD)])

    async def work() -> None:
        nonlocal done
        for batch in batches:
            answers = await client.documents.upload(*(one.file() for one in batch))
            for document, answer in zip(batch, answers, strict=True):
                if answer.document is None:
                    placed.refused[document.id] = answer.message or answer.error or "it was refused"
                placed.uploaded += answer.created
            done += len(batch)
            progress("uploading", done, total)

    await side_by_side(UPLOADS_AT_ONCE, work)


async def _settled(client: AttractorClient, progress: Progress, graph: bool) -> None:
    while True:
        summary = await client.documents.summary()
        indexing, reading = _open(summary, graph)
        if indexing:
            progress("indexing", summary.total - indexing, summary.total)
        elif reading:
            progress("reading for the graph", summary.total - reading, summary.total)
        else:
            return
        await asyncio.sleep(POLL_SECONDS)  # the API has no event for a whole workspace


def _open(summary: DocumentSummary, graph: bool) -> tuple[int, int]:
    waiting = summary.by_stage.get("graph", 0) if graph else 0
    return summary.by_status.get(DocumentStatus.processing, 0), waiting
