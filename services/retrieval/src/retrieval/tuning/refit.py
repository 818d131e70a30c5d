"""`python -m retrieval refit WORKSPACE QUESTIONS`: weights of a workspace's embedding space from judged questions."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence
from contextlib import AsyncExitStack, aclosing
from dataclasses import replace
from pathlib import Path, PurePath
from uuid import UUID

import numpy as np

from contracts.retrieval import SearchMode
from inference.factory import build_embedders
from retrieval.dense.query_vectors import QueryVectors
from retrieval.lexical.analysis import Analyzer
from retrieval.ranking.fusion import FEATURES, scaled
from retrieval.ranking.matching import Matching
from retrieval.ranking.rule import RankingRule
from retrieval.search.candidates import Candidates, Wording, collect
from retrieval.search.leg import Asked, Limits
from retrieval.search.legs import Legs
from retrieval.search.snapshot import SearchStore
from retrieval.settings import Settings
from retrieval.tuning.fitting import FEWEST_QUESTIONS, Fitted, Judged, cross_validated, dcg
from retrieval.tuning.judged import JudgementsInvalid, Passage, Question, read_questions
from retrieval.tuning.store import QUERIES, SearchSettingsStore, stored_settings
from retrieval.tuning.tuning import Tuning
from service_kit.postgres import Database

CANDIDATES = 100  # of each leg
MOST_NAMED = 20  # of what is not there
PATIENCE = Limits(lexical_seconds=30, dense_seconds=60)


def declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("workspace", type=UUID, help="id of the workspace that holds the documents")
    told = "judged questions: a folder in the layout of BEIR, or a file as `attractor eval` reads it (YAML, JSON Lines)"
    parser.add_argument("questions", type=Path, help=told)
    parser.add_argument("--write", action="store_true", help="keep the weights, if they are better on other questions")


def command(arguments: argparse.Namespace) -> None:
    """Prints what was found; exits with 1 where the questions cannot be used."""
    try:
        place: Path = arguments.questions
        questions, named = read_questions(place), place.resolve().name
        asyncio.run(_run(Settings(), arguments.workspace, questions, named, write=arguments.write))
    except JudgementsInvalid as error:
        sys.exit(f"retrieval: {error}")


async def _run(
    settings: Settings, workspace_id: UUID, questions: Sequence[Question], named: str, *, write: bool
) -> None:
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(Database(settings.database_url.get_secret_value()).opened())
        embedders = await stack.enter_async_context(aclosing(build_embedders(settings)))
        default = embedders.default.space.model, embedders.default.space.dims
        store = SearchStore(database, settings.hnsw_ef_search, default)
        legs = Legs(store, QueryVectors(embedders), Analyzer(), PATIENCE)
        refit = Refit(legs, SearchSettingsStore(database, default), Matching())
        fitted, written = await refit(workspace_id, questions, named, write=write)
        sys.stdout.write(_told(fitted, written=written))


class Refit:
    """Asks the questions in the workspace, in one state of it for each, and fits weights to what was found."""

    def __init__(self, legs: Legs, store: SearchSettingsStore, matching: Matching) -> None:
        self.legs, self.store, self.matching = legs, store, matching

    async def __call__(
        self, workspace_id: UUID, questions: Sequence[Question], named: str, *, write: bool
    ) -> tuple[Fitted, bool]:
        """The weights, and whether they were written: only if they are better.

        Raises JudgementsInvalid, naming what answers a question and is not in the workspace.
        """
        if len(questions) < FEWEST_QUESTIONS:
            raise JudgementsInvalid(f"{len(questions)} judged questions; it takes {FEWEST_QUESTIONS}")
        if absent := sorted(await self._absent(workspace_id, questions)):
            more = f" and {len(absent) - MOST_NAMED} more" if len(absent) > MOST_NAMED else ""
            raise JudgementsInvalid(f"not in the workspace: {', '.join(absent[:MOST_NAMED])}{more}")
        judged = []
        tuning = await self._tuning(workspace_id)
        if tuning.space is None:
            raise JudgementsInvalid("the workspace has no embedding space yet")
        for question in questions:
            if (found := await self._judged(workspace_id, tuning, question)) is not None:
                judged.append(found)
        if len(judged) < FEWEST_QUESTIONS:
            raise JudgementsInvalid(f"of {len(judged)} questions only something was found; it takes {FEWEST_QUESTIONS}")
        fitted = await asyncio.to_thread(cross_validated, judged, tuning.rule.space)
        if not (write and fitted.better):
            return fitted, False
        weights = replace(fitted.space, fitted_on=f"{named}, {len(judged)} questions")
        await self.store.put_weights(workspace_id, tuning.space, weights)
        return fitted, True

    async def _absent(self, workspace_id: UUID, questions: Sequence[Question]) -> set[str]:
        """What is to answer the questions, by whatever it is called there, and is no document and no passage here."""
        absent = {name for question in questions for name in question.grades}
        of = {"workspace_id": workspace_id}
        async with self.store.database.workspace(workspace_id) as connection:
            async for name, *others in await connection.execute(QUERIES["document_labels"], of):
                absent -= {name, PurePath(name).stem, *others}
            cursor = await connection.execute(QUERIES["known_chunk_ids"], of | {"chunk_ids": list(absent)})
            return absent - {row[0] for row in await cursor.fetchall()}

    async def _tuning(self, workspace_id: UUID) -> Tuning:
        async with self.store.database.workspace(workspace_id) as connection:
            return Tuning.of(await stored_settings(connection, workspace_id))

    async def _judged(self, workspace_id: UUID, tuning: Tuning, question: Question) -> Judged | None:
        seconds = PATIENCE.lexical_seconds + PATIENCE.dense_seconds
        async with self.legs.store.snapshot(workspace_id, seconds) as snapshot:
            asked = Asked(
                snapshot, question.text, None, tuning.space, CANDIDATES, False, tuning.parameters, tuning.documents
            )
            lexical, dense = await asyncio.gather(self.legs.lexical(asked), self.legs.dense(asked))
            if failed := lexical.error or dense.error:
                raise JudgementsInvalid(f"a question could not be asked: {failed}")
            rule: RankingRule = replace(tuning.rule, mode=SearchMode.hybrid)
            wording = Wording(question.text, lexical, dense)
            candidates = await collect(snapshot.reader, rule, [wording], None, self.matching)
            rows = await snapshot.reader.rows("candidate_names", chunks=list(candidates.features))
        between = scaled(candidates.cosines, [one.chunk for one in dense.found])
        return _measured(question, candidates, between, [Passage(*row) for row in rows]) if rows else None


def _measured(
    question: Question, candidates: Candidates, between: dict[int, float], passages: Sequence[Passage]
) -> Judged:
    features = [candidates.features[one.number].as_dict() for one in passages]
    judgement = question.judge(passages)
    return Judged(
        features=np.array([[one[name] for name in FEATURES] for one in features]),
        scaled=np.array([between.get(one.number, 0.0) for one in passages]),
        units=np.array(judgement.units),
        grades=np.array(judgement.grades),
        ideal=dcg(np.array(question.ideal[:10])),
    )


def _told(fitted: Fitted, *, written: bool) -> str:
    lines = [
        f"{len(fitted.before)} questions, nDCG@10 on those that the weights were not fitted on:",
        f"  before {fitted.before.mean():.4f}   after {fitted.after.mean():.4f}"
        f"   gain {fitted.gain:+.4f} (standard error {fitted.standard_error:.4f})",
        "weights fitted on all: "
        + ", ".join(f"{name} {value:g}" for name, value in fitted.space.weights.as_dict().items())
        + (", cosine between the worst and the best" if fitted.space.scaled else ""),
        "written" if written else "better; --write keeps them" if fitted.better else "not better: nothing is written",
    ]
    return "\n".join(lines) + "\n"
