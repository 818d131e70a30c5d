"""What each feature of recall adds: recall@10 with all of them, and with each left out, without a chat model.

The index is asked directly, about the conversations that `attractor eval memory` takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from statistics import mean
from typing import TypeAlias
from uuid import UUID, uuid4

import numpy as np
from api_calls import EVALUATION
from benchmarks.figures import Row
from numpy.typing import NDArray

from attractor_client.evaluation.remembering import ALL, AskedConversation, K, read_conversations
from inference.embeddings import Embedder
from inference.factory import build_embedder
from inference.settings import EmbeddingSettings
from memory.preparation import SpokenText, said_in_context
from memory.recall.index import WEIGHTS, IndexedMemory, MemoryIndex, RecallQuestion
from relevance.analysis import Analyzer
from relevance.soft_match import SoftMatch
from relevance.wordpieces import WordPieces

CONVERSATIONS = EVALUATION / "mem-locomo" / "conversations.json"
SHOWN = (ALL, "multi-hop", "temporal")
AT_ONCE = 64
Tools: TypeAlias = tuple[SoftMatch, Analyzer, WordPieces]


async def memory_features() -> list[Row]:
    """Returns a row for all features, and one without each."""
    conversations = read_conversations(CONVERSATIONS)
    embedder = build_embedder(EmbeddingSettings())
    tools = SoftMatch(), Analyzer(), WordPieces()
    left_out = [frozenset[str](), *(frozenset({name}) for name in WEIGHTS)]
    shares: dict[frozenset[str], dict[str, list[float]]] = {one: {name: [] for name in SHOWN} for one in left_out}
    for one in conversations:
        index, turn_of, now = await _indexed(one, embedder, tools)
        asked = await _embedded(embedder, [question.text for question in one.questions])
        for question, vector in zip(one.questions, asked, strict=True):
            for without in left_out:
                found = index.find(_question(question.text, vector, now, without, tools)).ids[:K]
                share = len(question.evidence & {turn_of[memory] for memory in found}) / len(question.evidence)
                for name in (ALL, question.category):
                    if name in SHOWN:
                        shares[without][name].append(share)
    await embedder.aclose()
    return [
        (
            f"recall@10 {'without ' + next(iter(without)) if without else 'with all features'}: {', '.join(SHOWN)}",
            "; ".join(f"{mean(values):.3f}" for values in shares[without].values()),
            "" if without else ".86; .53; .95",
        )
        for without in left_out
    ]


async def _indexed(
    one: AskedConversation, embedder: Embedder, tools: Tools
) -> tuple[MemoryIndex, dict[UUID, str], datetime]:
    """Returns the index of the conversation, the messages' own ids, and the time of the last one."""
    soft_match, analyzer, pieces = tools
    index, turn_of = MemoryIndex(embedder.space.dims, soft_match, analyzer, pieces), dict[UUID, str]()
    last = datetime.min.replace(tzinfo=UTC)
    sessions = dict[str, UUID]()
    for part in one.sessions:
        session = sessions.setdefault(part.id, uuid4())
        spoken = [SpokenText(message.speaker, message.content) for message in part.messages]
        contexts = [said_in_context(text, before) for text, before in zip(spoken, [None, *spoken], strict=False)]
        packed = pieces.distinct([message.content for message in part.messages])
        for message, kept, vector in zip(part.messages, packed, await _embedded(embedder, contexts), strict=True):
            memory, said_at = uuid4(), message.at.replace(tzinfo=UTC)
            turn_of[memory], last = message.id, max(last, said_at)
            terms = analyzer.terms(message.content)
            row = (memory, "episode", session, message.speaker, said_at, message.content, terms, kept, vector)
            index.put([IndexedMemory(*row)])
    return index, turn_of, last


async def _embedded(embedder: Embedder, texts: Sequence[str]) -> list[NDArray[np.float32]]:
    return [row for at in range(0, len(texts), AT_ONCE) for row in await embedder.embed(texts[at : at + AT_ONCE])]


def _question(
    text: str, vector: NDArray[np.float32], now: datetime, without: frozenset[str], tools: Tools
) -> RecallQuestion:
    _, analyzer, pieces = tools
    weighted = pieces.weighted(text, lambda word: float(bool(analyzer.terms(word))))
    return RecallQuestion(text, analyzer.terms(text), weighted, vector, frozenset(), now, without)
