"""The encoder for queries: vectors near those made in float32, which depend on nothing else."""

from collections.abc import AsyncIterator

import numpy as np
import pytest

from inference.embeddings import Embedder
from inference.factory import build_embedder, build_embedders
from inference.settings import EmbeddingSettings

QUESTIONS = [
    "How long are tokens valid?",
    "What does the security policy say about passwords?",
    "Who is responsible for the billing service?",
    "When was the contract with Hansen signed?",
    "Wo liegt das Backup der Datenbank?",
    "Wer hat die Rechnung für Projekt Nordlicht freigegeben, und wann?",
    "python how to limit the rate of http request",
    "setdefault dictionary function python",
    "0-dimensional biomaterials show inductive properties.",
    "Where was the director of film Ronnie Rocket born?",
    "What is the name of the person who wrote the lyrics to the national anthem of the country that won in 1998?",
    "what similarity laws must be obeyed when constructing aeroelastic models of heated high speed aircraft .",
    "ERR_CONNECTION_REFUSED 127.0.0.1:5432",
    "SELECT count(*) FROM chunk WHERE deleted_at IS NULL",
    "pricing",
    "Q3 revenue EMEA vs. APAC?",
    "the the the the the",
    "Müller & Söhne GmbH",
    "什么是向量数据库",
    "¿Cuándo vence el contrato de alquiler?",
    "Is ibuprofen safe together with lithium, and at which dose does it interact?",
    "rollback strategy for a failed blue-green deployment on kubernetes",
    "Which team moved from Kafka to Redis streams last spring, and what did it cost?",
    "a",
    "why?",
    "?!",
    "2024-11-03",
    "Summarise the minutes of the last three board meetings",
    "onboarding checklist for new engineers in the Berlin office",
    "how do I reset my VPN password when the phone with the second factor is lost",
    "Who was the spouse of the performer of the song Maybellene?",
    "Vitamin D deficiency is unrelated to birth weight.",
    "max pressure of valve PV-113",
    "holiday policy",
    "GDPR Art. 17 erasure deadline",
    "why is the sky blue",
    "Does the build of the web UI run beside a start?",
]


@pytest.fixture
async def asking() -> AsyncIterator[Embedder]:
    embedders = build_embedders(EmbeddingSettings(), queries=True)
    yield embedders.default
    await embedders.aclose()


@pytest.fixture
async def stored() -> AsyncIterator[Embedder]:
    embedder = build_embedder(EmbeddingSettings())
    yield embedder
    await embedder.aclose()


async def test_a_vector_does_not_depend_on_the_other_texts(asking: Embedder) -> None:
    together = await asking.embed(QUESTIONS)
    for vector, question in zip(together, QUESTIONS, strict=True):
        np.testing.assert_array_equal(vector, (await asking.embed([question]))[0])


async def test_vectors_are_near_those_made_in_float32(asking: Embedder, stored: Embedder) -> None:
    cosines = (await asking.embed(QUESTIONS)) @ (await stored.embed(QUESTIONS)).T
    assert cosines.diagonal().min() >= 0.9999
    np.testing.assert_array_equal(cosines.argmax(axis=1), np.arange(len(QUESTIONS)))


async def test_both_make_vectors_of_one_space(asking: Embedder, stored: Embedder) -> None:
    assert asking.space == stored.space


async def test_a_cpu_whose_products_overflow_takes_float32(stored: Embedder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inference.query_encoder.multiplies_exactly", lambda: False)
    asking = build_embedders(EmbeddingSettings(), queries=True)
    np.testing.assert_array_equal(await asking.default.embed(QUESTIONS), await stored.embed(QUESTIONS))
    await asking.aclose()
