"""The parts that only Compose has: Neo4j, hardened and isolated containers, one published port, more workers."""

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
OURS = {"gateway", "orchestrator", "ingestion", "ingestion-worker", "converter"}
OURS |= {"retrieval", "knowledge-graph", "memory"}
PROBE = (REPOSITORY / "tests" / "port_probe.py").read_text(encoding="utf-8")
OBJECT_STORE = [("seaweedfs", port) for port in (8333, 8888, 9333, 9340, 23646, 18333, 18888, 19333, 19340, 33646)]
STORES = [*OBJECT_STORE, ("postgres", 5432), ("redis", 6379), ("neo4j", 7474), ("neo4j", 7473), ("neo4j", 7687)]
WITH_A_WAY_OUT = OURS - {"ingestion", "converter"}
# Prints what a process in the container could use: network interfaces, secrets, writable places.
SURROUNDINGS = """
import json, os, socket
places = [line.split()[1] for line in open("/proc/mounts") if not line.startswith("proc ")]
print(json.dumps({
    "interfaces": [name for _, name in socket.if_nameindex()],
    "secrets": os.path.exists("/run/secrets"),
    "writable": sorted(one for one in places if os.path.isdir(one) and os.access(one, os.W_OK)),
}))
"""


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


def test_there_are_few_containers_and_one_published_port():
    running = containers()
    assert len(running) <= 12
    published = {service_of(one) for one in running if any(one["NetworkSettings"]["Ports"].values())}
    assert published == {"gateway"}


async def test_the_gateway_image_contains_the_web_ui(address):
    async with httpx2.AsyncClient(base_url=address[0]) as browser:
        assert '<div id="root">' in (await browser.get("/")).text


def test_containers_run_without_privileges():
    running = {service_of(one): one for one in containers()}
    assert set(running) >= OURS | {"postgres", "redis", "neo4j", "seaweedfs"}
    for name, one in running.items():
        host = one["HostConfig"]
        assert host["ReadonlyRootfs"] is (name != "neo4j"), name
        assert host["CapDrop"] == ["ALL"]
        assert "no-new-privileges:true" in host["SecurityOpt"]
        assert host["Memory"] > 0
        assert host["RestartPolicy"]["Name"] == "unless-stopped"
        if name in OURS:
            assert one["Config"]["User"] == "10001:10001"


@pytest.mark.parametrize("service", ["gateway", "memory", "ingestion"])
def test_a_container_cannot_read_a_store_without_its_keys(service: str):
    """Regression: every container could read all files of all workspaces through object store ports without a key."""
    ports = [*STORES, *((one, 8000) for one in sorted(OURS - {"gateway", "ingestion-worker", "converter"}))]
    command = ["docker", "compose", "exec", "-T", service, "python", "-", json.dumps(ports)]
    done = subprocess.run(command, cwd=REPOSITORY, input=PROBE, check=True, capture_output=True, text=True)
    assert json.loads(done.stdout) == {}


def test_the_object_store_is_unreachable_from_containers_that_do_not_need_it():
    code = "import socket; socket.create_connection(('seaweedfs', 8333), 5)"
    for service in ("gateway", "memory"):
        command = ["docker", "compose", "exec", "-T", service, "python", "-c", code]
        assert subprocess.run(command, cwd=REPOSITORY, capture_output=True, check=False).returncode, service


def test_only_named_containers_have_internet_access():
    for one in containers():
        routes = {network for network, entry in one["NetworkSettings"]["Networks"].items() if entry["Gateway"]}
        internal = {f"attractor_{name}" for name in ("services", "stores", "objects")}
        assert bool(routes - internal) is (service_of(one) in WITH_A_WAY_OUT), service_of(one)
    for network in ("services", "stores", "objects"):
        told = subprocess.run(["docker", "network", "inspect", f"attractor_{network}"], capture_output=True, check=True)
        assert json.loads(told.stdout)[0]["Internal"]


async def test_files_are_converted_without_network_secrets_and_files_of_others(tenant):
    """Regression: a file that took over its reader had the worker's passwords and internet access."""
    [converter] = [one for one in containers() if service_of(one) == "converter"]
    assert converter["HostConfig"]["NetworkMode"] == "none"
    assert {one["Destination"] for one in converter["Mounts"]} == {"/run/converter", "/spool", "/models"}
    found = json.loads(compose("exec", "-T", "converter", "python", "-c", SURROUNDINGS))
    assert found["interfaces"] == ["lo"]
    assert not found["secrets"]
    assert set(found["writable"]) <= {"/run/converter", "/spool", "/tmp", "/dev", "/dev/shm", "/dev/mqueue"}
    known = {one.partition("=")[0] for one in converter["Config"]["Env"]}
    assert not [name for name in known if name.endswith(("_URL", "_KEY", "_SECRET", "_PASSWORD", "_ENDPOINT"))]
    assert (await tenant.http.get("/v1/documents", params={"status": "searchable"})).json()["items"]
    assert "service_kit.sandbox.forkserver" in compose("top", "converter")
    for service in ("ingestion", "ingestion-worker"):
        assert "service_kit.sandbox.forkserver" not in compose("top", service)
    services = (await tenant.http.get("/v1/status")).json()["services"]
    standing = {wall["name"] for one in services for wall in one.get("walls", []) if wall["active"]}
    assert {"container", "network", "environment", "system-calls"} <= standing


def test_secrets_appear_neither_in_docker_nor_in_the_process_list():
    secrets = {path.read_text(encoding="utf-8").strip() for path in (REPOSITORY / ".secrets").iterdir()}
    shown = json.dumps(containers())
    for service in {service_of(one) for one in containers()}:
        shown += compose("top", service)
    assert not [secret for secret in secrets if len(secret) >= 16 and secret in shown]


async def test_neo4j_answers_and_matches_postgresql(make_tenant):
    async with make_tenant("graph") as tenant:
        await ingest(tenant.http, [EXAMPLES / "services.md"])
        await eventually(tenant.http, "/v1/graph/expand", {"entities": ["AuthService"]}, "chunks")
        async with asyncio.timeout(PATIENCE):  # PostgreSQL answers until the projection has caught up
            while (found := await status(tenant.http))["store"] != "neo4j":  # noqa: ASYNC110  the API has no event
                await asyncio.sleep(0.2)
        assert found["entities"] > 0
        body = {"source": "AuthService", "target": "UserDB"}
        assert (await tenant.http.post("/v1/graph/tools/shortest_path", json=body)).json()["success"]
    python = ("run", "--rm", "--no-deps", "-T", "knowledge-graph", "knowledge_graph", "verify")
    assert "drift" not in compose(*python).lower().replace("no drift", "")


def test_conversion_can_be_scaled_out():
    compose("up", "--detach", "--no-recreate", "--wait", "--scale", "ingestion-worker=2", "ingestion-worker")
    workers = [one for one in containers() if service_of(one) == "ingestion-worker"]
    assert [one["State"]["Health"]["Status"] for one in workers] == ["healthy"] * 2
    compose("up", "--detach", "--no-recreate", "--wait", "--scale", "ingestion-worker=1", "ingestion-worker")
