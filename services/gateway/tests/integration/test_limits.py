"""Rate limits, and what becomes of them when Redis is away."""

import asyncio
from uuid import uuid4


async def another_key(client):
    workspace = (await client.get("/v1/me")).json()["workspace"]["id"]
    made = await client.post(f"/v1/workspaces/{workspace}/keys", json={"name": "x", "role": "viewer"})
    return {"Authorization": f"Bearer {made.json()['key']}"}


async def test_a_key_may_burst_and_then_has_to_wait(proxied_client):
    async with proxied_client(rate_limit_per_minute=60, rate_limit_burst=5) as client:
        other = await another_key(client)
        answers = [await client.get("/v1/documents/echo", headers=other) for _ in range(6)]
        assert [answer.status_code for answer in answers] == [200] * 5 + [429]
        assert [answer.headers["ratelimit-remaining"] for answer in answers] == ["4", "3", "2", "1", "0", "0"]
        refused = answers[-1]
        assert refused.json()["type"] == "rate-limited"
        assert refused.headers["content-type"] == "application/problem+json"
        assert (refused.headers["ratelimit-limit"], refused.headers["retry-after"]) == ("5", "1")
        assert (await client.get("/v1/me")).status_code == 200  # another key has another bucket
        await asyncio.sleep(float(refused.headers["retry-after"]))
        assert (await client.get("/v1/me", headers=other)).status_code == 200
        for path in ("/livez", "/readyz", "/docs", "/openapi.json", "/metrics"):
            for _ in range(6):
                assert (await client.get(path)).status_code == 200


async def test_concurrent_requests_do_not_exceed_the_burst(gateway_client):
    async with gateway_client(rate_limit_per_minute=1, rate_limit_burst=7) as client:
        answers = await asyncio.gather(*(client.get("/v1/me") for _ in range(30)))
        assert sorted(answer.status_code for answer in answers) == [200] * 7 + [429] * 23


async def test_failed_authentications_are_limited_by_address_and_valid_keys_are_not(gateway_client):
    async with gateway_client(auth_failures_per_minute=3) as client:
        wrong = {"Authorization": f"Bearer atr_{uuid4().hex}_{'x' * 43}"}
        answers = [await client.get("/v1/documents", headers=wrong) for _ in range(5)]
        assert [answer.status_code for answer in answers] == [401] * 3 + [429] * 2
        assert answers[-1].json()["type"] == "too-many-failed-authentications"
        assert int(answers[-1].headers["retry-after"]) <= 20
        assert (await client.get("/v1/me")).status_code == 200


async def test_without_redis_each_process_counts_alone_and_the_status_shows_it(gateway_client, free_port):
    """Finding: while Redis was away there were no limits at all."""
    async with gateway_client(
        redis_url=f"redis://127.0.0.1:{free_port}",
        rate_limit_per_minute=1,
        rate_limit_burst=2,
        auth_failures_per_minute=1,
    ) as client:
        answers = [await client.get("/v1/me") for _ in range(3)]
        assert [answer.status_code for answer in answers] == [200, 200, 429]
        assert answers[0].headers["ratelimit-remaining"] == "1"
        wrong = {"Authorization": f"Bearer atr_{uuid4().hex}_{'x' * 43}"}
        assert [(await client.get("/v1/me", headers=wrong)).status_code for _ in range(2)] == [401, 429]
        assert "attractor_requests_counted_alone_total 3.0" in (await client.get("/metrics")).text
        ready = await client.get("/readyz")
        assert (ready.status_code, ready.json()["status"]) == (200, "degraded")
        assert "redis" in ready.json()["failures"]


async def test_without_a_limit_no_rate_limit_headers_are_sent(gateway_client):
    async with gateway_client(rate_limit_per_minute=0) as client:
        assert "ratelimit-limit" not in (await client.get("/v1/me")).headers
