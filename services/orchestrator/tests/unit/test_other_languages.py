"""An answer in another language than its sources: what becomes of its citations, with an encoder of both or without."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from contracts.openai_embeddings import EmbeddingList, EmbeddingUsage, EmbeddingVector
from contracts.orchestrator import SentenceCheck
from orchestrator.citations.check import MarkerFilter
from orchestrator.citations.judgement import OTHER_LANGUAGE
from orchestrator.citations.other_languages import CLOSEST, NOT_CLOSE, SAMPLES, least_alike
from orchestrator.citations.wording import unlike
from orchestrator.graphs.conversation.multilingual import MultilingualEncoder
from orchestrator.graphs.conversation.passages import Verified, sources_of
from orchestrator.graphs.conversation.sentence_models import ModelChecks
from orchestrator.graphs.conversation.state import FoundChunk
from service_kit.problems import ServiceSilent

LENDING = "A book may be kept for three weeks. Whoever is late pays a fee."
CATERING = "The kitchen is open until noon. Breakfast is served on the terrace."
# What the encoder takes for the same, whatever the language.
TOPICS = ("book", "buch", "livre"), ("fee", "gebühr"), ("kitchen", "küche"), ("breakfast", "frühstück")
WHOEVER_IS_LATE = "Wer sich verspätet, muss eine Gebühr entrichten"


def by_topic(texts: Sequence[str]) -> list[list[float]]:
    """The vectors of an encoder that reads all languages."""
    samples = {text: len(TOPICS) + at for at, same in enumerate(SAMPLES) for text in same}
    found = []
    for text in texts:
        words = (at for at, names in enumerate(TOPICS) if any(name in text.lower() for name in names))
        at = samples.get(text, next(words, len(TOPICS) + len(SAMPLES)))
        found.append(np.eye(len(TOPICS) + len(SAMPLES) + 1)[at].tolist())
    return found


def by_language(texts: Sequence[str]) -> list[list[float]]:
    """The vectors of an encoder that takes all of one language for much the same."""
    german = [any(word in f" {text.lower()} " for word in (" der ", " die ", " das ", " wer ")) for text in texts]
    return [[0.6, 0.8] if one else [0.8, 0.6] for one in german]


class Retrieval:
    def __init__(self, encoder: Callable[[Sequence[str]], list[list[float]]] | None) -> None:
        self.encoder, self.asked = encoder, list[int]()

    async def embedded(self, _: Any, texts: Sequence[str]) -> EmbeddingList:
        self.asked.append(len(texts))
        if self.encoder is None:
            raise ServiceSilent("retrieval is away")
        vectors = [EmbeddingVector(index=at, embedding=one) for at, one in enumerate(self.encoder(texts))]
        return EmbeddingList(model="m", data=vectors, usage=EmbeddingUsage(prompt_tokens=1, total_tokens=1))


def chunk(number: int, content: str) -> FoundChunk:
    return FoundChunk(
        chunk_id=f"c{number}",
        document_id="00000000-0000-4000-8000-00000000000d",
        document_name=f"{number}.md",
        document_title=None,
        section=None,
        page=None,
        line_start=None,
        line_end=None,
        score=1.0,
        content=content,
        highlights=[],
    )


PASSAGES = [chunk(1, CATERING), chunk(2, LENDING)]


def context_with(retrieval: Any) -> Any:
    return SimpleNamespace(
        caller=None,
        alike=unlike,
        entailment=None,
        encoder=MultilingualEncoder(retrieval),
        models=SimpleNamespace(of=lambda _: None),
        events=SimpleNamespace(emit=lambda _: None),
    )


def checked(answer: str, retrieval: Retrieval) -> tuple[Verified, list[str]]:
    """The answer as a model wrote it, after its markers and sentences were checked."""
    markers = MarkerFilter(sources_of(PASSAGES, unlike))
    text = markers.feed(answer) + markers.end()
    checks = ModelChecks(context_with(retrieval), PASSAGES)
    return asyncio.run(checks.verified(text, markers.cited)), checks.issues


def checked_sentences(
    answer: str, encoder: Callable[[Sequence[str]], list[list[float]]] | None
) -> tuple[str, list[SentenceCheck]]:
    found, _ = checked(answer, Retrieval(encoder))
    return found.content, found.sentences


@pytest.mark.parametrize("marker", [" [2]", " [1]", ""])
def test_a_multilingual_encoder_cites_the_most_similar_sentence(marker: str) -> None:
    found, issues = checked(f"{WHOEVER_IS_LATE}{marker}.", Retrieval(by_topic))
    assert found.content == f"{WHOEVER_IS_LATE} [1]."
    assert [(one.quote, one.document_name) for one in found.citations] == [("Whoever is late pays a fee.", "2.md")]
    (sentence,) = found.sentences
    assert (sentence.status, sentence.reason, sentence.attributed) == ("unclear", CLOSEST, True)
    assert issues == []


def test_a_statement_without_a_similar_sentence_is_reported_as_such() -> None:
    content, sentences = checked_sentences(
        "Der Hafen ist im Winter geschlossen [1]. Das gilt auch für die Werft.", by_topic
    )
    assert content == "Der Hafen ist im Winter geschlossen [1]. Das gilt auch für die Werft."
    assert [(one.status, one.reason == NOT_CLOSE) for one in sentences] == [("unclear", True), ("unsupported", False)]


@pytest.mark.parametrize("encoder", [by_language, None])
def test_without_a_multilingual_encoder_the_citation_stays_with_a_notice(
    encoder: Callable[[Sequence[str]], list[list[float]]] | None,
) -> None:
    content, sentences = checked_sentences(f"{WHOEVER_IS_LATE} [2]. Die Küche ist zu.", encoder)
    assert content == f"{WHOEVER_IS_LATE} [1]. Die Küche ist zu."
    assert [(one.status, one.reason) for one in sentences] == [("unclear", OTHER_LANGUAGE)] * 2


def test_an_encoder_outage_is_an_issue() -> None:
    _, issues = checked(f"{WHOEVER_IS_LATE} [2].", Retrieval(None))
    assert issues == ["what is in another language was compared by names and numbers alone: retrieval is away"]


def test_numbers_and_names_are_compared_in_any_language() -> None:
    content, (sentence,) = checked_sentences("Die Gebühr von 45 Euro ist für das Buch zu zahlen [2].", by_topic)
    assert (sentence.status, content) == ("contradicted", "Die Gebühr von 45 Euro ist für das Buch zu zahlen.")


def test_an_encoder_is_called_once_and_only_if_needed() -> None:
    retrieval = Retrieval(by_language)
    context = context_with(retrieval)
    for answer in ("A book may be kept for three weeks.", f"{WHOEVER_IS_LATE}.", "Die Küche ist zu."):
        asyncio.run(ModelChecks(context, PASSAGES).verified(answer, []))
    assert retrieval.asked == [sum(map(len, SAMPLES))]


def test_an_encoder_counts_as_multilingual_if_translations_are_most_similar() -> None:
    samples = [text for same in SAMPLES for text in same]
    assert least_alike(np.array(by_topic(samples), np.float32)) == pytest.approx(0.5)
    assert least_alike(np.array(by_language(samples), np.float32)) is None
