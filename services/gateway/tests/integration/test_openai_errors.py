"""What the gateway itself refuses on the routes of the OpenAI API, as the `openai` SDK sees it."""

from __future__ import annotations

import asyncio

import openai
import pytest
from openai import AsyncOpenAI

ASKED = [{"role": "user", "content": "How long are tokens valid?"}]


def sdk(client, key: str) -> AsyncOpenAI:
    return AsyncOpenAI(base_url=f"{client.base_url}/v1", api_key=key, max_retries=0)


async def test_refusals_by_the_gateway_are_errors_in_the_openai_sdk(proxied_client, admin_key, unused_port):
    away = f"http://127.0.0.1:{unused_port}"
    async with (
        proxied_client(
            rate_limit_per_minute=60, rate_limit_burst=4, max_json_bytes=10_000, orchestrator_url=away
        ) as client,
        sdk(client, admin_key) as known,
        sdk(client, "atr_unknown") as unknown,
    ):
        with pytest.raises(openai.AuthenticationError) as who:
            await unknown.models.list()
        with pytest.raises(openai.APIStatusError) as large:
            await known.chat.completions.create(model="attractor", messages=[{"role": "user", "content": "x" * 80_000}])
        with pytest.raises(openai.InternalServerError) as silent:
            await known.chat.completions.create(model="attractor", messages=ASKED)
        refused = await asyncio.gather(*(known.models.list() for _ in range(8)), return_exceptions=True)
    limited = [one for one in refused if isinstance(one, openai.RateLimitError)]
    assert (who.value.code, who.value.type) == ("invalid_api_key", "invalid_request_error")
    assert (large.value.status_code, large.value.code) == (413, "body_too_large")
    assert large.value.response.headers["x-should-retry"] == "false"
    assert (silent.value.status_code, silent.value.code) == (502, "service_unreachable")
    assert "x-should-retry" not in silent.value.response.headers
    assert limited
    assert limited[0].code == "rate_limited"
    assert int(limited[0].response.headers["retry-after"]) >= 1
