"""Shares: snapshots of a session that end with all that they come from."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest

from contracts.gateway import Role
from contracts.share_tokens import ShareToken
from contracts.sharing import SHARES_PATH
from service_kit.auth import ServiceCaller

NAUGHTY = Path(__file__).parents[5] / "shared/eval/naughty-strings/blns.json"


@pytest.fixture
def opened(token_keys: Any) -> Any:
    """await opened(service, token) returns the response to the gateway when someone presents the token."""

    async def ask(service: Any, token: str, **changes: Any) -> Any:
        parsed = ShareToken.parse(token)
        assert parsed is not None
        caller = ServiceCaller("gateway", changes.pop("workspace_id", parsed.workspace_id))
        headers = {"Authorization": f"Bearer {token_keys.tokens('gateway').sign(caller, 'orchestrator')}"}
        body = {"share_id": str(parsed.share_id), "secret": parsed.secret, **changes}
        return await service.client.post(SHARES_PATH, json=body, headers=headers)

    return ask


@pytest.fixture
def owner(auth_headers: Any) -> dict[str, str]:
    headers: dict[str, str] = auth_headers(role=Role.owner, user_id=uuid4())
    return headers


async def conversation(service: Any, turns: int = 1, **session: Any) -> tuple[str, list[dict[str, Any]]]:
    made = await service.session(**session)
    for number in range(turns):
        await service.events((await service.ask(made, f"How long are tokens valid, number {number}?"))["id"])
    return made, (await service.client.get(f"/v1/sessions/{made}/messages")).json()["items"]


async def share(service: Any, session: str, **body: Any) -> Any:
    return await service.client.post(f"/v1/sessions/{session}/shares", json=body)


async def allow_links(service: Any, owner: dict[str, str], links: bool = True) -> None:
    assert (await service.client.patch("/v1/sharing", json={"links": links}, headers=owner)).status_code == 200


async def test_a_share_is_a_snapshot_of_the_path_up_to_a_message(start: Any, model_settings: Any, opened: Any) -> None:
    async with start(model_settings) as service:
        session, messages = await conversation(service, 2, title="Tokens")
        await service.client.put(f"/v1/messages/{messages[1]['id']}/feedback", json={"rating": "up", "comment": "mine"})
        made = (await share(service, session, message_id=messages[1]["id"])).json()
        whole = (await share(service, session)).json()
        await service.client.patch(f"/v1/sessions/{session}", json={"title": "Renamed"})
        await service.events((await service.ask(session, "And later?"))["id"])

        read = (await opened(service, made["token"])).json()["session"]
        assert (read["title"], read["audience"]) == ("Tokens", "members")
        assert [message["content"] for message in read["messages"]] == [one["content"] for one in messages[:2]]
        [citation] = read["messages"][1]["citations"]
        assert citation == {
            name: messages[1]["citations"][0][name]
            for name in ("number", "document_name", "section", "page", "line_start", "line_end", "quote")
        }
        assert "mine" not in json.dumps(read)
        assert messages[1]["id"] not in json.dumps(read)
        assert len((await opened(service, whole["token"])).json()["session"]["messages"]) == 4

        days = (datetime.fromisoformat(made["expires_at"]) - datetime.now(UTC)) / timedelta(days=1)
        assert 29.9 < days <= 30
        listed = (await service.client.get("/v1/shares")).json()["items"]
        assert [one["id"] for one in listed] == [whole["id"], made["id"]]
        assert all("token" not in one for one in listed)
        assert (await service.client.get("/v1/shares", params={"session_id": str(uuid4())})).json()["items"] == []


async def test_a_link_shows_no_quotes_and_works_only_while_owners_allow_links(
    start: Any, model_settings: Any, opened: Any, owner: dict[str, str]
) -> None:
    async with start(model_settings) as service:
        session, messages = await conversation(service)
        assert "fifteen minutes" in messages[1]["citations"][0]["quote"]
        refused = await share(service, session, audience="link")
        assert (refused.status_code, refused.json()["type"]) == (403, "links-not-allowed")
        await allow_links(service, owner)
        made = (await share(service, session, audience="link")).json()
        [_, answer] = (await opened(service, made["token"])).json()["session"]["messages"]
        assert (answer["content"], answer["withheld"]) == (messages[1]["content"], False)
        assert [one["quote"] for one in answer["citations"]] == [None]
        await allow_links(service, owner, False)
        assert (await opened(service, made["token"])).status_code == 404
        assert (await share(service, session, audience="link")).status_code == 403


async def test_an_extractive_answer_consists_only_of_quotes(
    start: Any, settings: Any, opened: Any, owner: dict[str, str]
) -> None:
    async with start(settings) as service:
        session, messages = await conversation(service)
        assert "Tokens expire after fifteen minutes." in messages[1]["content"]
        await allow_links(service, owner)
        by_link = (await opened(service, (await share(service, session, audience="link")).json()["token"])).text
        for_members = (await opened(service, (await share(service, session)).json()["token"])).text
    assert "fifteen" not in by_link
    assert json.loads(by_link)["session"]["messages"][1]["withheld"] is True
    assert "fifteen" in for_members


async def test_a_share_ends_with_its_user_message_session_or_expiry(start: Any, settings: Any, opened: Any) -> None:
    url = settings.database_url.get_secret_value()
    async with start(settings) as service:
        session, messages = await conversation(service, 2)
        early, ended, late, over = [
            (await share(service, session, message_id=messages[at]["id"])).json() for at in (1, 1, 3, 1)
        ]

        async def readable(*shares: Any) -> list[bool]:
            return [(await opened(service, one["token"])).status_code == 200 for one in shares]

        assert await readable(early, ended, late, over) == [True] * 4
        assert (await service.client.delete(f"/v1/shares/{ended['id']}")).status_code == 204
        assert (await service.client.delete(f"/v1/shares/{ended['id']}")).status_code == 404
        await service.client.delete(f"/v1/messages/{messages[2]['id']}")
        parsed = ShareToken.parse(over["token"])
        assert parsed is not None
        with psycopg.connect(url, options=f"-c app.workspace_id={parsed.workspace_id}") as connection:
            statement = "UPDATE session_share SET expires_at = now() - interval '1 second' WHERE id = %s"
            assert connection.execute(statement, (over["id"],)).rowcount == 1
        assert await readable(early, ended, late, over) == [True, False, False, False]
        assert [one["id"] for one in (await service.client.get("/v1/shares")).json()["items"]] == [early["id"]]
        await share(service, session)  # what is over is deleted on the way
        with psycopg.connect(url, options=f"-c app.workspace_id={parsed.workspace_id}") as connection:
            assert connection.execute("SELECT count(*) FROM session_share").fetchone() == (2,)
        await service.client.delete(f"/v1/sessions/{session}")
        assert await readable(early) == [False]


async def test_a_share_opens_only_with_its_token_and_only_a_hash_is_stored(
    start: Any, settings: Any, opened: Any, token_keys: Any, principal: Any
) -> None:
    async with start(settings) as service:
        session, _ = await conversation(service)
        made = (await share(service, session)).json()
        parsed = ShareToken.parse(made["token"])
        assert parsed is not None
        assert (await opened(service, made["token"])).json()["created_by"] == str(principal.user_id)
        assert (await opened(service, made["token"], secret="A" * 43)).status_code == 404
        assert (await opened(service, made["token"], share_id=str(uuid4()))).status_code == 404
        assert (await opened(service, made["token"], workspace_id=uuid4())).status_code == 404
        body = {"share_id": made["id"], "secret": parsed.secret}
        assert (await service.client.post(SHARES_PATH, json=body)).status_code == 403
        token = token_keys.tokens("retrieval").sign(ServiceCaller("retrieval", parsed.workspace_id), "orchestrator")
        thief = await service.client.post(SHARES_PATH, json=body, headers={"Authorization": f"Bearer {token}"})
        assert thief.status_code in {401, 403}
        where = f"-c app.workspace_id={parsed.workspace_id}"
        with psycopg.connect(settings.database_url.get_secret_value(), options=where) as connection:
            [row] = connection.execute("SELECT row_to_json(session_share)::text FROM session_share").fetchall()
        assert parsed.secret not in row[0]


async def test_users_cannot_share_or_end_the_sessions_of_others(
    start: Any, settings: Any, other_user: Any, auth_headers: Any
) -> None:
    async with start(settings) as service:
        session, messages = await conversation(service)
        made = (await share(service, session)).json()
        elsewhere, _ = await conversation(service)
        foreign = await share(service, elsewhere, message_id=messages[1]["id"])
        assert (foreign.status_code, foreign.json()["type"]) == (404, "message-not-found")
        for headers in (other_user, auth_headers(workspace_id=uuid4()), auth_headers(role=Role.owner, user_id=uuid4())):
            for method, path, body in (
                ("POST", f"/v1/sessions/{session}/shares", {}),
                ("DELETE", f"/v1/shares/{made['id']}", None),
            ):
                assert (await service.client.request(method, path, json=body, headers=headers)).status_code == 404
            assert (await service.client.get("/v1/shares", headers=headers)).json()["items"] == []
        for role in (Role.viewer, Role.editor):
            changed = await service.client.patch("/v1/sharing", json={"links": True}, headers=auth_headers(role=role))
            assert changed.status_code == 403
        assert (await service.client.get("/v1/shares")).json()["items"][0]["id"] == made["id"]


async def test_the_setting_for_links_belongs_to_the_workspace_and_is_versioned(
    start: Any, settings: Any, owner: dict[str, str], auth_headers: Any
) -> None:
    async with start(settings) as service:
        before = await service.client.get("/v1/sharing")
        assert (before.json(), before.headers["etag"]) == ({"links": False, "version": 0}, '"0"')
        stale, fresh = ({**owner, "If-Match": version} for version in ('"3"', '"0"'))
        assert (await service.client.patch("/v1/sharing", json={"links": True}, headers=stale)).status_code == 412
        changed = await service.client.patch("/v1/sharing", json={"links": True}, headers=fresh)
        assert (changed.json(), changed.headers["etag"]) == ({"links": True, "version": 1}, '"1"')
        assert (await service.client.patch("/v1/sharing", json={"links": False}, headers=fresh)).status_code == 412
        theirs = await service.client.get("/v1/sharing", headers=auth_headers(workspace_id=uuid4()))
        assert theirs.json()["links"] is False


async def test_a_session_that_cannot_be_shared_is_refused_with_a_reason(
    start: Any, model_settings: Any, world: Any, monkeypatch: Any
) -> None:
    writing, go = asyncio.Event(), asyncio.Event()

    async def held(_: int) -> None:
        writing.set()
        await go.wait()

    async with start(model_settings) as service, asyncio.timeout(120):
        empty = await share(service, await service.session())
        assert (empty.status_code, empty.json()["type"]) == (409, "nothing-to-share")
        session, messages = await conversation(service)
        world.pace = held
        run = await service.ask(session)
        await writing.wait()
        early = await share(service, session)
        assert (early.status_code, early.json()["type"]) == (409, "answer-under-way")
        assert (await share(service, session, message_id=messages[1]["id"])).status_code == 201
        go.set()
        await service.events(run["id"])
        assert (await share(service, session)).status_code == 201
        now = datetime.now(UTC)
        for expires_at in (now - timedelta(minutes=1), now + timedelta(days=366), now.replace(tzinfo=None)):
            bad = await share(service, session, expires_at=expires_at.isoformat())
            assert (bad.status_code, bad.json()["type"]) == (422, "bad-share-expiry"), expires_at
        for name, most in (("MOST_MESSAGES", 3), ("MOST_CHARACTERS", 40)):
            with monkeypatch.context() as patched:
                patched.setattr(f"orchestrator.shares.sharing.{name}", most)
                long = await share(service, session)
                assert (long.status_code, long.json()["type"]) == (409, "too-much-to-share"), name


async def test_an_idempotency_key_creates_one_share(start: Any, settings: Any) -> None:
    async with start(settings) as service:
        session, _ = await conversation(service)
        path, headers = f"/v1/sessions/{session}/shares", {"Idempotency-Key": "k"}
        first, second = [await service.client.post(path, json={}, headers=headers) for _ in range(2)]
        listed = (await service.client.get("/v1/shares")).json()["items"]
    assert first.status_code == 201
    assert (second.status_code, second.json()["type"]) == (409, "share-not-repeatable")
    assert first.json()["id"] in second.json()["detail"]
    assert len(listed) == 1


async def test_naughty_strings_are_treated_as_data(start: Any, settings: Any, opened: Any) -> None:
    if not NAUGHTY.exists():
        pytest.skip("the naughty strings are not here (../shared/eval/naughty-strings)")
    async with start(settings) as service:
        session, _ = await conversation(service)
        for text in json.loads(NAUGHTY.read_text(encoding="utf-8"))[::4]:
            content = json.dumps({"title": text}).encode()
            headers = {"Content-Type": "application/json"}
            named = await service.client.patch(f"/v1/sessions/{session}", content=content, headers=headers)
            assert named.status_code in {200, 422}, (text, named.text)
            if named.status_code == 200:
                made = (await share(service, session)).json()
                assert made["title"] == named.json()["title"]
                assert (await opened(service, made["token"])).json()["session"]["title"] == made["title"]
            assert ShareToken.parse(text) is None


def test_a_token_is_parsed_as_it_was_generated() -> None:
    token = ShareToken.new(UUID(int=1), UUID(int=2))
    assert ShareToken.parse(token.render()) == token
    for wrong in ("", "ats_", token.render()[:-1], token.render() + "A", token.render().upper(), f"{token.render()}\n"):
        assert ShareToken.parse(wrong) is None, wrong
    assert len({ShareToken.new(UUID(int=1), UUID(int=2)).secret for _ in range(100)}) == 100
