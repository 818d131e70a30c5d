"""What only the Compose stack has: Neo4j, hardened containers, one published port, more workers."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess

import httpx2
import pytest
from api_calls import EXAMPLES, PATIENCE, REPOSITORY, eventually, ingest

pytestmark = pytest.mark.skipif(
    not os.environ.get("ATTRACTOR_COMPOSE"), reason="needs the Compose stack: ATTRACTOR_COMPOSE=1"
)
OURS = {"gateway", "orchestrator", "ingestion", "ingestion-worker"}
OURS |= {"retrieval", "knowledge-graph", "memory"}


def compose(*arguments: str) -> str:
    command = ["docker", "compose", *arguments]
    return subprocess.run(command, cwd=REPOSITORY, check=True, capture_output=True, text=True).stdout


def containers() -> list[dict]:
    identifiers = compose("ps", "--quiet").split()
    answer = subprocess.run(["docker", "inspect", *identifiers], check=True, capture_output=True, text=True)
    return json.loads(answer.stdout)


async def status(http: httpx2.AsyncClient) -> dict:
    return (await http.get("/v1/graph/status")).json()


def service_of(container: dict) -> str:
    return container["Config"]["Labels"]["com.docker.compose.service"]


def test_few_containers_and_one_published_port():
    running = containers()
    assert len(running) <= 12
    published = {service_of(one) for one in running if any(one["NetworkSettings"]["Ports"].values())}
    assert published == {"gateway"}


def test_our_containers_run_without_privileges():
    ours = [one for one in containers() if service_of(one) in OURS]
    assert {service_of(one) for one in ours} == OURS
    for one in ours:
        host = one["HostConfig"]
        assert one["Config"]["User"] == "10001:10001"
        assert host["ReadonlyRootfs"]
        assert host["CapDrop"] == ["ALL"]
        assert host["Memory"] > 0
        assert host["RestartPolicy"]["Name"] == "unless-stopped"
        assert not any("ADMIN_DATABASE_URL" in variable for variable in one["Config"]["Env"])


async def test_neo4j_answers_and_equals_what_postgres_knows(make_tenant):
    async with make_tenant("graph") as tenant:
        await ingest(tenant.http, [EXAMPLES / "services.md"])
        await eventually(tenant.http, "/v1/graph/expand", {"entities": ["AuthService"]}, "chunks")
        async with asyncio.timeout(PATIENCE):  # until the projection has followed, PostgreSQL answers
            while (found := await status(tenant.http))["store"] != "neo4j":  # noqa: ASYNC110  the API has no event
                await asyncio.sleep(0.2)
        assert found["entities"] > 0
        body = {"source": "AuthService", "target": "UserDB"}
        assert (await tenant.http.post("/v1/graph/tools/shortest_path", json=body)).json()["success"]
    python = ("run", "--rm", "--no-deps", "-T", "knowledge-graph", "knowledge_graph", "verify")
    assert "drift" not in compose(*python).lower().replace("no drift", "")


def test_conversion_scales_out():
    compose("up", "--detach", "--no-recreate", "--wait", "--scale", "ingestion-worker=2", "ingestion-worker")
    workers = [one for one in containers() if service_of(one) == "ingestion-worker"]
    assert [one["State"]["Health"]["Status"] for one in workers] == ["healthy"] * 2
    compose("up", "--detach", "--no-recreate", "--wait", "--scale", "ingestion-worker=1", "ingestion-worker")
