"""Spaces of two real models: built, searched, switched back and forth, dropped; through failures and restarts."""

from __future__ import annotations

import asyncio
import json
import os
import sys

import pytest
from pydantic import SecretStr
from waiting import eventually

from contracts.embedding_spaces import SpaceStatus
from contracts.events import DocumentIndexed, EmbeddingSpaceActivated
from contracts.gateway import Role
from inference.factory import build_embedders
from retrieval.app import create_app
from retrieval.spaces import builder as builder_module
from retrieval.spaces.builder import SpaceBuilder
from retrieval.spaces.rows import CHANNEL, LeasedSpace, SpaceRows
from service_kit.notifications import Notifications
from service_kit.outbox import Outbox

MINILM, WORDS = "all-MiniLM-L6-v2-onnx-int8", "words"
TEXTS = ["The port is 8080.", "Lunch is at noon.", "Backups run at night."]


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(builder_module, "RETRY_SECONDS", 0.2)
    monkeypatch.setattr(builder_module, "LEASE_SECONDS", 3.0)  # a third of it is the interval of checks


@pytest.fixture
def settings(make_settings, provider):
    """The bundled model is the default, and the provider's can be chosen."""
    return make_settings([provider.model()])


class Spaces:
    """Calls the routes as an owner."""

    def __init__(self, client, headers) -> None:
        self.client, self.headers = client, headers

    async def all(self):
        answer = await self.client.get("/v1/embedding-spaces", headers=self.headers())
        assert answer.status_code == 200, answer.text
        return {one["model"]: one for one in answer.json()["items"]}

    async def post(self, path: str = "", status: int = 202, role: Role = Role.owner, **body):
        place = f"/v1/embedding-spaces{path}"
        answer = await self.client.post(place, json=body or None, headers=self.headers(role=role))
        assert answer.status_code == status, answer.text
        return answer.json()

    async def drop(self, space_id: str, status: int = 202):
        answer = await self.client.delete(f"/v1/embedding-spaces/{space_id}", headers=self.headers())
        assert answer.status_code == status, answer.text
        return answer.json()

    async def until(self, model: str, status: str, **more):
        wanted = more | {"status": status}
        found = await eventually(self.all, lambda found: wanted.items() <= found.get(model, {}).items())
        return found[model]


@pytest.fixture
def connect(auth_headers):
    return lambda client: Spaces(client, auth_headers)


@pytest.fixture
def spaces(client, connect):
    return connect(client)


@pytest.fixture
def indexed(ingestion, converted):
    """await indexed(texts, ...): indexes a document with vectors of the bundled model."""

    async def index(texts=TEXTS, **more):
        document = converted(texts, **more)
        if more.get("embedded", True):
            await ingestion.embedded(document)
        before = len(await ingestion.answers(DocumentIndexed)) if more.get("later") else 0
        await ingestion.convert(document)
        await ingestion.wait_for(DocumentIndexed, before + 1)
        return document

    return index


async def dense(search, query: str) -> str:
    found = await search(query, mode="dense", k=1)
    return str(found["hits"][0]["content"])


async def count(database, workspace_id, statement: str, *values) -> int:
    async with database.workspace(workspace_id) as connection:
        return (await (await connection.execute(statement, values)).fetchone())[0]


async def test_a_space_is_built_activated_reverted_and_deleted(
    spaces, indexed, ingestion, search, provider, database, workspace_id
):
    empty = await spaces.all()
    assert {model: one["status"] for model, one in empty.items()} == {MINILM: "active", WORDS: "available"}
    await indexed()
    activated = await ingestion.wait_for(EmbeddingSpaceActivated, 1)
    assert [(one.model, one.dims) for one in activated] == [(MINILM, 384)]

    built = await spaces.post(model=WORDS)
    assert (built["model"], built["activate"], built["configured"]) == (WORDS, True, True)
    active = await spaces.until(WORDS, "active")
    assert (active["vectors"], active["chunks"], active["seconds_left"]) == (3, 3, None)
    assert sorted(provider.texts) == sorted(TEXTS)
    assert (await spaces.all())[MINILM]["status"] == "ready"
    assert await dense(search, "backups at night") == TEXTS[2]
    assert provider.texts[-1] == "backups at night"
    assert [one.model for one in await ingestion.answers(EmbeddingSpaceActivated)] == [MINILM, WORDS]

    old = (await spaces.all())[MINILM]
    assert (await spaces.post(f"/{old['id']}/activate"))["status"] == "active"
    asked = len(provider.texts)
    assert await dense(search, "when do I eat?") == TEXTS[1]
    assert len(provider.texts) == asked
    assert (await spaces.all())[WORDS]["status"] == "ready"
    assert (await spaces.drop(old["id"], 409))["type"] == "embedding-space-in-use"

    index = f"chunk_vector_{active['id']}"
    assert await count(database, workspace_id, "SELECT count(to_regclass(%s))", index) == 1
    assert (await spaces.drop(active["id"]))["status"] == "dropping"
    await spaces.until(WORDS, "available", vectors=0)
    assert await count(database, workspace_id, "SELECT count(*) FROM chunk_vector") == 3
    # The index is dropped once no search uses the table.
    await eventually(
        lambda: count(database, workspace_id, "SELECT count(to_regclass(%s))", index), lambda found: found == 0
    )


async def test_an_invalid_filter_is_rejected_with_a_reason(spaces, client, auth_headers):
    unknown = await spaces.post(status=422, model="nothing")
    assert unknown["type"] == "unknown-embedding-model"
    assert unknown["configured"] == [{"model": MINILM, "dims": 384}, {"model": WORDS, "dims": 64}]
    assert (await spaces.post(status=422, model=WORDS, dims=65))["type"] == "unknown-embedding-model"
    assert (await spaces.post(status=422, model=WORDS, base_url="http://elsewhere"))["type"] == "invalid-request"
    assert (await spaces.post(status=403, role=Role.editor, model=WORDS))["type"] == "forbidden"
    for unknown_id in ("0" * 16, "%00", "x"):
        answer = await client.get(f"/v1/embedding-spaces/{unknown_id}", headers=auth_headers())
        assert answer.status_code in {404, 422}
    await spaces.post(f"/{'0' * 16}/activate", 404)
    await spaces.drop("0" * 16, 404)
    viewer = await client.get("/v1/embedding-spaces", headers=auth_headers(role=Role.viewer))
    assert viewer.status_code == 200
    assert "sk-secret" not in viewer.text


async def test_documents_indexed_during_a_build_are_in_the_new_space_before_the_switch(
    spaces, indexed, search, provider
):
    await indexed()
    provider.open.clear()
    await spaces.post(model=WORDS)
    state = (await spaces.all())[WORDS]
    assert (state["status"], state["vectors"]) == ("building", 0)
    await indexed(["A late passage."], later=True)
    assert await dense(search, "late passage") == "A late passage."
    provider.open.set()
    active = await spaces.until(WORDS, "active")
    assert (active["vectors"], active["chunks"]) == (4, 4)
    assert await dense(search, "late passage") == "A late passage."


async def test_missing_vectors_of_the_other_model_are_added_later(spaces, indexed, ingestion, search):
    """Covers a document in progress during the switch, which arrives with vectors of the previous model."""
    await indexed()
    await spaces.post(model=WORDS)
    await spaces.until(WORDS, "active")
    await indexed(["Embedded with the old one."], later=True)
    healed = await ingestion.wait_for(DocumentIndexed, 3)
    assert [one.vectors for one in healed] == [3, 0, 1]
    state = await spaces.all()
    assert (state[WORDS]["vectors"], state[MINILM]["vectors"]) == (4, 4)
    assert await dense(search, "the old one") == "Embedded with the old one."


async def test_a_document_without_vectors_is_embedded(ingestion, search, converted):
    bare = converted(TEXTS, embedded=False)
    await ingestion.convert(bare)
    first, second = await ingestion.wait_for(DocumentIndexed, 2)
    assert (first.vectors, second.vectors, second.version) == (0, 3, 1)
    assert await dense(search, "when do I eat?") == TEXTS[1]


async def test_a_provider_failure_is_shown_and_retried(spaces, indexed, provider):
    await indexed()
    provider.status = 401
    await spaces.post(model=WORDS)
    failed = await spaces.until(WORDS, "failed", error_class="ProviderRejected")
    assert "not now" in failed["error_message"]
    provider.status = 429
    await spaces.post(model=WORDS)
    await spaces.until(WORDS, "building", error_class="ProviderUnavailable")
    provider.status = 200
    active = await spaces.until(WORDS, "active", error_class=None)
    assert active["vectors"] == 3
    assert len(provider.texts) == 3


async def test_the_most_recently_requested_space_is_activated(spaces, indexed, provider):
    await indexed()
    provider.open.clear()
    await spaces.post(model=WORDS)
    await spaces.post(f"/{(await spaces.all())[MINILM]['id']}/activate")
    provider.open.set()
    assert (await spaces.until(WORDS, "ready", vectors=3))["activate"] is False
    assert (await spaces.all())[MINILM]["status"] == "active"


async def test_a_changed_environment_never_breaks_the_search(
    make_settings, provider, running, ingesting, converted, connect, auth_headers
):
    """Removes the model used by a workspace from the configuration, then restores it beside a new default."""

    async def ask(client, **more):
        answer = await client.post("/v1/search", json={"query": "backups at night", **more}, headers=auth_headers())
        return answer.status_code, answer.json()

    async with running(create_app(make_settings())) as client:
        await ingesting.convert(await ingesting.embedded(converted(TEXTS)))
        await ingesting.wait_for(DocumentIndexed, 1)

    beside = {"backend": "bundled"}
    async with running(create_app(make_settings([beside], **provider.default()))) as client:
        await asyncio.sleep(0.6)  # two rounds of the builder, which has nothing to do
        assert {one["model"]: one["status"] for one in (await connect(client).all()).values()} == {
            MINILM: "active",
            WORDS: "available",
        }
        assert (await ask(client))[1]["legs"][1]["error"] is None

    async with running(create_app(make_settings(**provider.default()))) as client:
        await connect(client).post(model=WORDS)
        await connect(client).until(WORDS, "active")

    provider.status = 429
    async with running(create_app(make_settings(**provider.default("moved")))) as client:
        await connect(client).until("moved", "building", error_class="ProviderUnavailable")
        status, found = await ask(client)
        assert (status, found["hits"][0]["content"]) == (200, TEXTS[2])
        assert found["legs"][1]["error"] == "the embedding model words (64 dimensions) is no longer configured"
        assert (await ask(client, mode="dense"))[0] == 503
        old = (await connect(client).all())[WORDS]
        assert (old["status"], old["configured"]) == ("active", False)
        provider.status = 200
        await connect(client).until("moved", "active", vectors=3)
        assert (await ask(client, mode="dense"))[1]["hits"][0]["content"] == TEXTS[2]
        refused = await connect(client).post(f"/{old['id']}/activate", 409)
        assert refused["type"] == "embedding-model-not-configured"


CHILD = """
from retrieval.spaces import builder
builder.LEASE_SECONDS = 3.0
from retrieval.__main__ import start
start()
"""


def environment(settings, port: int) -> dict[str, str]:
    """Returns the environment of a separate process with these settings."""
    values = settings.model_dump(exclude_none=True, exclude={"embedding_models"}) | {"port": port}
    plain = {
        name.upper(): str(one.get_secret_value() if isinstance(one, SecretStr) else one) for name, one in values.items()
    }
    models = [one.model_dump(mode="json", exclude_none=True) for one in settings.embedding_models]
    for model, one in zip(models, settings.embedding_models, strict=True):
        model["api_key"] = one.api_key.get_secret_value()
    return os.environ | plain | {"EMBEDDING_MODELS": json.dumps(models)}


async def test_a_build_continues_after_a_kill_and_is_shared_by_replicas(
    settings, urls, database, index, converted, workspace_id, provider, unused_port
):
    await index(converted([f"passage number {number}" for number in range(200)]))
    configured = build_embedders(settings)
    async with database.workspace(workspace_id) as connection:
        rows = SpaceRows(connection, workspace_id)
        await rows.add((MINILM, 384), SpaceStatus.active)
        await rows.add((WORDS, 64), SpaceStatus.building, activate=True)

    def replica() -> SpaceBuilder:
        waiting = Notifications(urls.service, CHANNEL)
        return SpaceBuilder(
            database, waiting, Outbox("test"), lambda: build_embedders(settings), configured.spaces, batch=16
        )

    async def claimed() -> list[LeasedSpace]:
        return await replica().queue.claim(1, **replica().configured)

    async def vectors() -> int:
        return await count(database, workspace_id, "SELECT count(*) FROM chunk_vector WHERE model = %s", WORDS)

    provider.answers = 3  # then it keeps callers waiting
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", CHILD, env=environment(settings, unused_port))
    try:
        await eventually(vectors, lambda written: written >= 32)
        assert await claimed() == []
    finally:
        process.kill()
        await process.wait()
    provider.answers = None
    provider.open.set()

    replicas = [asyncio.create_task(replica().worker.run()) for _ in range(3)]
    await eventually(vectors, lambda written: written == 200)
    statement = "SELECT count(*) FROM embedding_space WHERE model = %s AND status = 'active' AND state = 'idle'"
    await eventually(lambda: count(database, workspace_id, statement, WORDS), lambda found: found == 1)
    for one in replicas:
        one.cancel()
    await asyncio.gather(*replicas, return_exceptions=True)
    assert 200 <= len(provider.texts) <= 232  # answered before the kill, and in flight at the kill
    statement = "SELECT status FROM embedding_space WHERE model = %s"
    assert await count(database, workspace_id, statement, WORDS) == "active"
    await configured.aclose()
