"""Forgets what is known about someone or something: previews it, or deletes it from every table, with a receipt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Literal
from uuid import UUID

from contracts.gateway import Role
from contracts.memory import ForgetRequest, ForgetResponse, Memory, TakenMemory
from memory.episodes.turn_events import TurnEvents
from memory.facts.questions import fact_question
from memory.facts.things import names_of
from memory.recall.recall import Recall
from memory.repository import Memories
from memory.rights.about import Subject
from memory.rights.mentions import Mentions
from memory.rights.repository import RightsRows
from memory.rights.world_mentions import Forgotten, forget_in_world
from memory.world.repository import Author, WorldPlace, WorldRows
from memory.world.status import compile_status
from service_kit.auth import Principal
from service_kit.postgres import Connection, Database

MOST_SHOWN = 200


@dataclass(frozen=True)
class _Reason:
    """Why a memory is selected, and which words of the question it has."""

    why: Literal["mentions", "answers", "words", "session", "id", "along"]
    words: tuple[str, ...] = ()


_ALONG = _Reason("along")


class Forgetting:
    """Forgets memories; each request is one transaction of its caller, limited to the caller's own memories."""

    def __init__(self, database: Database, recall: Recall, turns: TurnEvents) -> None:
        self.database, self.recall, self.turns = database, recall, turns

    async def forget(self, caller: Principal, request: ForgetRequest) -> ForgetResponse:
        """Forgets or previews; returns counts by table. `remaining` is what is left, or the caller may not remove."""
        relevant = await self._relevant(caller, request)
        async with self.database.workspace(caller.workspace_id, user_id=caller.user_id) as connection:
            rows = RightsRows(connection, caller.workspace_id)
            memories = Memories(connection, caller.workspace_id)
            await memories.lock()
            reasons = await self._meant(rows, caller.user_id, request, relevant)
            ids = await self._with_others(rows, caller.user_id, request, set(reasons))
            listed = await rows.listed(ids, MOST_SHOWN) if request.preview else []
            removed = Counter(asdict(await rows.counts(ids)))
            transcripts, runs = await rows.transcripts(ids), await rows.runs(ids)
            if ids and not request.preview:
                await memories.forget(caller.user_id, ids)
            remaining = Counter[str]({"memory": 0 if request.preview else len(await rows.owned(caller.user_id, ids))})
            await _worlds(connection, caller, request, runs, removed, remaining)
            # Before the commit: a turn without memories that is left would never be deleted.
            told = await self.turns.erase(caller.workspace_id, ids, keep=request.preview)
            removed["event"], remaining["event"] = told.removed, told.remaining
        return ForgetResponse(
            preview=request.preview,
            memories=[_taken(one, reasons.get(one.id, _ALONG)) for one in listed],
            removed=removed,
            remaining=remaining,
            transcripts=transcripts,
        )

    async def _relevant(self, caller: Principal, request: ForgetRequest) -> set[UUID]:
        if request.query is None:
            return set()
        return await self.recall.relevant(caller.workspace_id, caller.user_id, request.query)

    async def _meant(
        self, rows: RightsRows, user_id: UUID, request: ForgetRequest, relevant: set[UUID]
    ) -> dict[UUID, _Reason]:
        if request.session_id is not None:
            return dict.fromkeys(await rows.of_session(user_id, request.session_id), _Reason("session"))
        if request.about is not None:
            return dict.fromkeys(await rows.mentioning(user_id, Mentions(request.about)), _Reason("mentions"))
        if request.query is not None:
            return await self._answering(rows, user_id, request.query, relevant)
        return dict.fromkeys(await rows.owned(user_id, request.ids), _Reason("id"))

    async def _answering(self, rows: RightsRows, user_id: UUID, query: str, relevant: set[UUID]) -> dict[UUID, _Reason]:
        """Returns the facts that answer the question, and the relevant memories that have its names and words."""
        analyzer = self.recall.indexes.analyzer
        subject = Subject.of(query, analyzer)
        reasons = {
            one.id: _Reason("words", tuple(words))
            for one in await rows.texts(user_id, relevant)
            if (words := subject.words_in(analyzer.terms(one.text)))
        }
        if question := fact_question(query, datetime.now(UTC), "UTC"):
            found = await rows.answering(user_id, names_of(question.subject), question.predicates[0])
            reasons |= dict.fromkeys(found, _Reason("answers"))
        return reasons

    async def _with_others(self, rows: RightsRows, user_id: UUID, request: ForgetRequest, ids: set[UUID]) -> set[UUID]:
        if request.session_id is not None:
            return await rows.with_unstated(ids)
        return await rows.with_sources(user_id, ids)


def _taken(memory: Memory, reason: _Reason) -> TakenMemory:
    return TakenMemory(**memory.model_dump(), why=reason.why, words=list(reason.words))


async def _worlds(
    connection: Connection,
    caller: Principal,
    request: ForgetRequest,
    runs: Mapping[UUID, Sequence[UUID]],
    removed: Counter[str],
    remaining: Counter[str],
) -> None:
    """Deletes the session's world, what mentions the text in any world, and topics of runs; a preview only counts."""
    own = await RightsRows(connection, caller.workspace_id).own_worlds(caller.user_id)
    if request.session_id in own:
        world = WorldRows(connection, WorldPlace(caller.workspace_id, request.session_id, caller.user_id))
        removed.update({"world": 1, "world_event": await world.count_events()})
        if not request.preview:
            await world.delete()
    mentions, author = None if request.about is None else Mentions(request.about), Author(caller.user_id)
    affected = [one for one in own if one != request.session_id and (mentions or one in runs)]
    for session_id in [None, *affected] if mentions else affected:
        place = WorldPlace(caller.workspace_id, session_id, caller.user_id if session_id else None)
        may = session_id is not None or caller.role.rank >= Role.editor.rank
        forgotten = Forgotten(mentions, runs.get(session_id, ()) if session_id else ())
        found = await forget_in_world(WorldRows(connection, place), forgotten, author, keep=request.preview or not may)
        (removed if may else remaining).update(asdict(found))
    if mentions and not request.preview:
        await compile_status(connection, caller.workspace_id)
