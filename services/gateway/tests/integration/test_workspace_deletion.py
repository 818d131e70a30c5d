"""Deleting a workspace: who may, what ends at once, and how the receipt comes about."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from uuid import UUID, uuid4

import httpx2
import psycopg
import pytest
from people import bearer, join, make_user
from redis.asyncio import Redis

from contracts.events import DOCUMENTS, TURNS, DocumentDeleted, Event, WorkspaceDeleted, WorkspacePurged
from contracts.gateway import Role
from contracts.registry import CONFIRM_WORKSPACE_DELETION as CONFIRMING
from service_kit.auth import Principal, ServiceCaller
from service_kit.outbox import new_event
from service_kit.owners import WORKSPACE_PATH
from service_kit.streams import dead_letters


@pytest.fixture
async def redis(redis_url):
    async with Redis.from_url(redis_url, decode_responses=True) as redis:
        yield redis


class Services:
    """The services behind the gateway, as far as deletions go."""

    def __init__(self, redis: Redis) -> None:
        self.redis = redis

    async def announced(self, workspace: str) -> int:
        entries = [Event.model_validate_json(fields["event"]) for _, fields in await self.redis.xrange(DOCUMENTS)]
        return sum(one.type == WorkspaceDeleted.event_type and one.subject == workspace for one in entries)

    async def heard(self, workspace: str, times: int = 1) -> None:
        async with asyncio.timeout(120):
            while await self.announced(workspace) < times:  # noqa: ASYNC110  another server's state has no event
                await asyncio.sleep(0.02)

    async def confirm(self, workspace: str, services=CONFIRMING, removed=3, remaining=0) -> None:
        for service in services:
            data = WorkspacePurged(service=service, removed={"row": removed}, remaining={"row": remaining})
            event = new_event(service, UUID(workspace), data, workspace)
            await self.redis.xadd(DOCUMENTS, {"event": event.model_dump_json()})

    async def answer(self, workspace: str, **what) -> None:
        await self.heard(workspace)
        await self.confirm(workspace, **what)


@pytest.fixture
def services(redis):
    return Services(redis)


async def make_workspace(admin, name: str = "doomed") -> tuple[str, dict[str, str]]:
    """Returns its id, and the header with the key of an owner who belongs only to it."""
    workspace = (await admin.post("/v1/workspaces", json={"name": name})).json()["id"]
    _, key = await make_user(admin, workspace, "owner", "owner")
    return workspace, bearer(key["key"])


async def key_for(caller, workspace: str, headers: dict[str, str] | None = None, role: str = "owner") -> dict[str, str]:
    """The header of another key of the caller there."""
    made = await caller.post(f"/v1/workspaces/{workspace}/keys", json={"name": "k", "role": role}, headers=headers)
    return bearer(made.json()["key"])


async def eventually(client, path: str, good):
    async with asyncio.timeout(120):
        while True:
            response = await client.get(path)
            if response.status_code == 200 and good(response.json()):
                return response.json()
            await asyncio.sleep(0.05)


@asynccontextmanager
async def task(work):
    running = asyncio.create_task(work)
    yield
    await running


async def test_an_owner_deletes_a_workspace_and_every_service_confirms(gateway_client, services):
    async with gateway_client() as admin:
        workspace, owner = await make_workspace(admin)
        async with task(services.answer(workspace)):
            response = await admin.delete(f"/v1/workspaces/{workspace}", params={"name": "doomed"}, headers=owner)
        assert response.status_code == 200, response.text
        receipt = response.json()
        assert (receipt["workspace_id"], receipt["pending"]) == (workspace, [])
        assert receipt["completed_at"]
        by_service = {one["service"]: one for one in receipt["services"]}
        assert set(by_service) == {"gateway", *CONFIRMING}
        removed = {"api_key": 1, "invitation": 1, "membership": 2, "workspace": 1}
        assert by_service["gateway"]["removed"] == removed
        assert set(by_service["gateway"]["remaining"].values()) == {0}

        assert (await admin.get("/v1/me", headers=owner)).status_code == 401
        for path in ("", "/members", "/keys", "/invitations"):
            assert (await admin.get(f"/v1/workspaces/{workspace}{path}")).status_code == 404
        assert workspace not in [one["id"] for one in (await admin.get("/v1/workspaces")).json()["items"]]
        again = await admin.delete(f"/v1/workspaces/{workspace}", params={"name": "doomed"})
        assert again.status_code == 404
        assert (await admin.get(f"/v1/workspaces/{workspace}/receipt")).json() == receipt


async def test_only_services_can_ask_whether_a_workspace_is_deleted(
    gateway_client, private, services, token_keys, admin_key
):
    """Services ask before they erase its data. The answer stays the same long after the deletion is complete."""
    async with gateway_client() as admin:
        workspace, owner = await make_workspace(admin)

        async def state(caller: Principal | ServiceCaller, signer: str) -> httpx2.Response:
            token = token_keys.tokens(signer).sign(caller, "gateway")
            return await private(WORKSPACE_PATH, headers={"Authorization": f"Bearer {token}"})

        asking = ServiceCaller("retrieval", UUID(workspace))
        assert (await state(asking, "retrieval")).json() == {"is_deleted": False}
        async with task(services.answer(workspace)):
            await admin.delete(f"/v1/workspaces/{workspace}", params={"name": "doomed"}, headers=owner)
        assert (await admin.get(f"/v1/workspaces/{workspace}/receipt")).json()["completed_at"]
        for name in CONFIRMING:
            assert (await state(ServiceCaller(name, UUID(workspace)), name)).json() == {"is_deleted": True}
        assert (await state(ServiceCaller("retrieval", uuid4()), "retrieval")).json() == {"is_deleted": False}

        for header in ({}, {"Authorization": f"Bearer {admin_key}"}):
            assert (await private(WORKSPACE_PATH, headers=header)).status_code == 401
        assert (await admin.get(WORKSPACE_PATH)).status_code == 404  # not on the public port
        user = Principal(uuid4(), UUID(workspace), Role.owner)
        assert (await state(user, "gateway")).status_code in {401, 403}


async def test_the_keys_stop_working_before_any_confirmation(gateway_client, services):
    async with gateway_client() as admin:
        workspace, owner = await make_workspace(admin)
        path = f"/v1/workspaces/{workspace}"
        response = await admin.delete(path, params={"name": "doomed", "timeout": 0}, headers=owner)
        assert response.status_code == 202
        assert sorted(response.json()["pending"]) == sorted(CONFIRMING)
        assert response.json()["completed_at"] is None
        assert (await admin.get("/v1/me", headers=owner)).status_code == 401
        for what in ({"name": "k", "role": "owner"},):
            assert (await admin.post(f"{path}/keys", json=what)).status_code == 404
        await services.answer(workspace, services=CONFIRMING[:2])
        await eventually(admin, f"{path}/receipt", lambda found: sorted(found["pending"]) == sorted(CONFIRMING[2:]))
        await services.confirm(workspace, services=CONFIRMING[2:])
        await eventually(admin, f"{path}/receipt", lambda found: found["completed_at"])


@pytest.mark.parametrize(("name", "status", "slug"), [("Doomed", 422, "name-not-confirmed"), (None, 422, None)])
async def test_a_deletion_request_must_repeat_the_exact_name(gateway_client, name, status, slug):
    async with gateway_client() as admin:
        workspace, owner = await make_workspace(admin)
        params = {} if name is None else {"name": name}
        refused = await admin.delete(f"/v1/workspaces/{workspace}", params=params, headers=owner)
        assert refused.status_code == status
        assert slug in (None, refused.json()["type"])
        assert (await admin.get("/v1/me", headers=owner)).status_code == 200


async def test_only_owners_and_administrators_may_delete_a_workspace(gateway_client):
    async with gateway_client() as admin:
        workspace, owner = await make_workspace(admin)
        _, neighbour = await make_workspace(admin, "neighbour")
        editor = await key_for(admin, workspace, owner, "editor")
        for headers, status in ((neighbour, 404), (editor, 403)):
            deletion = await admin.delete(f"/v1/workspaces/{workspace}", params={"name": "doomed"}, headers=headers)
            assert deletion.status_code == status
        assert (await admin.get(f"/v1/workspaces/{workspace}/receipt")).status_code == 404
        await admin.delete(f"/v1/workspaces/{workspace}", params={"name": "doomed", "timeout": 0})
        seen = await admin.get(f"/v1/workspaces/{workspace}/receipt", headers=neighbour)
        assert seen.status_code == 404


async def test_the_user_who_deleted_a_workspace_reads_the_receipt_with_another_key(gateway_client):
    async with gateway_client() as admin:
        workspace, owner = await make_workspace(admin)
        home, _ = await make_workspace(admin, "home")
        other_key = bearer((await join(admin, home, owner["Authorization"].removeprefix("Bearer "), "viewer"))["key"])
        await admin.delete(f"/v1/workspaces/{workspace}", params={"name": "doomed", "timeout": 0}, headers=owner)
        response = await admin.get(f"/v1/workspaces/{workspace}/receipt", headers=other_key)
        assert response.status_code == 200


async def test_the_workspace_of_the_last_administrator_key_cannot_be_deleted(gateway_client):
    async with gateway_client() as admin:
        me = (await admin.get("/v1/me")).json()
        home = me["workspace"]["id"]
        refused = await admin.delete(f"/v1/workspaces/{home}", params={"name": "default"})
        assert (refused.status_code, refused.json()["type"]) == (409, "last-admin-key")
        workspace = (await admin.post("/v1/workspaces", json={"name": "new home"})).json()["id"]
        still = await admin.delete(f"/v1/workspaces/{home}", params={"name": "default"})
        assert still.status_code == 409
        headers = await key_for(admin, workspace)
        both = await asyncio.gather(
            admin.delete(f"/v1/workspaces/{home}", params={"name": "default", "timeout": 0}),
            admin.delete(f"/v1/workspaces/{workspace}", params={"name": "new home", "timeout": 0}, headers=headers),
        )
        assert sorted(one.status_code for one in both) in ([202, 409], [202, 401])


async def test_leftover_rows_keep_a_deletion_incomplete_and_it_is_republished(
    gateway_client, services, settings, monkeypatch
):
    monkeypatch.setattr("gateway.accounts.workspace_deletion.FIRST_AGAIN_SECONDS", 0.1)
    monkeypatch.setattr("gateway.accounts.workspace_deletion.TICK_SECONDS", 0.05)
    async with gateway_client(workspace_settle_seconds=0) as admin:
        workspace, _ = await make_workspace(admin)
        path = f"/v1/workspaces/{workspace}"
        await admin.delete(path, params={"name": "doomed", "timeout": 0})
        await services.answer(workspace, remaining=1)
        await services.heard(workspace, times=3)
        left = await eventually(admin, f"{path}/receipt", lambda found: not found["pending"])
        assert left["completed_at"] is None
        await services.confirm(workspace)
        await eventually(admin, f"{path}/receipt", lambda found: found["completed_at"])
        with psycopg.connect(settings().database_url.get_secret_value(), options="-c app.scope=system") as connection:
            [due] = connection.execute("SELECT next_announcement FROM workspace_deletion").fetchone() or ["none"]
        assert due is None


async def test_a_final_count_is_requested_once_no_request_can_still_be_running(gateway_client, services, monkeypatch):
    monkeypatch.setattr("gateway.accounts.workspace_deletion.TICK_SECONDS", 0.05)
    async with gateway_client(workspace_settle_seconds=1.0) as admin:
        workspace, _ = await make_workspace(admin)
        turn = new_event("orchestrator", UUID(workspace), DocumentDeleted(document_id=uuid4()), "x")
        for stream in (TURNS, dead_letters(DOCUMENTS)):
            await services.redis.xadd(stream, {"event": turn.model_dump_json()})
        path = f"/v1/workspaces/{workspace}"
        async with task(services.answer(workspace)):
            first = (await admin.delete(path, params={"name": "doomed"})).json()
        assert first["completed_at"]
        await services.heard(workspace, times=2)
        await services.confirm(workspace, removed=4)
        last = await eventually(
            admin, f"{path}/receipt", lambda found: all(one["removed"]["row"] == 4 for one in found["services"][1:2])
        )
        assert last["completed_at"] == first["completed_at"]
        settled = await eventually(
            admin, f"{path}/receipt", lambda found: "stream_entries" in found["services"][0]["remaining"]
        )
        own = settled["services"][0]
        assert (own["removed"]["stream_entries"], own["remaining"]["stream_entries"]) == (2, 0)
        assert await services.redis.xlen(TURNS) == 0


async def test_confirmations_of_unknown_deletions_change_nothing(gateway_client, services):
    async with gateway_client() as admin:
        await services.confirm(str(uuid4()))
        workspace, _ = await make_workspace(admin)
        async with task(services.answer(workspace)):
            assert (await admin.delete(f"/v1/workspaces/{workspace}", params={"name": "doomed"})).status_code == 200
