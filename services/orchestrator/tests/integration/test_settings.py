"""Settings of users and workspaces: who changes them, what runs make of them, and where secrets are."""

from __future__ import annotations

import asyncio
import base64
import json
import logging
from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from pydantic import SecretStr

from contracts.gateway import Role
from inference.estimate import estimated_tokens
from orchestrator.__main__ import rotate_settings_key
from orchestrator.settings import Settings
from service_kit.web_address import allowed_addresses

SETTINGS = "/v1/settings"
KEY, NEW_KEY = "ab" * 32, "cd" * 32
PLANTED, REPLACED = "sk-planted-4f6a1c", "sk-replaced-77b0de"
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="


@pytest.fixture
def own(settings: Settings) -> Settings:
    """Returns settings with a key for secrets, and providers allowed on this machine."""
    allowed = allowed_addresses("127.0.0.0/8")
    return settings.model_copy(update={"settings_key": SecretStr(KEY), "provider_allowed_networks": allowed})


@pytest.fixture
def owner(auth_headers: Callable[..., dict[str, str]]) -> dict[str, str]:
    return auth_headers(role=Role.owner)


@pytest.fixture
def put(owner: dict[str, str]) -> Callable[..., Any]:
    """await put(service, key, value): as an owner, for the workspace; the response."""

    async def change(service: Any, key: str, value: Any, headers: dict[str, str] | None = None) -> Any:
        return await service.client.put(
            f"{SETTINGS}/{key}", params={"scope": "workspace"}, json={"value": value}, headers=headers or owner
        )

    return change


@pytest.fixture
def provided(put: Callable[..., Any], others: str) -> Callable[..., Any]:
    """await provided(service): the workspace has a provider `mine`, with a key."""

    async def prepare(service: Any, headers: dict[str, str] | None = None) -> None:
        for key, value in (("base_url", f"{others}/own/v1"), ("api_key", PLANTED)):
            response = await put(service, f"providers.mine.{key}", value, headers)
            assert response.status_code == 200, response.text

    return prepare


async def states(service: Any, **params: str) -> dict[str, Any]:
    response = await service.client.get(SETTINGS, params=params)
    assert response.status_code == 200, response.text
    return {one["key"]: one for one in response.json()["items"]}


async def answered_run(service: Any) -> dict[str, Any]:
    run = await service.ask(await service.session(title="Tokens"))
    await service.events(run["id"])
    ended: dict[str, Any] = await service.run(run["id"])
    return ended


async def test_every_setting_has_a_schema_a_default_and_a_category(start: Any, own: Settings) -> None:
    async with start(own) as service:
        listed = (await service.client.get(f"{SETTINGS}/schema")).json()["items"]
        now = await states(service)
        roles = await states(service, category="roles")
    assert {one["category"] for one in listed} == {"answers", "budgets", "providers", "roles"}
    assert [one["key"] for one in listed if one["is_secret"]] == ["providers.{name}.api_key"]
    assert all(one["value_schema"] and one["description"] for one in listed)
    assert now.keys() == {one["key"] for one in listed if "{" not in one["key"]}
    assert {(one["is_set"], one["source"], one["updated_at"]) for one in now.values()} == {(False, "default", None)}
    assert roles.keys() == {f"roles.{role}" for role in ("router", "answer", "artifact", "summary", "title", "vision")}


async def test_user_settings_override_workspace_settings_in_runs(
    start: Any, own: Settings, world: Any, others: str, put: Any, other_user: dict[str, str]
) -> None:
    model = own.model_copy(update={"chat_base_url": f"{others}/chat/v1", "chat_model": "small"})
    async with start(model) as service:
        await put(service, "answers.temperature", 0.9)
        await put(service, "answers.instructions", "Speak like a pirate.")
        await put(service, "answers.passages", 3)
        for key, value in (("answers.temperature", 0.4), ("answers.instructions", "Be brief.")):
            set_ = await service.client.put(f"{SETTINGS}/{key}", json={"value": value})
            assert set_.status_code == 200, set_.text
        mine = await states(service)
        theirs = (await service.client.get(SETTINGS, headers=other_user)).json()["items"]
        run = await answered_run(service)
        await service.client.delete(f"{SETTINGS}/answers.temperature")
        after = await states(service)
    assert (mine["answers.temperature"]["value"], mine["answers.temperature"]["source"]) == (0.4, "user")
    assert mine["answers.temperature"]["updated_at"]
    assert {one["value"] for one in theirs if one["key"] == "answers.temperature"} == {0.9}
    assert (after["answers.temperature"]["value"], after["answers.temperature"]["source"]) == (0.9, "workspace")
    prompt = world.chats[0]["messages"][0]["content"]
    assert "Speak like a pirate.\n\nBe brief." in prompt
    assert world.chats[0]["temperature"] == 0.4
    assert world.searches[0][0]["k"] == 3
    # The check of citations goes on whatever instructions say.
    assert run["answer"]["citations"]
    assert "[9]" not in run["answer"]["content"]


async def test_a_provider_of_the_workspace_is_called_with_its_own_key(
    start: Any, own: Settings, world: Any, put: Any, provided: Any
) -> None:
    async with start(own) as service:
        await provided(service)
        chosen = await put(service, "roles.answer", [{"provider": "mine", "model": "large"}])
        run = await answered_run(service)
        usage = (await service.client.get("/v1/usage")).json()["items"]
    assert chosen.status_code == 200, chosen.text
    assert run["mode"] == "model"
    assert world.chats[0]["model"] == "large"
    assert world.chat_keys[0] == ("/own/v1/chat/completions", f"Bearer {PLANTED}")
    assert {(one["provider"], one["model"]) for one in usage} == {("mine", "large")}


async def test_if_a_model_fails_the_next_model_of_its_role_is_called(
    start: Any, own: Settings, world: Any, put: Any, provided: Any, others: str
) -> None:
    model = own.model_copy(update={"chat_base_url": f"{others}/chat/v1", "chat_model": "small"})
    async with start(model) as service:
        await provided(service)
        roles = [{"provider": "mine", "model": "large"}, {"provider": "operator", "model": "small"}]
        assert (await put(service, "roles.answer", roles)).status_code == 200
        world.failing = "/own/"
        run = await answered_run(service)
    assert [path for path, _ in world.chat_keys][-1] == "/chat/v1/chat/completions"
    assert run["answer"]["citations"]
    assert any("large" in issue or "mine" in issue for issue in run["issues"])


async def test_an_unlisted_model_is_reported_when_it_is_chosen(
    start: Any, own: Settings, world: Any, put: Any, provided: Any
) -> None:
    async with start(own) as service:
        await provided(service)
        models = [{"provider": "mine", "model": name} for name in ("small", "huge")]
        absent = await put(service, "roles.answer", models)
        unknown = await put(service, "roles.answer", [{"provider": "other", "model": "small"}])
        operator = await put(service, "roles.answer", [{"provider": "operator", "model": "small"}])
        world.failing = "/own/"
        silent = await put(service, "roles.answer", models)
        now = await states(service, scope="workspace")
    assert (absent.status_code, absent.json()["type"].split("/")[-1]) == (422, "model-not-listed")
    assert "huge of mine" in absent.json()["detail"]
    for refused in (unknown, operator, silent):
        assert (refused.status_code, refused.json()["type"].split("/")[-1]) == (422, "provider-unusable")
    assert now["roles.answer"]["is_set"] is False


async def test_a_message_may_name_the_models_that_write_its_answer(start: Any, model_settings: Any, world: Any) -> None:
    large, small = [[{"provider": "operator", "model": name}] for name in ("large", "small")]
    async with start(model_settings) as service:
        session = await service.session(title="Tokens")
        run = await service.ask(session, models=large)
        await service.events(run["id"])
        path = f"/v1/sessions/{session}/messages"
        unlisted = await service.client.post(path, json={"content": "?", "models": [{**large[0], "model": "huge"}]})
        again = f"/v1/messages/{run['answer_id']}/regenerate"
        for body in ({}, {"models": small}):
            repeated = await service.client.post(again, json=body)
            await service.events(repeated.json()["id"])
        usual = await service.ask(session)
        await service.events(usual["id"])
    assert [chat["model"] for chat in world.chats] == ["large", "large", "small", "small"]
    assert unlisted.status_code == 422
    assert "huge of operator" in unlisted.json()["detail"]


async def test_what_a_model_can_do_may_be_set_by_hand(
    start: Any, own: Settings, world: Any, provided: Any, put: Any
) -> None:
    long = f"Tokens expire after fifteen minutes. {'They are renewed by their service. ' * 40}"
    world.hits = [{**world.hits[0], "chunk_id": f"{at}", "content": f"{at}. {long}"} for at in range(8)]
    async with start(own) as service:
        await provided(service)
        session = await service.session(title="t")
        for tokens in (16_000, 3_000):
            blind = {"provider": "mine", "model": "large", "context_tokens": tokens, "vision": False}
            for role in ("answer", "vision"):
                assert (await put(service, f"roles.{role}", [blind])).json()["value"] == [blind]
            await service.events((await service.ask(session, parent_id=None))["id"])
        path = f"/v1/sessions/{session}/attachments"
        png = base64.b64decode(PIXEL)
        image = (await service.client.post(path, content=png, headers={"Content-Type": "image/png"})).json()["id"]
        run = await service.ask(session, "What is it?", attachment_ids=[image])
        await service.events(run["id"])
        ended = await service.run(run["id"])
    wide, narrow = [estimated_tokens(json.dumps(chat["messages"])) for chat in world.chats]
    assert narrow < 3_000 < wide
    assert ended["answer"]["content"].startswith("I cannot see images here: The model cannot do what is asked")
    assert "image_url" not in json.dumps(world.chats)


async def test_missing_models_are_reported_at_startup(
    start: Any, own: Settings, world: Any, put: Any, provided: Any, caplog: pytest.LogCaptureFixture
) -> None:
    async with start(own) as service:
        await provided(service)
        assert (await put(service, "roles.title", [{"provider": "mine", "model": "large"}])).status_code == 200
    world.models.remove("large")
    with caplog.at_level(logging.WARNING, "orchestrator.models.role_listing"):
        async with start(own) as service, asyncio.timeout(120):
            while not (missing := (await service.client.get("/readyz")).json()["models_missing"]):
                pass  # nothing tells when the providers have answered
    assert "large of mine" in missing[0]
    assert missing[0].startswith("role title of workspace")
    assert any("does not list" in record.message for record in caplog.records)


BAD: list[tuple[str, Any]] = [
    ("answers.temperature", 3),
    ("answers.temperature", "hot"),
    ("answers.instructions", ""),
    ("answers.instructions", None),
    ("answers.passages", 0),
    ("budgets.user", 0),
    ("budgets.user", "many"),
    ("roles.answer", []),
    ("roles.answer", [{"provider": "operator", "model": "small", "more": 1}]),
    ("providers.mine.base_url", "ftp://example.org/v1"),
    ("providers.mine.base_url", "http://169.254.169.254/v1"),
    ("providers.mine.base_url", "http://10.0.0.1/v1"),
    ("providers.mine.base_url", "http://0x0a000001/v1"),
    ("providers.mine.base_url", "https://user:word@example.org/v1"),
    ("providers.mine.api_key", "with space"),
    ("providers.mine.api_key", "no-address-yet"),
]


async def test_invalid_values_are_refused(start: Any, own: Settings, put: Any) -> None:
    async with start(own) as service:
        for key, value in BAD:
            refused = await put(service, key, value)
            assert refused.status_code == 422, (key, value, refused.text)
            if key.endswith("api_key"):
                assert value not in refused.text
        for key in ("answers.unknown", "providers.operator.base_url", "providers.a.b.base_url", "roles.nobody"):
            assert (await put(service, key, "x")).status_code == 404
        own_passages = await service.client.put(f"{SETTINGS}/answers.passages", json={"value": 3})
    assert own_passages.status_code == 404
    assert "answers.passages is the workspace's alone" in own_passages.json()["detail"]


async def test_only_owners_change_workspace_settings(
    start: Any, own: Settings, put: Any, auth_headers: Callable[..., dict[str, str]]
) -> None:
    async with start(own) as service:
        refused = [
            await put(service, "answers.temperature", 1.0, auth_headers(role=role))
            for role in (Role.viewer, Role.editor)
        ]
        deleted = await service.client.delete(
            f"{SETTINGS}/answers.temperature",
            params={"scope": "workspace"},
            headers=auth_headers(role=Role.editor),
        )
    assert {one.status_code for one in (*refused, deleted)} == {403}


async def test_artifacts_are_written_by_their_own_model_or_the_answer_model(
    start: Any, own: Settings, world: Any, put: Any, provided: Any
) -> None:
    async with start(own) as service:
        await provided(service)
        for role, model in (("answer", "large"), ("artifact", "small")):
            assert (await put(service, f"roles.{role}", [{"provider": "mine", "model": model}])).status_code == 200
            run = await service.ask(await service.session(title="t"), "Write a one-page summary of how tokens work")
            await service.events(run["id"])
            ended = await service.run(run["id"])
            assert ended["answer"]["artifact_index"] == 1, ended
    assert [one["model"] for one in world.chats if one.get("stream")] == [
        *("large", "large"),
        *("small", "large"),
    ], "the artifact, and by the model for answers what is said of it"


async def test_settings_of_another_workspace_are_not_visible(
    start: Any, own: Settings, put: Any, provided: Any, auth_headers: Callable[..., dict[str, str]]
) -> None:
    elsewhere = auth_headers(role=Role.owner, workspace_id=uuid4())
    async with start(own) as service:
        await provided(service)
        foreign = (await service.client.get(SETTINGS, params={"scope": "workspace"}, headers=elsewhere)).json()
        used = await put(service, "roles.answer", [{"provider": "mine", "model": "small"}], elsewhere)
        await service.client.delete(
            f"{SETTINGS}/providers.mine.base_url", params={"scope": "workspace"}, headers=elsewhere
        )
        now = await states(service, scope="workspace")
    assert not [one for one in foreign["items"] if one["is_set"]]
    assert used.status_code == 422
    assert now["providers.mine.base_url"]["is_set"]


async def test_a_secret_is_written_replaced_and_deleted_and_never_returned(
    start: Any,
    own: Settings,
    put: Any,
    provided: Any,
    owner: dict[str, str],
    world: Any,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    async with start(own) as service:
        await provided(service)
        first = await put(service, "providers.mine.api_key", REPLACED)
        written = await put(service, "providers.mine.api_key", PLANTED)
        assert (await put(service, "roles.answer", [{"provider": "mine", "model": "large"}])).status_code == 200
        run = await answered_run(service)
        events = [event.data for event in await service.events(run["id"])]
        in_use = await service.client.delete(
            f"{SETTINGS}/providers.mine.base_url", params={"scope": "workspace"}, headers=owner
        )
        visible = [first.text, written.text, json.dumps(await states(service, scope="workspace")), json.dumps(run)]
        dump = await asyncio.to_thread(dumped, own)
        await service.client.delete(f"{SETTINGS}/providers.mine.api_key", params={"scope": "workspace"}, headers=owner)
        left = await states(service, scope="workspace")
    assert (written.json()["value"], written.json()["is_secret"], written.json()["is_set"]) == (None, True, True)
    assert in_use.status_code == 409
    for text in (*visible, json.dumps(events), dump, caplog.text):
        assert PLANTED not in text
        assert REPLACED not in text
    assert {key for _, key in world.chat_keys} == {f"Bearer {PLANTED}"}
    assert "providers.mine.api_key" in dump
    assert "providers.mine.api_key" not in left


def dumped(settings: Settings) -> str:
    """Returns all rows of all tables of the service, as text."""
    with psycopg.connect(settings.database_url.get_secret_value(), options="-c app.scope=system") as connection:
        tables = connection.execute(
            "SELECT quote_ident(table_name) FROM information_schema.tables WHERE table_schema = current_schema()"
        ).fetchall()
        rows = [connection.execute(f"SELECT t::text FROM {name} AS t".encode()).fetchall() for (name,) in tables]
    return repr(rows)


async def test_changing_the_address_deletes_the_key(
    start: Any, own: Settings, put: Any, provided: Any, others: str
) -> None:
    async with start(own) as service:
        await provided(service)
        await put(service, "providers.mine.base_url", f"{others}/chat/v1")
        now = await states(service, scope="workspace")
    assert "providers.mine.api_key" not in now


async def test_a_secret_copied_to_another_workspace_cannot_be_decrypted(
    start: Any,
    own: Settings,
    world: Any,
    provided: Any,
    put: Any,
    workspace_id: UUID,
    auth_headers: Callable[..., dict[str, str]],
) -> None:
    other = uuid4()
    elsewhere = auth_headers(role=Role.owner, workspace_id=other)
    async with start(own) as service:
        await provided(service)
        assert (await put(service, "roles.answer", [{"provider": "mine", "model": "large"}])).status_code == 200
        await asyncio.to_thread(copied, own, workspace_id, other)
        service.client.headers.update(elsewhere)
        run = await answered_run(service)
        again = await put(service, "roles.answer", [{"provider": "mine", "model": "large"}], elsewhere)
    assert any("its key cannot be opened" in issue for issue in run["issues"])
    assert world.chat_keys == []
    assert again.status_code == 422
    assert "cannot be opened" in again.json()["detail"]


def copied(settings: Settings, source: UUID, target: UUID) -> None:
    with psycopg.connect(settings.database_url.get_secret_value(), options="-c app.scope=system") as connection:
        connection.execute(
            "INSERT INTO setting (workspace_id, user_id, key, value, sealed, key_id, updated_by) "
            "SELECT %s, user_id, key, value, sealed, key_id, updated_by FROM setting WHERE workspace_id = %s",
            (target, source),
        )


async def test_without_an_operator_key_no_secret_is_stored(start: Any, own: Settings, put: Any) -> None:
    async with start(own.model_copy(update={"settings_key": None})) as service:
        assert (await put(service, "providers.mine.base_url", "https://example.org/v1")).status_code == 200
        refused = await put(service, "providers.mine.api_key", PLANTED)
    assert (refused.status_code, refused.json()["type"].split("/")[-1]) == (503, "no-settings-key")


async def test_the_command_re_encrypts_secrets_with_a_new_key(
    start: Any,
    own: Settings,
    world: Any,
    put: Any,
    provided: Any,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    async with start(own) as service:
        await provided(service)
        assert (await put(service, "roles.answer", [{"provider": "mine", "model": "large"}])).status_code == 200
    monkeypatch.setenv("SETTINGS_KEY", f"{NEW_KEY} {KEY}")
    monkeypatch.setenv("DATABASE_URL", own.database_url.get_secret_value())
    for _ in range(2):
        await asyncio.to_thread(rotate_settings_key)
    printed = capsys.readouterr().out.splitlines()
    async with start(own.model_copy(update={"settings_key": SecretStr(NEW_KEY)})) as service:
        run = await answered_run(service)
    assert [line.partition(" ")[0] for line in printed] == ["1", "0"]
    assert not [line for line in printed if KEY in line or NEW_KEY in line]
    assert run["mode"] == "model"
    assert world.chat_keys[0][1] == f"Bearer {PLANTED}"


async def test_a_provider_name_resolving_to_an_internal_address_is_not_called(
    start: Any, own: Settings, world: Any, provided: Any, put: Any
) -> None:
    async with start(own) as service:
        await provided(service)
        assert (await put(service, "roles.answer", [{"provider": "mine", "model": "large"}])).status_code == 200
    # The operator no longer allows this machine: what was stored before is checked when it is connected to.
    guarded = own.model_copy(update={"provider_allowed_networks": allowed_addresses("")})
    async with start(guarded) as service:
        run = await answered_run(service)
        refused = await put(service, "roles.answer", [{"provider": "mine", "model": "large"}])
    assert world.chats == []
    assert run["mode"] == "extractive"
    assert refused.status_code == 422


async def test_a_redirect_by_a_provider_is_not_followed(
    start: Any, own: Settings, put: Any, others: str, world: Any
) -> None:
    async with start(own) as service:
        await put(service, "providers.mine.base_url", f"{others}/moved/v1")
        refused = await put(service, "roles.answer", [{"provider": "mine", "model": "large"}])
    assert (refused.status_code, refused.json()["type"].split("/")[-1]) == (422, "provider-unusable")
    assert world.moved == 1
