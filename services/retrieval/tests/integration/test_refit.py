"""Weights fitted to the judged questions of a workspace."""

from __future__ import annotations

import numpy as np
import pytest

from contracts.events import DocumentIndexed
from inference.embedders import Embedders
from retrieval.dense.query_vectors import QueryVectors
from retrieval.lexical.analysis import Analyzer
from retrieval.ranking.matching import Matching
from retrieval.ranking.weights import BUNDLED, SpaceWeights
from retrieval.search.legs import Legs
from retrieval.search.snapshot import SearchStore
from retrieval.tuning import refit as refitting
from retrieval.tuning.fitting import Fitted
from retrieval.tuning.judged import JudgementsInvalid, Question
from retrieval.tuning.refit import PATIENCE, Refit
from retrieval.tuning.store import SearchSettingsStore

THINGS = [
    "bridge",
    "canal",
    "castle",
    "desert",
    "engine",
    "forest",
    "garden",
    "harbour",
    "island",
    "jungle",
    "kitchen",
    "lantern",
    "market",
    "needle",
]
TEXTS = [f"The {thing} was built in {1900 + number}." for number, thing in enumerate(THINGS)] * 2


@pytest.fixture
async def refit(ingestion, converted, database, embedder):
    await ingestion.convert(await ingestion.embedded(converted(TEXTS, name="x.md")))
    await ingestion.wait_for(DocumentIndexed, 1)
    space = (embedder.space.model, embedder.space.dims)
    legs = Legs(SearchStore(database, 100), QueryVectors(Embedders(embedder)), Analyzer(), PATIENCE)
    return Refit(legs, SearchSettingsStore(database, space), Matching())


def questions(document: str) -> list[Question]:
    return [Question(f"When was the {thing} built?", {document: 1}) for thing in THINGS * 2]


async def test_weights_that_nothing_is_better_than_stay(refit, workspace_id):
    fitted, written = await refit(workspace_id, questions("x.md"), "all", write=True)
    assert not written
    assert fitted.after.tolist() == [1.0] * len(questions(""))
    assert (await refit.store.get(workspace_id)).version == 0


async def test_better_weights_are_written_only_when_asked_to(refit, workspace_id, monkeypatch):
    weights = SpaceWeights(BUNDLED.weights.__class__(cosine=1.0, soft_match=2.0))
    found = Fitted(weights, np.zeros(20), np.ones(20))
    monkeypatch.setattr(refitting, "cross_validated", lambda _judged, _start: found)
    assert await refit(workspace_id, questions("x"), "ours", write=False) == (found, False)
    assert await refit(workspace_id, questions("x"), "ours", write=True) == (found, True)
    settings = await refit.store.get(workspace_id)
    assert settings.weights == weights.weights.as_dict()
    assert settings.fitted_on == f"ours, {len(questions('x'))} questions"
    assert settings.version == 1


async def test_quotes_are_looked_for_in_the_passages(refit, workspace_id):
    quoted = [Question(f"When was the {thing} built?", {}, (f"the {thing} was built",)) for thing in THINGS * 2]
    fitted, written = await refit(workspace_id, quoted, "quotes", write=False)
    assert not written
    assert fitted.before.mean() > 0.9


async def test_questions_about_documents_that_are_not_there_are_refused_by_name(refit, workspace_id):
    asked = questions("x") + questions("gone.pdf") + questions("away")
    with pytest.raises(JudgementsInvalid, match=r"^not in the workspace: away, gone\.pdf$"):
        await refit(workspace_id, asked, "some", write=True)
    many = [Question("When?", {f"paper {number:02}": 1}) for number in range(30)]
    with pytest.raises(JudgementsInvalid, match=r"paper 00, .*, paper 19 and 10 more$"):
        await refit(workspace_id, many, "many", write=True)


async def test_too_few_questions_are_refused(refit, workspace_id):
    with pytest.raises(JudgementsInvalid, match="it takes"):
        await refit(workspace_id, questions("x")[:5], "few", write=True)
