"""Runs an evaluation, from a data set on disk to the result."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from attractor_client.client import AttractorClient
from attractor_client.errors import NotFound
from attractor_client.evaluation.asking import Asking
from attractor_client.evaluation.corpus import PlacedDocument, Progress, judged, place
from attractor_client.evaluation.dataset import is_dataset, read_dataset
from attractor_client.evaluation.errors import BadDataset
from attractor_client.evaluation.questions import expectations, read_questions
from attractor_client.evaluation.results import Evaluation
from attractor_client.evaluation.workspaces import opened
from contracts.ingestion import DocumentStatus
from contracts.retrieval import SearchMode

Note = Callable[[str], None]


@dataclass(frozen=True)
class Plan:
    """What to evaluate, where and how. `workspace` is a name or id; `here` loads a corpus into the key's own."""

    dataset: Path
    modes: Sequence[SearchMode]
    k: int = 10
    workspace: str | None = None
    new_workspace: bool = False
    keep: bool = False
    here: bool = False
    split: str = "test"
    limit: int | None = None
    jobs: int = 1
    use_graph: bool = True
    rerank: bool = True
    fold_duplicates: bool = False


async def evaluate(
    client: AttractorClient, plan: Plan, progress: Progress, note: Note, placed: Callable[[PlacedDocument], None]
) -> Evaluation:
    """Runs an evaluation. Calls `note` with remarks for the reader, and `placed` once a corpus is in the workspace.

    Raises BadDataset.
    """
    if plan.dataset.is_dir():
        return await _of_corpus(client, plan, progress, note, placed)
    if plan.new_workspace:
        raise BadDataset("a new workspace has no documents for your own questions")
    return await _of_questions(client, plan, progress)


async def _of_corpus(
    client: AttractorClient, plan: Plan, progress: Progress, note: Note, on_placed: Callable[[PlacedDocument], None]
) -> Evaluation:
    if not is_dataset(plan.dataset):
        raise BadDataset(f"{plan.dataset} has no corpus.jsonl")
    dataset = read_dataset(plan.dataset, plan.split)
    if dataset.left_out:
        note(f"{dataset.left_out} questions have no grades, or lack some of their evidence, and are skipped")
    name = None if plan.here else plan.workspace or f"evaluation {dataset.name}"
    if plan.new_workspace:
        name = f"{name} {datetime.now(UTC):%Y-%m-%d %H:%M:%S}"
    async with opened(client, name, make=True, fresh=plan.new_workspace, keep=plan.keep) as where:
        note(f"workspace {where.workspace.name}{' (new)' if where.created else ''}")
        placed = await place(where.client, dataset, progress, graph=plan.use_graph)
        on_placed(placed)
        asking = Asking(plan.modes, plan.k, plan.jobs, plan.use_graph, plan.rerank, plan.fold_duplicates, placed.names)
        results = await asking.run(where.client, judged(dataset, placed)[: plan.limit], progress)
        return Evaluation(
            format="attractor-evaluation-1",
            dataset=dataset.name,
            at=datetime.now(UTC),
            k=plan.k,
            modes=[mode.value for mode in plan.modes],
            documents=len(placed.documents) + placed.others,
            about=await _about(where.client, plan),
            questions=results,
        )


async def _of_questions(client: AttractorClient, plan: Plan, progress: Progress) -> Evaluation:
    questions = read_questions(plan.dataset)[: plan.limit]
    async with opened(client, plan.workspace) as where:
        documents = [one async for one in where.client.documents.all() if one.status is not DocumentStatus.deleting]
        asking = Asking(plan.modes, plan.k, plan.jobs, plan.use_graph, plan.rerank, plan.fold_duplicates)
        results = await asking.run(where.client, expectations(questions, documents), progress)
        return Evaluation(
            format="attractor-evaluation-1",
            dataset=plan.dataset.stem,
            at=datetime.now(UTC),
            k=plan.k,
            modes=[mode.value for mode in plan.modes],
            documents=len(documents),
            about=await _about(where.client, plan),
            questions=results,
        )


async def _about(client: AttractorClient, plan: Plan) -> dict[str, str]:
    """Returns the settings that the figures depend on."""
    about = {"server": (await client.accounts.status()).version}
    try:
        settings = await client.search_settings.get()
    except NotFound:
        return about  # the server has no such settings
    about["embedding space"] = settings.embedding_space or "none"
    about["weights"] = _listed(settings.weights)
    about["BM25"] = f"k1 {settings.k1:g}, b {settings.b:g}"
    about["rrf"] = f"k {settings.rrf_k}, {_listed(settings.legs)}"
    off = {"graph": plan.use_graph, "reranker": plan.rerank}
    if without := [name for name, used in off.items() if not used]:
        about["without"] = ", ".join(without)
    return {name: value for name, value in about.items() if value}


def _listed(values: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {value:g}" for name, value in values.items())
