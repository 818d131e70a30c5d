"""Who did what is recorded, cannot be changed, and is shown to owners and administrators alone."""

import json
import logging
from uuid import uuid4

import psycopg
import pytest

from gateway.audit.entries import AuditEntries, NewEntry
from gateway.audit.retention import AuditRetention
from service_kit.postgres import Database


async def listed(client, **filters):
    answer = await client.get("/v1/audit", params=filters)
    assert answer.status_code == 200, answer.text
    return answer.json()["items"]


async def made(client, path, **body):
    answer = await client.post(path, json=body)
    assert answer.status_code == 201, answer.text
    return answer.json()


async def test_creating_and_revoking_a_key_is_recorded_without_its_secret(gateway_client):
    async with gateway_client() as client:
        me = (await client.get("/v1/me")).json()
        keys = f"/v1/workspaces/{me['workspace']['id']}/keys"
        key = await made(client, keys, name="robot", role="viewer")
        await client.delete(f"{keys}/{key['id']}")
        revoked, created = await listed(client, action="key")
        assert (created["action"], revoked["action"]) == ("key.create", "key.revoke")
        for entry in (created, revoked):
            assert (entry["target_id"], entry["user_id"]) == (key["id"], me["user"]["id"])
            assert (entry["credential_id"], entry["address"]) == (me["key_id"], "127.0.0.1")
            assert (entry["workspace_id"], entry["result"]) == (me["workspace"]["id"], "done")
        assert created["detail"] == {"role": "viewer"}
        assert key["key"] not in (await client.get("/v1/audit")).text


async def test_refused_requests_are_recorded_too(gateway_client):
    async with gateway_client() as client:
        me = (await client.get("/v1/me")).json()
        keys = f"/v1/workspaces/{me['workspace']['id']}/keys"
        viewer = await made(client, keys, name="reader", role="viewer")
        headers = {"Authorization": f"Bearer {viewer['key']}"}
        assert (await client.post(keys, json={"name": "more"}, headers=headers)).status_code == 422
        [entry] = await listed(client, result="refused")
        assert (entry["action"], entry["status"], entry["credential_id"]) == ("key.create", 422, viewer["id"])


async def test_repeated_guesses_are_recorded_once_a_minute(gateway_client):
    async with gateway_client() as client:
        for _ in range(5):
            wrong = {"Authorization": f"Bearer atr_{uuid4().hex}_{'x' * 43}"}
            assert (await client.get("/v1/documents", headers=wrong)).status_code == 401
        [entry] = await listed(client, action="credential.refuse", everywhere=True)
        assert (entry["address"], entry["user_id"], entry["workspace_id"]) == ("127.0.0.1", None, None)


async def test_a_forwarded_request_is_recorded_with_the_id_in_its_path(proxied_client):
    async with proxied_client() as client:
        document = str(uuid4())
        await client.get(f"/v1/documents/{document}/original")
        await client.get(f"/v1/documents/{document}")  # reading the facts about it is no deed
        await client.post("/v1/search", json={"query": "x"})
        [entry] = await listed(client)
        assert (entry["action"], entry["target_id"]) == ("document.download", document)


async def test_the_filtered_list_and_the_export_agree(gateway_client):
    async with gateway_client() as client:
        workspace = (await client.get("/v1/me")).json()["workspace"]["id"]
        for number in range(5):
            await made(client, f"/v1/workspaces/{workspace}/keys", name=f"key {number}")
        first = (await client.get("/v1/audit", params={"limit": 2, "action": "key.create"})).json()
        second = (await client.get("/v1/audit", params={"limit": 200, "cursor": first["next_cursor"]})).json()
        paged = [entry["id"] for entry in first["items"] + second["items"]]
        exported = await client.get("/v1/audit/export", params={"action": "key"})
        assert [json.loads(line)["id"] for line in exported.text.splitlines()] == paged
        assert len(paged) == 5
        third = second["items"][0]
        assert await listed(client, target_id=third["target_id"]) == [third]
        assert [one["id"] for one in await listed(client, until=third["at"], action="key")] == paged[3:]
        assert [one["action"] for one in await listed(client, action="audit")] == ["audit.export"]


@pytest.mark.parametrize("path", ["/v1/audit", "/v1/audit/export"])
async def test_owners_see_the_entries_of_their_workspace_and_others_see_none(gateway_client, path):
    async with gateway_client() as client:
        me = (await client.get("/v1/me")).json()
        keys = f"/v1/workspaces/{me['workspace']['id']}/keys"
        editor = await made(client, keys, name="editor", role="editor")
        headers = {"Authorization": f"Bearer {editor['key']}"}
        assert (await client.get(path, headers=headers)).status_code == 403
        other = await made(client, "/v1/workspaces", name="other")
        await made(client, f"/v1/workspaces/{other['id']}/keys", name="there")
        here = (await client.get(path)).text
        everywhere = (await client.get(path, params={"everywhere": "true"})).text
        assert other["id"] not in here
        assert other["id"] in everywhere


async def test_entries_cannot_be_changed_and_recent_ones_cannot_be_deleted(settings, gateway_client):
    async with gateway_client() as client:
        await made(client, "/v1/workspaces", name="w")
    database = Database(settings().database_url.get_secret_value(), 1)
    async with database.opened():
        for statement in (
            "UPDATE audit_entry SET action = 'nothing'",
            "DELETE FROM audit_entry",
            "TRUNCATE audit_entry",
        ):
            with pytest.raises(psycopg.Error):
                async with database.system() as connection:
                    await connection.execute(statement)
        assert await AuditRetention(database, 30).delete_old() == 0


async def test_entries_are_deleted_after_the_retention_period(settings):
    database = Database(settings().database_url.get_secret_value(), 1)
    async with database.opened():
        async with database.system() as connection:
            await AuditEntries(connection).add(NewEntry("key.create", 201))
            await connection.execute(
                "INSERT INTO audit_entry (id, workspace_id, at, action, result, status)"
                " VALUES (gen_random_uuid(), gen_random_uuid(), now() - interval '31 days', 'key.create', 'done', 201)"
            )
        assert await AuditRetention(database, 30).delete_old() == 1


async def test_the_access_log_names_the_caller_and_never_the_key(gateway_client, admin_key, caplog):
    async with gateway_client() as client:
        me = (await client.get("/v1/me")).json()
        with caplog.at_level(logging.INFO, "service_kit.requests"):
            await client.get("/v1/me")
            await client.get("/v1/me", headers={"Authorization": "Bearer wrong"})
        admitted, refused = caplog.records[-2:]
        assert str(admitted.key_id) == me["key_id"]
        assert str(admitted.user_id) == me["user"]["id"]
        assert str(admitted.workspace_id) == me["workspace"]["id"]
        assert (admitted.address, refused.address) == ("127.0.0.1", "127.0.0.1")
        assert admin_key not in str([vars(record) for record in caplog.records])
