"""The queue of users whose memories have to be embedded, and that all are embedded in the end."""

from __future__ import annotations

from uuid import UUID, uuid4

import numpy as np
import pytest
from work_conformance import WorkCase, WorkConformance

from contracts.memory import MemoryKind, RecallRequest
from inference.embeddings import EmbeddingSpace
from inference.errors import EmbeddingError
from memory.embedding.filling import EmbeddingFilling
from memory.embedding.work import CHANNEL, IDLE, TABLE
from memory.preparation import Preparation
from memory.recall.indexes import MemoryIndexes
from memory.recall.recall import Recall
from memory.repository import Memories, NewMemory
from service_kit.notifications import Notifications
from service_kit.postgres import Database
from service_kit.work import WorkQueue

MODEL = "model of the test"
ADD = "INSERT INTO embedding_work (workspace_id, user_id, model) VALUES (%s, %s, %s)"


class Embedder:
    """Embeds by counting letters; while it is away, it fails like the real ones."""

    def __init__(self, model: str = MODEL) -> None:
        self.is_away = False
        self.space = EmbeddingSpace(model, 26, 256)

    async def embed(self, texts):
        if self.is_away:
            raise EmbeddingError("away")
        counts = np.array([[1 + text.lower().count(chr(97 + one)) for one in range(26)] for text in texts], np.float32)
        return counts / np.linalg.norm(counts, axis=1, keepdims=True)

    async def aclose(self):
        return None


@pytest.fixture
def urls(make_database):
    return make_database("memory")


@pytest.fixture
async def database(urls):
    async with Database(urls.service, 4).opened() as database:
        yield database


class TestEmbeddingQueue(WorkConformance):
    @pytest.fixture
    def case(self, database, urls) -> WorkCase:
        async def add(workspace_id: UUID, count: int) -> None:
            for _ in range(count):  # each in its own transaction, so that they are due in order
                async with database.workspace(workspace_id) as connection:
                    await connection.execute(ADD, (workspace_id, uuid4(), MODEL))

        return WorkCase(
            queue=lambda owner, lease_seconds: WorkQueue(database, TABLE, lease_seconds, owner),
            add=add,
            notifications=Notifications(urls.service, CHANNEL),
            finished=IDLE,
            ending={"model": MODEL},
            parameters={"model": MODEL},
        )


async def test_a_memory_that_could_not_be_embedded_is_found_by_its_words_and_embedded_later(database, urls):
    embedder, workspace, user = Embedder(), uuid4(), uuid4()
    indexes = MemoryIndexes(database, embedder.space, 1 << 20)
    preparation = Preparation(embedder, indexes.analyzer, indexes.tokenizer)
    recall, text = Recall(database, indexes, embedder), "The billing database moves to Frankfurt."
    embedder.is_away = True
    [prepared] = await preparation.prepare([text], [text])
    async with database.workspace(workspace) as connection:
        await Memories(connection, workspace).insert(NewMemory(uuid4(), MemoryKind.note, text, user), prepared)
    request = RecallRequest(query="Where does the billing database move?", explain=True)
    found = await recall.recall(workspace, user, request)
    assert ([one.content for one in found.memories], found.mode, found.unembedded) == ([text], "words", 1)

    embedder.is_away = False
    filling = EmbeddingFilling(database, Notifications(urls.service, CHANNEL), preparation)
    [held] = await filling.queue.claim(1, model=MODEL)
    await filling.fill(held)
    found = await recall.recall(workspace, user, request)
    assert ([one.content for one in found.memories], found.mode, found.unembedded) == ([text], "full", 0)
    assert found.memories[0].features["cos"] > 0
    assert await filling.queue.claim(1, model=MODEL) == []

    other = EmbeddingFilling(
        database,
        Notifications(urls.service, CHANNEL),
        Preparation(Embedder("another model"), indexes.analyzer, indexes.tokenizer),
    )
    [held] = await other.queue.claim(1, model="another model")
    await other.fill(held)
    async with database.workspace(workspace) as connection:
        models = await (await connection.execute("SELECT embedding_model FROM memory")).fetchall()
    assert models == [("another model",)]
