"""What passes the gateway_client, and how."""

import asyncio
import os
import socket
from dataclasses import replace

import httpx2
import jwt
import openai
import psutil
import pytest
from openai import AsyncOpenAI

from contracts.gateway import Role

MEBIBYTE = 2**20


async def test_a_service_sees_the_caller_but_not_the_key(proxied_client, token_keys, admin_key):
    async with proxied_client() as client:
        me = (await client.get("/v1/me")).json()
        sent = {"X-Forwarded-For": "6.6.6.6", "Cookie": "a=b", "traceparent": f"00-{'a' * 32}-{'b' * 16}-01"}
        answer = (await client.get("/v1/documents/echo?q=a%20b&q=2", headers=sent)).json()
        seen = answer["headers"]
        assert admin_key not in str(answer)
        caller = token_keys.tokens("ingestion").verify(seen["authorization"].removeprefix("Bearer "))
        assert (str(caller.user_id), str(caller.workspace_id)) == (me["user"]["id"], me["workspace"]["id"])
        assert caller.role is Role.owner
        assert answer["query"] == "q=a%20b&q=2"
        assert seen["x-forwarded-for"] == "127.0.0.1"
        assert seen["x-forwarded-host"] == client.base_url.netloc.decode()
        assert seen["traceparent"].split("-")[1] == "a" * 32
        assert "cookie" not in seen
        assert "accept-encoding" in seen  # the client's own


async def test_only_requests_that_make_a_service_call_others_carry_a_delegation(proxied_client, seen, token_keys):
    """Checks that a search carries one, which it needs to query the graph, and that listing sessions carries none."""
    retrieval, orchestrator = token_keys.tokens("retrieval"), token_keys.tokens("orchestrator")
    async with proxied_client() as client:
        await client.post("/v1/search", json={"query": "x"})
        carried = retrieval.verify(seen.authorization.removeprefix("Bearer "))
        onward = retrieval.sign(carried, "knowledge-graph")
        assert token_keys.tokens("knowledge-graph").verify(onward) == replace(carried, role=Role.viewer)
        listed = (await client.get("/v1/documents/echo")).json()["headers"]["authorization"]
        assert token_keys.tokens("ingestion").verify(listed.removeprefix("Bearer ")).delegation is None
        await client.get("/v1/sessions")
        reading = orchestrator.verify(seen.authorization.removeprefix("Bearer "))
        assert reading.delegation is None
        await client.post("/v1/sessions", json={})
        asking = orchestrator.verify(seen.authorization.removeprefix("Bearer "))
        claims = jwt.decode(asking.delegation, options={"verify_signature": False})
        assert (claims["actors"], claims["exp"] - claims["iat"]) == (["orchestrator", "retrieval"], 3600)


async def test_the_path_is_forwarded_unchanged(proxied_client):
    async with proxied_client() as client:
        for path in (
            "/v1/documents/echo/%C3%A4%20b",
            "/v1/documents/echo/%252e%252e/x",
            "/v1/documents/echo/a:b@c;d=e",
        ):
            assert (await client.get(path)).json()["path"] == path


async def test_the_sdk_retrieves_a_model_with_a_slash_in_its_name(proxied_client, admin_key):
    """Covers the SDK's encoding of the slash."""
    async with (
        proxied_client() as client,
        AsyncOpenAI(base_url=f"{client.base_url}/v1", api_key=admin_key, max_retries=0) as sdk,
    ):
        read = await sdk.models.retrieve("attractor/terse")
        with pytest.raises(openai.NotFoundError):
            await sdk.models.retrieve("attractor/../../documents")
    assert read.model_extra["path"] == "/v1/models/attractor%2Fterse"


@pytest.mark.parametrize(
    "path",
    [
        "/v1/documents/../users",
        "/v1/documents/%2e%2e/users",
        "/v1/documents/%2E%2E%2Fusers",
        "/v1/documents/..%5cusers",
        "/v1/documents//echo",
        "//v1/documents/echo",
        "/v1/documents/./echo",
        "/v1/documentsecho",
        "/v1/documents/%00",
        "/V1/documents/echo",
        "/v1/nothing",
        "/v1",
        "/docs/../v1/documents/echo",
        "/docs/%2e%2e/settings.py",
    ],
)
async def test_path_traversal_and_unknown_paths_are_404_problems(proxied_client, path):
    async with proxied_client() as client:
        answer = await raw_request(client, f"GET {path} HTTP/1.1")
        assert answer.startswith(b"HTTP/1.1 404 ")
        assert b"application/problem+json" in answer


async def raw_request(client, line):
    """Over a plain socket: a client library would tidy the path."""
    reader, writer = await asyncio.open_connection("127.0.0.1", client.base_url.port)
    key = client.headers["authorization"]
    writer.write(f"{line}\r\nHost: x\r\nAuthorization: {key}\r\nConnection: close\r\n\r\n".encode())
    answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    return answer


async def test_events_are_streamed_individually_and_disconnecting_cancels_the_upstream_request(proxied_client, seen):
    async with proxied_client() as client:
        async with client.stream("GET", "/v1/runs/events") as stream:
            assert stream.headers["content-type"].startswith("text/event-stream")
            chunks = stream.aiter_bytes()
            async with asyncio.timeout(120):
                assert await anext(chunks) == b"id: 1\ndata: first\n\n"
                assert not seen.released.is_set()
                seen.released.set()
                assert await anext(chunks) == b"id: 2\ndata: second\n\n"
            assert not seen.cancelled.is_set()
        async with asyncio.timeout(120):
            await seen.cancelled.wait()


async def test_disconnecting_before_the_response_cancels_the_upstream_request(proxied_client, seen):
    async with proxied_client() as client:
        asking = asyncio.create_task(client.get("/v1/runs/slow"))
        async with asyncio.timeout(120):
            await seen.reached.wait()
            asking.cancel()
            await seen.cancelled.wait()
        with pytest.raises(asyncio.CancelledError):
            await asking


async def test_the_first_byte_timeout_does_not_end_an_event_stream(proxied_client, seen):
    async with (
        proxied_client(upstream_first_byte_seconds=4) as client,
        client.stream("GET", "/v1/runs/events") as stream,
    ):
        chunks = stream.aiter_bytes()
        await anext(chunks)
        await asyncio.sleep(5)
        seen.released.set()
        async with asyncio.timeout(120):
            assert b"second" in await anext(chunks)


async def test_a_late_response_is_a_504_that_names_the_service(proxied_client):
    async with proxied_client(upstream_first_byte_seconds=0.2) as client:
        answer = await client.get("/v1/runs/slow")
        assert (answer.status_code, answer.json()["type"]) == (504, "service-timeout")
        assert answer.json()["service"] == "orchestrator"


async def test_a_slow_upload_does_not_count_as_a_slow_response(proxied_client):
    async def body():
        for _ in range(4):
            yield b"x" * 1000
            await asyncio.sleep(0.9)  # together longer than the service may take

    async with proxied_client(upstream_first_byte_seconds=3) as client:
        answer = await client.post("/v1/documents", content=body())
        assert (answer.status_code, answer.json()) == (200, {"size": 4000})


async def test_an_unreachable_service_is_a_502_that_names_it(gateway_client, private):
    async with gateway_client() as client:
        for method, path, service in (
            ("GET", "/v1/graph/entities", "knowledge-graph"),
            ("POST", "/v1/search", "retrieval"),
        ):
            answer = await client.request(method, path)
            assert (answer.status_code, answer.json()["type"]) == (502, "service-unreachable")
            assert answer.json()["service"] == service
            assert answer.headers["content-type"] == "application/problem+json"
        metrics = (await private("/metrics")).text
        assert 'attractor_upstream_failures_total{service="retrieval",type="service-unreachable"} 1.0' in metrics
        assert 'attractor_upstream_failures_total{service="memory",type="cut"} 0.0' in metrics, "before its first one"


async def test_a_dropped_upstream_connection_is_a_502(gateway_client):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = await asyncio.start_server(hang_up, sock=listener.dup())
        async with server, gateway_client(memory_url=f"http://127.0.0.1:{listener.getsockname()[1]}") as client:
            assert (await client.get("/v1/memories")).status_code == 502


async def hang_up(reader, writer):
    await reader.readuntil(b"\r\n\r\n")
    writer.close()
    await writer.wait_closed()


async def test_a_response_truncated_by_the_service_is_visibly_incomplete(proxied_client, private):
    async with proxied_client() as client:
        with pytest.raises(httpx2.RemoteProtocolError):
            await client.get("/v1/runs/half")
        assert (
            'attractor_upstream_failures_total{service="orchestrator",type="cut"} 1.0'
            in (await private("/metrics")).text
        )


async def test_a_rejected_internal_token_is_a_502(proxied_client):
    async with proxied_client() as client:
        answer = await client.get("/v1/memories/refuses")
        assert (answer.status_code, answer.json()["type"]) == (502, "service-refused")


async def test_problems_of_a_service_keep_their_headers(proxied_client):
    async with proxied_client() as client:
        answer = await client.get("/v1/memories/problem")
        assert (answer.status_code, answer.json()["type"], answer.headers["etag"]) == (412, "stale-version", '"4"')
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert len(answer.headers.get_list("date")) == 1


async def test_only_known_methods_are_forwarded(proxied_client):
    async with proxied_client() as client:
        wrong = await client.delete("/v1/users")
        assert (wrong.status_code, wrong.headers["allow"], wrong.json()["type"]) == (
            405,
            "GET, POST",
            "method-not-allowed",
        )
        assert (await client.patch("/v1/documents/echo")).headers["allow"] == "GET"
        assert (await client.head("/v1/me")).status_code == 405


async def test_a_redirect_by_a_service_points_to_the_gateway(proxied_client):
    async with proxied_client() as client:
        answer = await client.post("/v1/documents/")
        assert answer.status_code == 307
        assert answer.headers["location"] == "/v1/documents"


async def test_bodies_are_limited_by_content_length_and_by_received_bytes(proxied_client):
    async with proxied_client(max_body_bytes=3000, max_json_bytes=1000) as client:
        json_header = {"Content-Type": "application/json"}
        binary = {"Content-Type": "multipart/form-data; boundary=x"}
        for path, headers, size, status in (
            ("/v1/search", json_header, 1000, 200),
            ("/v1/search", json_header, 1001, 413),
            ("/v1/search", binary, 1001, 413),
            ("/v1/documents", json_header, 1001, 413),
            ("/v1/documents", binary, 3000, 200),
            ("/v1/documents", binary, 3001, 413),
            ("/v1/users", json_header, 1001, 413),
        ):
            for content in (b" " * size, pieces(size)):
                answer = await client.post(path, content=content, headers=headers)
                assert (answer.status_code, path, size) == (status, path, size)
                if status == 413:
                    assert answer.json()["type"] == "body-too-large"


async def pieces(size):
    for start in range(0, size, 500):
        yield b" " * min(500, size - start)
        await asyncio.sleep(0)


async def test_a_large_upload_needs_little_memory(process):
    """Sends 200 MiB through the gateway in its own process."""
    async with process() as (client, pid):
        gateway = psutil.Process(pid)
        await client.post("/v1/documents", content=b"warm")
        before, peak = gateway.memory_info().rss, 0

        async def file():
            nonlocal peak
            part = os.urandom(MEBIBYTE)
            for _ in range(200):
                yield part
                peak = max(peak, gateway.memory_info().rss)

        headers = {"Content-Type": "application/octet-stream"}
        answer = await client.post("/v1/documents", content=file(), headers=headers, timeout=120)
        assert answer.json() == {"size": 200 * MEBIBYTE}
        assert peak - before < 24 * MEBIBYTE
