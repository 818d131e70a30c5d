"""Reading shared sessions: what a token opens, to whom, and how long."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import pytest
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response
from people import bearer, home, make_user

from contracts.random_secrets import proves, secret_sha256
from contracts.share_tokens import ShareToken
from contracts.sharing import SHARES_PATH

NOW = datetime.now(UTC).isoformat()


class Orchestrator:
    """Returns shares to the gateway as the real service does; `asked` records the callers and their requests."""

    def __init__(self, tokens: Any) -> None:
        self.tokens, self.asked = tokens, list[tuple[Any, dict[str, Any]]]()
        self.refusal: Response | None = None
        self.shares: dict[tuple[str, str], tuple[bytes, dict[str, Any]]] = {}

    def add(self, workspace: str, user: str, audience: str = "link") -> str:
        """Returns the token."""
        token = ShareToken.new(UUID(workspace), uuid4())
        message = {"role": "user", "status": "completed", "content": "The quixotic zebra?", "created_at": NOW}
        session = {"title": None, "audience": audience, "created_at": NOW, "expires_at": NOW, "messages": [message]}
        opened = {"created_by": user, "session": session}
        self.shares[workspace, str(token.share_id)] = (secret_sha256(token.secret), opened)
        return token.render()

    def app(self) -> FastAPI:
        app = FastAPI()

        @app.post(SHARES_PATH)
        async def open_share(request: Request) -> Response:
            caller = self.tokens.verify(request.headers["authorization"].removeprefix("Bearer "))
            body = await request.json()
            self.asked.append((caller, body))
            if self.refusal is not None:
                return self.refusal
            digest, opened = self.shares.get((str(caller.workspace_id), body["share_id"]), (b"", {}))
            return JSONResponse(opened) if proves(body["secret"], digest) else Response(status_code=404)

        return app


@pytest.fixture
def orchestrator(token_keys: Any) -> Orchestrator:
    return Orchestrator(token_keys.tokens("orchestrator"))


@pytest.fixture
def opened(orchestrator: Orchestrator, serve_app: Any, gateway_client: Any) -> Any:
    """`async with opened(**settings) as client`: the gateway in front of it."""

    @asynccontextmanager
    async def start(**changes: Any) -> Any:
        async with serve_app(orchestrator.app()) as url, gateway_client(orchestrator_url=url, **changes) as client:
            yield client

    return start


async def read(client: Any, token: str, key: str | None = None, **headers: str) -> Any:
    """Reads it with this key, or without any."""
    request = client.build_request("GET", f"/v1/shared/{token}", headers={**headers, **(bearer(key) if key else {})})
    if key is None:
        del request.headers["authorization"]
    return await client.send(request)


async def test_a_link_opens_without_a_key_and_is_never_cached(opened: Any, orchestrator: Orchestrator) -> None:
    async with opened() as client:
        place = await home(client)
        user = (await client.get("/v1/me")).json()["user"]["id"]
        token = orchestrator.add(place, user)
        answer = await read(client, token)
        assert answer.status_code == 200, answer.text
        assert answer.json()["messages"][0]["content"] == "The quixotic zebra?"
        assert user not in answer.text
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-robots-tag"].startswith("noindex")
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert "ratelimit-remaining" in answer.headers
        caller, body = orchestrator.asked[0]
        assert (caller.name, str(caller.workspace_id)) == ("gateway", place)
        assert body.keys() == {"share_id", "secret"}
        assert (await client.post(f"/v1/shared/{token}")).status_code == 405


async def test_a_share_for_members_needs_a_key_of_the_workspace(opened: Any, orchestrator: Orchestrator) -> None:
    async with opened() as client:
        place = await home(client)
        user = (await client.get("/v1/me")).json()["user"]["id"]
        _, member = await make_user(client, place, "viewer")
        other = (await client.post("/v1/workspaces", json={"name": "other"})).json()["id"]
        _, stranger = await make_user(client, other, "owner")
        token = orchestrator.add(place, user, "members")
        assert (await read(client, token, member["key"])).status_code == 200
        for key, status in ((None, 401), ("nonsense", 401), (stranger["key"], 404)):
            refused = await read(client, token, key)
            assert refused.status_code == status, key
            assert "zebra" not in refused.text
            assert refused.headers["x-robots-tag"].startswith("noindex")


async def test_a_share_ends_with_its_user_and_its_workspace(opened: Any, orchestrator: Orchestrator) -> None:
    async with opened() as client:
        place = (await client.post("/v1/workspaces", json={"name": "shared"})).json()["id"]
        token_of = {}
        for name in ("disabled", "removed", "deleted", "staying"):
            user, _ = await make_user(client, place, "editor", name)
            token_of[name] = (user, orchestrator.add(place, user))

        async def readable() -> list[str]:
            return [name for name, (_, token) in token_of.items() if (await read(client, token)).status_code == 200]

        assert await readable() == list(token_of)
        await client.patch(f"/v1/users/{token_of['disabled'][0]}", json={"disabled": True})
        await client.delete(f"/v1/workspaces/{place}/members/{token_of['removed'][0]}")
        await client.delete(f"/v1/users/{token_of['deleted'][0]}")
        assert await readable() == ["staying"]
        gone = await client.delete(f"/v1/workspaces/{place}", params={"name": "shared", "timeout": 0})
        assert gone.status_code in {200, 202}, gone.text
        assert await readable() == []


async def test_wrong_tokens_are_indistinguishable_and_counted(opened: Any, orchestrator: Orchestrator) -> None:
    async with opened(auth_failures_per_minute=6) as client:
        place = await home(client)
        token = orchestrator.add(place, (await client.get("/v1/me")).json()["user"]["id"])
        parsed = ShareToken.parse(token)
        assert parsed is not None
        wrong = [
            ShareToken(parsed.workspace_id, parsed.share_id, "A" * 43).render(),
            ShareToken(parsed.workspace_id, uuid4(), parsed.secret).render(),
            ShareToken(uuid4(), parsed.share_id, parsed.secret).render(),
            "nonsense",
            "ats_",
        ]
        answers = [await read(client, one) for one in wrong]
        assert {(one.status_code, one.json()["type"], one.json()["title"]) for one in answers} == {
            (404, "share-not-found", "There is no such share, or it has ended")
        }
        statuses = [(await read(client, "nonsense")).status_code for _ in range(3)]
        assert statuses[-1] == 429
        assert (await read(client, token)).status_code == 200  # the right one is never locked out


async def test_link_reads_are_rate_limited_per_address_like_a_key(opened: Any, orchestrator: Orchestrator) -> None:
    async with opened(rate_limit_per_minute=1, rate_limit_burst=30) as client:
        token = orchestrator.add(await home(client), (await client.get("/v1/me")).json()["user"]["id"])
        answers = [await read(client, token) for _ in range(31)]
        assert [one.status_code for one in answers] == [200] * 30 + [429]
        assert answers[-1].json()["type"] == "too-many-reads"
        assert int(answers[-1].headers["retry-after"]) > 0
        assert len(orchestrator.asked) == 30
        assert (await client.get("/v1/me")).status_code == 200  # keys have an allowance of their own


@pytest.mark.parametrize("refusal", [Response(status_code=503), Response(status_code=401), JSONResponse({})])
async def test_an_unavailable_orchestrator_is_not_reported_as_a_missing_share(
    opened: Any, orchestrator: Orchestrator, refusal: Response
) -> None:
    async with opened() as client:
        token = orchestrator.add(await home(client), (await client.get("/v1/me")).json()["user"]["id"])
        orchestrator.refusal = refusal
        answer = await read(client, token)
    assert answer.status_code == 503
    assert answer.headers["content-type"].startswith("application/problem+json")


async def test_no_log_contains_the_token(opened: Any, orchestrator: Orchestrator, caplog: Any) -> None:
    caplog.set_level("DEBUG")
    async with opened() as client:
        token = orchestrator.add(await home(client), (await client.get("/v1/me")).json()["user"]["id"])
        await read(client, token)
        await read(client, token[:-1])
    parsed = ShareToken.parse(token)
    assert parsed is not None
    ours = [record for record in caplog.records if not record.name.startswith(("httpx", "httpcore", "uvicorn"))]
    logged = json.dumps([{**vars(record), "message": record.getMessage()} for record in ours], default=str)
    assert "/v1/shared/{token}" in logged
    assert parsed.secret[:-1] not in logged
