"""Rate limits, and what becomes of them when Redis is away."""

import asyncio
from uuid import uuid4

PATIENT = {"upstream_first_byte_seconds": 600}


async def another_key(client):
    workspace = (await client.get("/v1/me")).json()["workspace"]["id"]
    made = await client.post(f"/v1/workspaces/{workspace}/keys", json={"name": "x", "role": "viewer"})
    return {"Authorization": f"Bearer {made.json()['key']}"}


async def test_a_key_may_burst(proxied_client):
    async with proxied_client(rate_limit_per_minute=1, rate_limit_burst=5) as client:
        other = await another_key(client)
        answers = [await client.get("/v1/documents/echo", headers=other) for _ in range(6)]
        assert [answer.status_code for answer in answers] == [200] * 5 + [429]
        assert [answer.headers["ratelimit-remaining"] for answer in answers] == ["4", "3", "2", "1", "0", "0"]
        refused = answers[-1]
        assert refused.json()["type"] == "rate-limited"
        assert refused.headers["content-type"] == "application/problem+json"
        assert refused.headers["ratelimit-limit"] == "5"
        assert 0 < int(refused.headers["retry-after"]) <= 60
        assert (await client.get("/v1/me")).status_code == 200  # another key has another bucket
        for path in ("/livez", "/docs", "/openapi.json"):
            for _ in range(6):
                assert (await client.get(path)).status_code == 200


async def test_an_owner_limits_the_keys_of_the_workspace(gateway_client):
    async with gateway_client(rate_limit_per_minute=300, rate_limit_burst=300) as client:
        workspace = (await client.get("/v1/me")).json()["workspace"]["id"]
        place, key = f"/v1/workspaces/{workspace}", await another_key(client)
        assert (await client.get("/v1/me", headers=key)).headers["ratelimit-limit"] == "300"
        for wrong in ({"key_requests_per_minute": 59}, {"key_requests_per_minute": "90"}, {"name": "x"}):
            assert (await client.patch(place, json=wrong)).status_code == 422, wrong
        refused = await client.patch(place, json={"key_requests_per_minute": 60}, headers=key)
        assert refused.status_code == 403
        changed = await client.patch(place, json={"key_requests_per_minute": 60})
        assert changed.json()["key_requests_per_minute"] == changed.json()["most_key_requests_per_minute"] == 60
        assert (await client.get(place, headers=key)).json()["key_requests_per_minute"] == 60
        answers = [await client.get("/v1/me", headers=key)]
        while answers[-1].status_code == 200:
            answers.append(await client.get("/v1/me", headers=key))
        assert answers[0].headers["ratelimit-limit"] == "60"
        assert 50 < len(answers) < 300
        await asyncio.sleep(float(answers[-1].headers["retry-after"]))
        lifted = await client.patch(place, json={"key_requests_per_minute": None})
        assert lifted.json()["key_requests_per_minute"] is None
        assert lifted.json()["most_key_requests_per_minute"] == 300
        assert (await client.get("/v1/me", headers=key)).headers["ratelimit-limit"] == "300"
        await client.patch(place, json={"key_requests_per_minute": 900})
        assert (await client.get(place)).json()["most_key_requests_per_minute"] == 300
        assert (await client.get("/v1/me")).headers["ratelimit-limit"] == "300"  # the operator's is lower
        audited = (await client.get("/v1/audit", params={"action": "workspace.change"})).json()["items"]
        assert {one["target_id"] for one in audited} == {workspace}
        assert {200, 403} <= {one["status"] for one in audited}


async def test_a_key_that_waits_for_retry_after_is_admitted(proxied_client):
    async with proxied_client(rate_limit_per_minute=30, rate_limit_burst=3) as client:
        other = await another_key(client)
        while (answer := await client.get("/v1/me", headers=other)).status_code == 200:
            pass  # a machine that stalls gives the next one its token
        assert answer.headers["retry-after"] in {"1", "2"}
        await asyncio.sleep(float(answer.headers["retry-after"]))
        assert (await client.get("/v1/me", headers=other)).status_code == 200


async def test_concurrent_requests_cannot_exceed_the_burst(gateway_client):
    async with gateway_client(rate_limit_per_minute=1, rate_limit_burst=7) as client:
        statuses = [one.status_code for one in await asyncio.gather(*(client.get("/v1/me") for _ in range(30)))]
        assert sorted(statuses) == [200] * 7 + [429] * 23


async def test_failed_authentications_are_limited_by_address_without_affecting_valid_keys(gateway_client):
    async with gateway_client(auth_failures_per_minute=3) as client:
        wrong = {"Authorization": f"Bearer atr_{uuid4().hex}_{'x' * 43}"}
        answers = [await client.get("/v1/documents", headers=wrong) for _ in range(5)]
        assert [answer.status_code for answer in answers] == [401] * 3 + [429] * 2
        assert answers[-1].json()["type"] == "too-many-failed-authentications"
        assert int(answers[-1].headers["retry-after"]) <= 20
        assert (await client.get("/v1/me")).status_code == 200


async def test_without_redis_the_gateway_limits_locally_and_the_status_shows_it(gateway_client, private, unused_port):
    async with gateway_client(
        redis_url=f"redis://127.0.0.1:{unused_port}", rate_limit_per_minute=1, rate_limit_burst=2
    ) as client:
        answers = [await client.get("/v1/me") for _ in range(4)]
        assert [answer.status_code for answer in answers] == [200, 200, 429, 429]
        assert answers[0].headers["ratelimit-limit"] == "2"
        assert int(answers[-1].headers["retry-after"]) > 30
        assert "attractor_requests_counted_locally_total 4.0" in (await private("/metrics")).text
        ready = await private("/readyz")
        assert (ready.status_code, ready.json()["status"]) == (200, "degraded")
        assert "redis" in ready.json()["failures"]


async def test_keys_of_a_workspace_share_a_bucket_and_other_workspaces_have_their_own(gateway_client):
    async with gateway_client(rate_limit_per_minute=1, rate_limit_burst=5, rate_limit_workspace_keys=1) as client:
        elsewhere = (await client.post("/v1/workspaces", json={"name": "elsewhere"})).json()["id"]
        made = await client.post(f"/v1/workspaces/{elsewhere}/keys", json={"name": "x", "role": "owner"})
        outside = {"Authorization": f"Bearer {made.json()['key']}"}
        key = await another_key(client)  # with this the administrator's key has used four of five tokens
        answers = [await client.get("/v1/me", headers=key) for _ in range(2)]
        assert [answer.status_code for answer in answers] == [200, 429]
        assert "workspace" in answers[-1].json()["detail"]
        assert (await client.get("/v1/me", headers=outside)).status_code == 200


async def test_a_large_search_costs_more_than_a_small_one(proxied_client):
    async with proxied_client(rate_limit_per_minute=1, rate_limit_burst=100) as client:

        async def left(body):
            return int((await client.post("/v1/search", json=body)).headers["ratelimit-remaining"])

        full = await left({"query": "who answers for it"})
        assert full == 99
        small = await left({"query": "who", "queries": ["what", "when"]})
        assert full - small == 3
        large = await left({"query": "a" * 1250, "queries": ["a" * 1250] * 7})
        assert small - large == 88
        assert (await client.post("/v1/search", json={"query": "a" * 10_000})).status_code == 429


async def test_concurrent_requests_are_limited_per_key_and_long_polls_separately(proxied_client, seen):
    async with proxied_client(requests_in_flight_per_key=2, waits_in_flight_per_key=3, **PATIENT) as client:
        key = await another_key(client)
        slow = [asyncio.create_task(client.get("/v1/runs/slow", headers=key)) for _ in range(2)]
        await seen.until_waiting(2)
        refused = await client.get("/v1/documents/echo", headers=key)
        assert (refused.status_code, refused.json()["type"]) == (429, "too-many-in-flight")
        assert refused.headers["retry-after"] == "1"
        assert refused.json()["limit"] == 2
        waits = [asyncio.create_task(client.get("/v1/runs/slow?wait=ended", headers=key)) for _ in range(3)]
        await seen.until_waiting(5)
        assert (await client.get("/v1/documents/echo?timeout=300", headers=key)).status_code == 429
        assert (await client.get("/v1/documents/echo")).status_code == 200  # another key
        for task in slow + waits:
            task.cancel()
        await asyncio.gather(*slow, *waits, return_exceptions=True)
        await seen.until_waiting(0)
        assert (await client.get("/v1/documents/echo", headers=key)).status_code == 200


async def test_many_keys_of_one_workspace_cannot_take_all_connections(proxied_client):
    async with proxied_client(waits_in_flight_per_key=2, waits_in_flight_per_workspace=5, **PATIENT) as client:
        keys = [await another_key(client) for _ in range(4)]
        waits = [
            asyncio.create_task(client.get("/v1/runs/slow?wait=ended", headers=key)) for _ in range(2) for key in keys
        ]
        done, held = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        while len(done) < 3:
            more, held = await asyncio.wait(held, return_when=asyncio.FIRST_COMPLETED)
            done |= more
        assert [task.result().status_code for task in done] == [429] * 3
        assert len(held) == 5
        for task in held:
            task.cancel()
        await asyncio.gather(*held, return_exceptions=True)


async def test_without_a_limit_no_rate_limit_headers_are_sent(gateway_client):
    async with gateway_client(rate_limit_per_minute=0) as client:
        assert "ratelimit-limit" not in (await client.get("/v1/me")).headers
