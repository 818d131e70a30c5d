"""What a new deployment makes for itself."""

import asyncio
import json
import stat

import psycopg
import pytest
from redis import Redis

from contracts.events import DOCUMENTS, WorkspaceAdministered
from gateway.accounts.first_start import NoAdministrator
from gateway.app import create_app


async def start_and_stop(settings):
    app = create_app(settings)
    async with app.router.lifespan_context(app):
        pass


def count(settings, table):
    with psycopg.connect(settings.database_url.get_secret_value()) as connection:
        connection.execute("SELECT set_config('app.scope', 'system', true)")
        return connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]


async def test_a_generated_key_is_readable_only_by_its_owner_and_never_logged(settings, running, tmp_path, caplog):
    caplog.set_level("DEBUG")
    file = tmp_path / "secrets" / "admin-key"
    first = settings(admin_api_key=None, admin_key_file=file)
    await start_and_stop(first)
    key = file.read_text().strip()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [one.name for one in file.parent.iterdir()] == ["admin-key"]
    await start_and_stop(settings(admin_api_key=None, admin_key_file=file))
    assert file.read_text().strip() == key
    assert [count(first, table) for table in ("app_user", "workspace", "membership", "api_key")] == [1, 1, 1, 1]
    async with running(create_app(settings(admin_api_key=None, admin_key_file=file))) as client:
        me = await client.get("/v1/me", headers={"Authorization": f"Bearer {key}"})
        assert me.json()["role"] == "owner"
    assert key not in caplog.text
    assert key.split("_", 2)[2] not in caplog.text


@pytest.mark.parametrize("chosen", [True, False])
async def test_two_replicas_starting_together_create_everything_once(settings, tmp_path, admin_key, chosen):
    changes = {"admin_key_file": tmp_path / "key", "admin_api_key": admin_key if chosen else None}
    await asyncio.gather(*(start_and_stop(settings(**changes)) for _ in range(3)))
    assert [count(settings(), table) for table in ("app_user", "workspace", "membership", "api_key")] == [1, 1, 1, 1]


async def test_a_new_configured_key_readmits_an_operator_and_a_revoked_one_does_not(gateway_client, admin_key):
    async with gateway_client() as client:
        me = (await client.get("/v1/me")).json()
        path = f"/v1/workspaces/{me['workspace']['id']}/keys/{me['key_id']}"
        assert (await client.delete(path)).status_code == 204
        assert (await client.get("/v1/me")).status_code == 401
    async with gateway_client() as client:
        assert (await client.get("/v1/me")).status_code == 401
    other = admin_key[::-1]
    async with gateway_client(admin_api_key=other) as client:
        again = await client.get("/v1/me", headers={"Authorization": f"Bearer {other}"})
        assert again.json()["user"]["id"] == me["user"]["id"]


async def test_a_lost_last_key_is_replaced_at_the_next_start(settings, tmp_path):
    file = tmp_path / "key"
    start = settings(admin_api_key=None, admin_key_file=file)
    await start_and_stop(start)
    key = file.read_text()
    with psycopg.connect(start.database_url.get_secret_value()) as connection:
        connection.execute("SELECT set_config('app.scope', 'system', true)")
        connection.execute("UPDATE api_key SET revoked_at = now()")
    await start_and_stop(settings(admin_api_key=None, admin_key_file=file))
    assert file.read_text() != key


async def test_the_gateway_refuses_to_start_without_any_administrator_key(settings):
    with pytest.raises(NoAdministrator, match="ADMIN_API_KEY or ADMIN_KEY_FILE"):
        await start_and_stop(settings(admin_api_key=None))


async def test_the_configured_key_may_be_removed_from_the_environment_after_the_first_start(gateway_client, admin_key):
    async with gateway_client():
        pass
    async with gateway_client(admin_api_key=None) as client:
        assert (await client.get("/v1/me", headers={"Authorization": f"Bearer {admin_key}"})).status_code == 200


async def test_each_start_announces_the_administrators_workspace(settings, redis_url, admin_key):
    """Matters because shared folders and stores without named workspaces are open only to it."""
    await start_and_stop(settings(admin_api_key=admin_key))
    await start_and_stop(settings(admin_api_key=admin_key))
    with psycopg.connect(settings().database_url.get_secret_value()) as connection:
        connection.execute("SELECT set_config('app.scope', 'system', true)")
        home = connection.execute("SELECT id FROM workspace").fetchone()[0]
        waiting = [row[0] for row in connection.execute("SELECT event FROM outbox")]
    with Redis.from_url(redis_url) as redis:
        told = [json.loads(fields[b"event"]) for _, fields in redis.xrange(DOCUMENTS)]
    announced = [one for one in [*waiting, *told] if one["type"] == WorkspaceAdministered.event_type]
    assert {(one["source"], one["workspace_id"]) for one in announced} == {("gateway", str(home))}
    assert len(announced) >= 2
