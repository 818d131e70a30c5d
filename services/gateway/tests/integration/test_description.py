"""/openapi.json, /docs, /v1/status and what every answer carries."""

import re
from importlib.metadata import version
from urllib.parse import urlsplit

import psycopg

from gateway.access.response_headers import PAGE_POLICY
from service_kit.migrate import migrations, short_name


async def test_the_openapi_document_describes_the_public_api_and_supports_etags(gateway_client):
    async with gateway_client() as client:
        del client.headers["authorization"]
        answer = await client.get("/openapi.json")
        document = answer.json()
        assert document["openapi"].startswith("3.1")
        assert {"/v1/me", "/v1/documents", "/v1/search", "/v1/graph/status", "/v1/memories"} <= set(document["paths"])
        assert not [path for path in document["paths"] if not path.startswith("/v1/")]
        same = await client.get("/openapi.json", headers={"If-None-Match": answer.headers["etag"]})
        assert same.status_code == 304


async def test_the_docs_page_loads_nothing_from_other_hosts_and_has_no_inline_script(gateway_client):
    async with gateway_client() as client:
        del client.headers["authorization"]
        page = await client.get("/docs")
        policy = page.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "sandbox" not in policy
        assert not re.search(r"<script>|https?://|\son\w+=|<style", page.text)
        for path in re.findall(r'(?:src|href)="([^"]+)"', page.text):
            part = await client.get(path)
            assert (part.status_code, path.startswith("/docs/")) == (200, True)


async def test_status_reports_every_service(proxied_client, unused_port):
    async with proxied_client(memory_url=f"http://127.0.0.1:{unused_port}") as client:
        status = (await client.get("/v1/status")).json()
        assert status["status"] == "degraded"
        found = {service["name"]: service["status"] for service in status["services"]}
        assert found.pop("memory") == "unreachable"
        assert found == dict.fromkeys(["gateway", "ingestion", "retrieval", "knowledge-graph", "orchestrator"], "ready")


async def test_status_reports_version_and_schema_of_each_service(proxied_client, unused_port):
    async with proxied_client(memory_url=f"http://127.0.0.1:{unused_port}") as client:
        services = (await client.get("/v1/status")).json()["services"]
    told = {one["name"]: (one["version"], one["schema_version"]) for one in services}
    newest = max(name for name, _ in migrations("gateway"))
    assert told.pop("gateway") == (version("attractor-gateway"), short_name(newest))
    assert told.pop("memory") == (None, None)
    assert told == dict.fromkeys(
        ["ingestion", "retrieval", "knowledge-graph", "orchestrator"], ("9.1.0", "0099_newest")
    )


async def test_every_response_has_security_headers_and_no_cors_by_default(proxied_client):
    async with proxied_client() as client:
        for path in ("/v1/me", "/v1/documents/echo", "/nothing", "/livez"):
            answer = await client.get(path, headers={"Origin": "https://evil.example"})
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["x-frame-options"] == "DENY"
            assert "sandbox" in answer.headers["content-security-policy"]
            assert answer.headers["cache-control"] == "no-store"
            assert "access-control-allow-origin" not in answer.headers
            assert "server" not in answer.headers
            assert answer.headers["referrer-policy"] == "no-referrer"
            assert "camera=()" in answer.headers["permissions-policy"]
            assert answer.headers["cross-origin-resource-policy"] == "same-origin"
            assert answer.headers["cross-origin-opener-policy"] == "same-origin"
            assert "strict-transport-security" not in answer.headers


async def test_a_browser_at_an_unknown_address_gets_a_page_and_a_program_a_problem(proxied_client):
    async with proxied_client() as client:
        del client.headers["authorization"]
        kinds = {}
        for path in ("/settings", "/docs/nothing", "/v1/nothing", "/v1/me"):
            answer = await client.get(path, headers={"Sec-Fetch-Mode": "navigate", "Accept": "text/html"})
            kinds[path] = (answer.status_code, answer.headers["content-type"].partition(";")[0])
        page, problem = "text/html", "application/problem+json"
        assert kinds == {
            "/settings": (404, page),
            "/docs/nothing": (404, page),
            "/v1/nothing": (404, problem),
            "/v1/me": (401, problem),
        }
        answer = await client.get("/settings")
        assert (answer.status_code, answer.headers["content-type"]) == (404, problem)


async def test_hsts_is_sent_if_the_deployment_is_reached_by_tls(proxied_client):
    async with proxied_client(public_url="https://attractor.example.org") as client:
        for path in ("/v1/documents/echo", "/docs", "/nothing"):
            answer = await client.get(path)
            assert answer.headers["strict-transport-security"].startswith("max-age=31536000")


def test_a_page_runs_only_its_own_scripts_and_cannot_be_framed():
    policy = dict(part.strip().split(" ", 1) for part in PAGE_POLICY.split(";"))
    assert policy["default-src"] == "'self'"
    assert policy["require-trusted-types-for"] == "'script'"
    assert (policy["frame-ancestors"], policy["object-src"], policy["base-uri"]) == ("'none'", "'none'", "'none'")
    assert "unsafe" not in PAGE_POLICY


async def test_configured_origins_may_call_the_api(proxied_client):
    async with proxied_client(cors_origins=["https://ui.example"]) as client:
        preflight = {"Origin": "https://ui.example", "Access-Control-Request-Method": "POST"}
        preflight["Access-Control-Request-Headers"] = "authorization"
        answer = await client.options("/v1/search", headers=preflight)
        assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (200, "https://ui.example")
        stranger = await client.options("/v1/search", headers=preflight | {"Origin": "https://evil.example"})
        assert stranger.status_code == 400
        real = await client.get("/v1/me", headers={"Origin": "https://ui.example"})
        assert real.headers["access-control-allow-origin"] == "https://ui.example"


async def test_an_unreachable_database_is_a_503(gateway_client, private, settings, engines):
    name = urlsplit(settings().database_url.get_secret_value()).path[1:]
    async with gateway_client() as client:
        with psycopg.connect(engines.admin_database_url, autocommit=True) as connection:
            connection.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
            connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", (name,))
        answer = await client.get("/v1/me")
        assert (answer.status_code, answer.json()["type"]) == (503, "unavailable")
        assert (await private("/readyz")).status_code == 503
        assert (await client.get("/livez")).status_code == 200


async def test_metrics_and_readiness_are_served_only_on_the_private_port(process, private_port):
    async with process() as (client, _):
        for path in ("/metrics", "/readyz"):
            assert (await client.get(path)).status_code == 404
            inside = await client.get(f"http://127.0.0.1:{private_port}{path}")
            assert inside.status_code == 200
        assert (await client.get(f"http://127.0.0.1:{private_port}/v1/me")).status_code == 404
        assert (await client.get("/livez")).status_code == 200
