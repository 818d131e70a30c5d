"""A user who has 50 memories recalls exactly what a scan of these finds, whatever others in the workspace keep."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import uuid4

import numpy as np
import psycopg
import pytest
from scanned_memories import scanned

from memory.preparation import SpokenText, said_in_context
from memory.recall.index import IndexedMemory, RecallQuestion
from memory.recall.recall import RELEVANT
from memory.repository import Memories, NewMessage
from relevance.duplicates import Folding

WHO = ("Anna", "Ben", "Clara", "Dino", "Esra")
WHAT = (
    "{0} moved the billing database to Frankfurt in May",
    "{0} wants the report on travel costs by Friday",
    "{0} has booked a table for six in the harbour",
    "{0} found the leak in the search index",
    "{0} prefers trains to planes",
    "{0} asked for a second screen last week",
    "{0} renamed the project to Kestrel",
    "{0} takes care of the invoices",
    "{0} will be on holiday in 2027",
    "{0} broke the coffee machine yesterday",
)
QUESTIONS = (
    "Who moved the database?", "When does Ben want the report?", "What did Anna ask for?", "Who pays the bills?",
    "Which project was renamed?", "Who found a problem in the index?", "Where is the table booked?",
    "Does Clara like flying?", "When is Esra away?", "What broke yesterday?", "What happened in May 2026?",
    "Dino", "coffee", "trains", "What is the melting point of copper?",
)  # fmt: skip
OTHERS = 40


@pytest.fixture
async def many(client, app, workspace_id, principal):  # noqa: ARG001  the client starts the app
    """Stores 50 messages of the user, and as many of each of 40 others, in other words or the same."""
    texts = [what.format(who) for what in WHAT for who in WHO]
    sessions = {who: uuid4() for who in WHO}
    said = [SpokenText("", text) for text in texts]
    contexts = [said_in_context(one, said[at - 5] if at >= 5 else None) for at, one in enumerate(said)]
    prepared = await app.state.preparation.prepare(texts, contexts)
    for owner in [principal.user_id, *(uuid4() for _ in range(OTHERS))]:
        async with app.state.database.workspace(workspace_id) as connection:
            memories = Memories(connection, workspace_id)
            of = {who: session if owner == principal.user_id else uuid4() for who, session in sessions.items()}
            for at, (text, one) in enumerate(zip(texts, prepared, strict=True)):
                now = datetime(2026, 5, 1 + at // 5, 9, at % 5, tzinfo=UTC)
                message = NewMessage(uuid4(), owner, of[WHO[at % 5]], "user", "", text, now, "UTC")
                await memories.insert_message(message, one)


@pytest.fixture
def stored(app, workspace_id, principal):
    """Returns the user's memories as they are in the database."""

    def read() -> list[IndexedMemory]:
        with psycopg.connect(app.state.database_url) as connection:
            connection.execute("SELECT set_config('app.workspace_id', %s, false)", (str(workspace_id),))
            rows = connection.execute(
                "SELECT id, kind, session_id, '', said_at, content, terms, pieces, embedding::text FROM memory.memory"
                " WHERE created_by = %s ORDER BY said_at",
                (principal.user_id,),
            ).fetchall()
        return [IndexedMemory(*row[:8], np.fromstring(row[8][1:-1], np.float32, sep=",")) for row in rows]

    return read


@pytest.mark.usefixtures("many")
async def test_one_user_s_recall_among_many_others_is_that_of_a_scan(client, app, stored, auth_headers):
    rows, recall = stored(), app.state.recall
    assert len(rows) == len(WHAT) * len(WHO)
    content = {one.id: one.content for one in rows}
    pieces, analyzer = recall.indexes.tokenizer, recall.indexes.analyzer
    some = 0
    for text in QUESTIONS:
        vector = (await recall.embedder.embed([text]))[0]
        weighted = pieces.weighted(text, lambda word: float(bool(analyzer.terms(word))))
        asked = RecallQuestion(text, analyzer.terms(text), weighted, vector, frozenset(), datetime.now(UTC))
        scores = scanned(rows, asked, recall.indexes.soft_match)
        folding = Folding()
        best = sorted((one for one in scores.items() if one[1] >= RELEVANT), key=lambda one: -one[1])
        expected = [one for place, one in enumerate(best) if folding.add(place, content[one[0]]) is None]
        body = {"query": text, "k": 50}
        found = (await client.post("/v1/memories/recall", json=body, headers=auth_headers())).json()["memories"]
        assert [one["content"] for one in found] == [content[one] for one, _ in expected], text
        np.testing.assert_allclose([one["score"] for one in found], [score for _, score in expected], atol=1e-3)
        some += bool(found)
    assert some > len(QUESTIONS) // 2
