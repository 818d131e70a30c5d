"""Recall: takes candidates from the user's index, drops what no longer holds, folds near-duplicates, adds context."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from contracts.fixed_answers import NOT_REMEMBERED
from contracts.memory import (
    ContextMessage,
    MemoryKind,
    RecalledAnswer,
    RecalledMemory,
    RecallRequest,
    RecallResponse,
    ToldStatement,
    UnansweredQuestion,
)
from inference.embeddings import Embedder
from inference.errors import EmbeddingError
from memory.facts.acknowledgement import acknowledged
from memory.facts.answers import answer_text, answering
from memory.facts.corrections import SaidBefore, needs_facts
from memory.facts.profile import MOST_IN_PROFILE, all_known, asks_for_all_known, profile_of
from memory.facts.questions import FactQuestion, fact_question
from memory.facts.repository import FactRows
from memory.facts.rules import statements
from memory.facts.things import names_of
from memory.preparation import estimated_tokens
from memory.recall.dates import asks
from memory.recall.index import RankedMemories, RecallQuestion
from memory.recall.indexes import MemoryIndexes
from memory.recall.repository import NearMessage, RecallRows
from memory.recall.telling import Telling
from memory.recall.unanswered import has_quotable, told_before, unanswered
from relevance.duplicates import Folding
from relevance.german import language_of
from service_kit.postgres import Database

log = logging.getLogger(__name__)
RELEVANT, RELEVANT_BY_WORDS = 0.58, 0.42
"""Minimum scores of results, fitted so that unrelated questions find nothing. The second is for lexical search alone:
without the cosine, scores are lower."""
LIST_MORE, LIST_SHARE = 2, 0.9
SUPERSEDED = -0.5
MOST_ACKNOWLEDGED = 8
"""Maximum facts in one answer."""
MOST_HELD = 100
"""Facts among which those that answer are chosen."""
_WORD = re.compile(r"\w+")
LOOKED_AT, AT_ONCE = 200, 50
"""Candidates whose rows are read at most, and at once: mostly the first are enough."""


@dataclass(frozen=True)
class _Recalled:
    found: RankedMemories
    unembedded: int


class Recall:
    """Recalls memories; one instance serves all users."""

    def __init__(self, database: Database, indexes: MemoryIndexes, embedder: Embedder) -> None:
        self.database, self.indexes, self.embedder = database, indexes, embedder
        self.telling = Telling(indexes.analyzer, indexes.tokenizer, indexes.soft_match)

    async def recall(
        self, workspace_id: UUID, user_id: UUID, request: RecallRequest, without: frozenset[str] = frozenset()
    ) -> RecallResponse:
        """Returns the memories that answer the request, and a fact's answer; `without` names features to ignore."""
        vector = await self._vector(request.query)
        now = datetime.now(UTC)
        question = self._question(request, vector, now, without)
        recalled = await self.indexes.with_index(
            workspace_id, user_id, lambda index: _Recalled(index.find(question), index.unembedded)
        )
        as_of = request.as_of or now
        async with self.database.workspace(workspace_id, user_id=user_id) as connection:
            rows = RecallRows(connection, workspace_id)
            least = RELEVANT if vector is not None else RELEVANT_BY_WORDS
            candidates, memories = await self._read(rows, user_id, recalled.found, request, as_of, least)
            if request.token_budget and memories:
                beside = await rows.neighbours(user_id, [one.id for one in memories])
                memories = _with_context(memories, beside, request.token_budget)
            unprepared = await rows.unprepared(user_id)
            facts = FactRows(connection, workspace_id)
            asked_fact = self._fact_asked(request, as_of)
            answer = None if asked_fact is None else await self._answer(facts, user_id, request, asked_fact)
            told = await self._told(facts, user_id, request, now)
            if asks_for_all_known(request.query) and not request.kinds:
                answer, told = await self._all_known(facts, user_id, request, as_of)
            open_question = None
            if answer is None and told is None and not request.kinds:
                open_question = await asyncio.to_thread(
                    self._reply, request, asked_fact, recalled.found.ids, candidates, memories
                )
            profile = None
            if request.profile_tokens:
                profile = profile_of(await facts.holding(user_id, now, MOST_IN_PROFILE), request.profile_tokens)
        return RecallResponse(
            memories=memories,
            answer=answer,
            told=told,
            unanswered=open_question,
            profile=profile,
            mode="words" if vector is None else "full",
            unembedded=recalled.unembedded + unprepared,
        )

    async def _read(
        self,
        rows: RecallRows,
        user_id: UUID,
        found: RankedMemories,
        request: RecallRequest,
        as_of: datetime,
        least: float,
    ) -> tuple[list[RecalledMemory], list[RecalledMemory]]:
        """Returns the best candidates, so many that no other can be a result or be quoted, and the results."""
        read, memories = list[RecalledMemory](), list[RecalledMemory]()
        past = request.as_of is not None
        for first in range(0, min(LOOKED_AT, len(found.ids)), AT_ONCE):
            last = min(first + AT_ONCE, LOOKED_AT)
            ids = found.ids[first:last]
            read += await rows.candidates(user_id, ids, as_of, request.scope, request.session_id, past=past)
            memories = _selected(found, read, request, least)
            best_left = float(found.scores[last]) if last < len(found.ids) else 0.0
            if best_left < _needed(memories, request, least) and (request.kinds or has_quotable(read)):
                break
        return read, memories

    async def relevant(self, workspace_id: UUID, user_id: UUID, query: str) -> set[UUID]:
        """Returns the memories that answer the query, including those that no longer hold and near-duplicates."""
        vector, now = await self._vector(query), datetime.now(UTC)
        question = self._question(RecallRequest(query=query), vector, now, frozenset())
        found = await self.indexes.with_index(workspace_id, user_id, lambda index: index.find(question))
        least = RELEVANT if vector is not None else RELEVANT_BY_WORDS
        scored = zip(found.ids[:LOOKED_AT], found.scores.tolist(), strict=False)
        return {memory_id for memory_id, score in scored if score >= least}

    async def similar(self, workspace_id: UUID, user_id: UUID, text: str, most: int) -> list[UUID]:
        """Returns the facts, preferences and styles that resemble a text most, best first."""
        vector = await self._vector(text)
        kinds = [MemoryKind.fact, MemoryKind.preference, MemoryKind.style]
        request = RecallRequest(query=text[:1_000], kinds=kinds)
        question = self._question(request, vector, datetime.now(UTC), frozenset())
        found = await self.indexes.with_index(workspace_id, user_id, lambda index: index.find(question))
        return found.ids[:most]

    @staticmethod
    def _fact_asked(request: RecallRequest, now: datetime) -> FactQuestion | None:
        if request.kinds and MemoryKind.fact not in request.kinds:
            return None
        return fact_question(request.query, now, request.time_zone, request.before)

    async def _answer(
        self, facts: FactRows, user_id: UUID, request: RecallRequest, question: FactQuestion
    ) -> RecalledAnswer | None:
        """Returns the answer that a fact gives by itself, at the time that the question names."""
        about = (names_of(question.subject), question.predicates)
        facts_then = await facts.holding(user_id, question.as_of, MOST_HELD, about, question.owned, question.named)
        held = answering(question, facts_then)[:MOST_ACKNOWLEDGED]
        if not held:
            return None
        return RecalledAnswer(
            text=answer_text(question, held, request.time_zone),
            memory_id=held[0].id,
            about_user=question.about_user,
            language="de" if question.german else "en",
        )

    @staticmethod
    async def _all_known(
        facts: FactRows, user_id: UUID, request: RecallRequest, as_of: datetime
    ) -> tuple[RecalledAnswer | None, ToldStatement | None]:
        """Returns a list of what is remembered of the user, the newest first, or else that this is nothing."""
        held = await facts.holding(user_id, as_of, MOST_IN_PROFILE)
        language = language_of(request.query)
        if not held:
            return None, ToldStatement(text=NOT_REMEMBERED[language], about_user=True, language=language)
        text = all_known(request.query, held, request.time_zone)
        return RecalledAnswer(text=text, memory_id=held[0].id, about_user=True, language=language), None

    async def _told(
        self, facts: FactRows, user_id: UUID, request: RecallRequest, now: datetime
    ) -> ToldStatement | None:
        """Returns the answer to a statement; only for a correction are the known facts read."""
        before = SaidBefore(request.before, (), request.session_id)
        if any(needs_facts(one) for one in statements(request.query, now, request.time_zone)):
            before = replace(before, facts=await facts.known(user_id, None, now))
        return acknowledged(request.query, now, request.time_zone, await facts.writing(), before)

    def _reply(
        self,
        request: RecallRequest,
        asked: FactQuestion | None,
        ranked: Sequence[UUID],
        candidates: Sequence[RecalledMemory],
        memories: Sequence[RecalledMemory],
    ) -> UnansweredQuestion | None:
        """Returns what was said that tells what is asked, or else resembles it, if only the user can have said it."""
        known = {one.id: one for one in candidates}
        best_first = [known[memory_id] for memory_id in ranked if memory_id in known]
        return told_before(request.query, best_first, self.telling, request.time_zone) or unanswered(
            request.query, asked, memories, self.telling, request.time_zone
        )

    async def _vector(self, query: str) -> NDArray[np.float32] | None:
        try:
            vectors = await self.embedder.embed([query])
        except EmbeddingError as error:
            log.warning("recall is lexical only", exc_info=error)
            return None
        first: NDArray[np.float32] = vectors[0]
        return first

    def _question(
        self, request: RecallRequest, vector: NDArray[np.float32] | None, now: datetime, without: frozenset[str]
    ) -> RecallQuestion:
        analyzer = self.indexes.analyzer
        pieces = self.indexes.tokenizer.weighted(request.query, lambda word: float(bool(analyzer.terms(word))))
        kinds = frozenset(kind.value for kind in request.kinds)
        return RecallQuestion(request.query, analyzer.terms(request.query), pieces, vector, kinds, now, without)


def _selected(
    found: RankedMemories, candidates: Sequence[RecalledMemory], request: RecallRequest, least: float
) -> list[RecalledMemory]:
    """Returns the best relevant memories, near-duplicates folded; more than `k` if the next scores are close."""
    known = {one.id: one for one in candidates}
    scored: list[tuple[float, int, RecalledMemory]] = []
    for place, (memory_id, score) in enumerate(zip(found.ids, found.scores.tolist(), strict=True)):
        if (memory := known.get(memory_id)) is not None and not _only_asks(memory.content, request.query):
            scored.append((score + SUPERSEDED * memory.superseded, place, memory))
    scored.sort(key=lambda one: (-one[0], one[1]))
    folding, kept = Folding(), list[RecalledMemory]()
    for score, place, memory in scored:
        if score < least:
            break
        full = len(kept) >= request.k
        if full and (len(kept) >= LIST_MORE * request.k or score < LIST_SHARE * kept[request.k - 1].score):
            break
        if folding.add(place, memory.content) is None:
            features = {name: round(float(values[place]), 4) for name, values in found.features.items()}
            kept.append(memory.model_copy(update={"score": score, "features": features if request.explain else None}))
    counts = [len(folding.folded.duplicates.get(place, ())) for place in folding.folded.order]
    return [one.model_copy(update={"duplicates": count}) for one, count in zip(kept, counts, strict=True)]


def _needed(memories: Sequence[RecalledMemory], request: RecallRequest, least: float) -> float:
    """Returns the score that one more result would need."""
    if len(memories) < request.k:
        return least
    if len(memories) >= LIST_MORE * request.k:
        return memories[-1].score
    return max(least, LIST_SHARE * memories[request.k - 1].score)


def _only_asks(content: str, query: str) -> bool:
    """Returns whether a message asks what the query asks, and has no word of its own: people ask the same again."""
    return asks(content) and set(_WORD.findall(content.casefold())) <= set(_WORD.findall(query.casefold()))


def _with_context(
    memories: Sequence[RecalledMemory], beside: Sequence[NearMessage], budget: int
) -> list[RecalledMemory]:
    """Adds the messages next to those found, for the best first, while everything fits into the token budget."""
    left = budget - sum(estimated_tokens(one.content) for one in memories)
    context: dict[UUID, list[ContextMessage]] = {}
    for one in memories:
        for near in sorted((near for near in beside if near.of == one.id), key=lambda near: near.position):
            if (cost := estimated_tokens(near.content)) <= left:
                left -= cost
                message = ContextMessage(id=near.id, position=near.position, speaker=near.speaker, content=near.content)
                context.setdefault(one.id, []).append(message)
    return [one.model_copy(update={"context": context.get(one.id, [])}) for one in memories]
