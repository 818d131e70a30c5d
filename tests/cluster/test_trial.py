"""A trial on the cluster, from its installation to its end. Each test needs those before it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
from api_calls import EXAMPLES, PATIENCE, REPOSITORY, ask, client, ingest, processed
from cluster.kubernetes import RELEASE, Namespace, run

QUESTION = "Which projects depend on AuthService?"
SERVICES = {"gateway", "orchestrator", "ingestion", "ingestion-worker", "retrieval", "knowledge-graph", "memory"}
STORES = {"postgres", "redis", "neo4j", "seaweedfs"}
MIGRATED = SERVICES - {"ingestion-worker"}
pytestmark = [pytest.mark.usefixtures("trial"), pytest.mark.timeout(1200)]
COMPONENT = "app.kubernetes.io/component"
WAIT = ("--wait", "--timeout", "420s")  # as for the installation: all pods start again


@pytest.fixture
async def gateway(namespace: Namespace) -> AsyncIterator[httpx2.AsyncClient]:
    key = next(
        line.partition("=")[2]
        for line in (REPOSITORY / ".env").read_text(encoding="utf-8").splitlines()
        if line.startswith("ADMIN_API_KEY=")
    )
    async with client(namespace.address("gateway", "public"), key) as http:
        await reached(http)
        yield http


async def reached(http: httpx2.AsyncClient) -> None:
    """Waits for the node's proxy, which learns of ready pods a moment after they are, without an event."""
    async with asyncio.timeout(PATIENCE):
        while True:
            try:
                (await http.get("/v1/status")).raise_for_status()
            except httpx2.ConnectError:
                await asyncio.sleep(0.2)
            else:
                return


def pods(namespace: Namespace, component: str) -> list[dict[str, Any]]:
    return namespace.get("pods", "--selector", f"{COMPONENT}={component}")


async def helm(namespace: Namespace, *arguments: str, fails: bool = False) -> str:
    return await asyncio.to_thread(namespace.helm, *arguments, fails=fails)


@asynccontextmanager
async def asked_all_the_time(http: httpx2.AsyncClient) -> AsyncIterator[list[str]]:
    """Yields a list that gets an entry for each request that fails meanwhile."""
    failed: list[str] = []
    ended = asyncio.Event()

    async def keep_asking() -> None:
        while not ended.is_set():
            answer = await http.post("/v1/search", json={"query": QUESTION, "k": 3})
            if answer.status_code != 200 or not answer.json()["hits"]:
                failed.append(answer.text)

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(keep_asking())
        try:
            yield failed
        finally:
            ended.set()


def is_of(pod: dict[str, Any], components: set[str]) -> bool:
    return pod["metadata"]["labels"].get(COMPONENT) in components


def is_ready(pod: dict[str, Any]) -> bool:
    found = {one["type"]: one["status"] for one in pod["status"].get("conditions", [])}
    return found.get("Ready") == "True" and "deletionTimestamp" not in pod["metadata"]


async def is_answered(http: httpx2.AsyncClient) -> None:
    completed = await ask(http, QUESTION)
    assert "ProjectAlpha" in str(completed["content"])
    assert completed["citations"]


async def stages(http: httpx2.AsyncClient, document_id: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await http.get(f"/v1/documents/{document_id}")).json()["stages"]
    return found


async def is_running(http: httpx2.AsyncClient, document_id: str) -> None:
    """Waits until a worker has taken the document."""
    async with asyncio.timeout(PATIENCE):
        while True:
            if (await stages(http, document_id))[1]["status"] == "running":
                return
            await asyncio.sleep(0.2)  # the API has no event for it


async def test_every_pod_is_admitted_by_the_restricted_standard(namespace: Namespace) -> None:
    wanted = SERVICES | STORES | {f"{name}-migrate" for name in MIGRATED}
    async with asyncio.timeout(PATIENCE):
        while True:
            assert "FailedCreate" not in namespace.kubectl("get", "events")
            if {one["metadata"]["labels"][COMPONENT] for one in namespace.get("pods")} == wanted:
                return
            await asyncio.sleep(0.5)  # the controllers make them one by one


@pytest.mark.node
async def test_an_installed_trial_answers_with_citations(gateway: httpx2.AsyncClient) -> None:
    await ingest(gateway, sorted(path for path in EXAMPLES.rglob("*") if path.is_file()))
    await is_answered(gateway)


@pytest.mark.node
async def test_a_failed_upgrade_leaves_the_old_pods_serving(
    namespace: Namespace, trial: list[str], gateway: httpx2.AsyncClient
) -> None:
    before = {one["metadata"]["name"] for one in namespace.get("pods") if is_of(one, SERVICES)}
    async with asked_all_the_time(gateway) as failed:
        said = await helm(
            namespace, "upgrade", *trial, "--set", "image.tag=absent", "--wait", "--timeout", "15s", fails=True
        )
    assert "UPGRADE FAILED" in said
    assert failed == []
    assert before <= {one["metadata"]["name"] for one in namespace.get("pods") if is_ready(one)}


@pytest.mark.node
async def test_a_rollback_returns_to_what_ran_and_an_upgrade_replaces_every_pod_without_a_failed_request(
    namespace: Namespace, trial: list[str], gateway: httpx2.AsyncClient
) -> None:
    async with asked_all_the_time(gateway) as failed:
        await helm(namespace, "rollback", RELEASE, "1", *WAIT)
        before = {one["metadata"]["name"] for one in namespace.get("pods") if is_of(one, SERVICES)}
        await helm(namespace, "upgrade", *trial, "--set", "settings.LOG_LEVEL=DEBUG", *WAIT)
    assert failed == []
    after = {one["metadata"]["name"] for one in namespace.get("pods") if is_of(one, SERVICES) and is_ready(one)}
    assert len(after) >= len(SERVICES)
    assert not before & after
    # Pods are ready once their schema is there; a job that found it there may end after them.
    made = sorted(f"job/{name}-migrate-4" for name in MIGRATED)
    namespace.kubectl("wait", "--for=condition=Complete", *made, "--timeout=120s")
    jobs = {one["metadata"]["name"] for one in namespace.get("jobs") if one["status"].get("succeeded")}
    assert jobs == {f"{name}-migrate-4" for name in MIGRATED}, "a job for each service, of this revision alone"
    await is_answered(gateway)


@pytest.mark.node
async def test_a_drain_takes_one_pod_of_a_service_at_a_time(namespace: Namespace, gateway: httpx2.AsyncClient) -> None:
    namespace.kubectl("scale", "deployment/gateway", "--replicas=2")
    namespace.kubectl("rollout", "status", "deployment/gateway", "--timeout=120s")
    node = pods(namespace, "gateway")[0]["spec"]["nodeName"]
    chosen = ("--pod-selector", f"{COMPONENT}=gateway", "--ignore-daemonsets", "--delete-emptydir-data")
    try:
        async with asked_all_the_time(gateway) as failed:
            said = await asyncio.to_thread(namespace.kubectl, "drain", node, *chosen, "--timeout=15s", fails=True)
        assert "disruption budget" in said
        assert failed == []
    finally:
        run("kubectl", "uncordon", node)
    namespace.kubectl("scale", "deployment/gateway", "--replicas=1")


@pytest.mark.node
async def test_workers_that_are_scaled_in_end_their_documents(
    namespace: Namespace, gateway: httpx2.AsyncClient
) -> None:
    namespace.kubectl("scale", "deployment/ingestion-worker", "--replicas=3")
    namespace.kubectl("rollout", "status", "deployment/ingestion-worker", "--timeout=240s")
    page = "".join(f"<h2>Section {one}</h2><p>Paragraph number {one} of a long page.</p>" for one in range(2000))
    files = [("files", (f"{one}.html", f"<p>Page {one}</p>{page}".encode())) for one in range(6)]
    entries = (await gateway.post("/v1/documents", files=files)).json()["files"]
    ids = [one["document"]["id"] for one in entries]
    for one in ids:
        await is_running(gateway, one)
    namespace.kubectl("scale", "deployment/ingestion-worker", "--replicas=1")
    for one in ids:
        assert (await processed(gateway, one))["status"] == "searchable"
        assert [stage["attempts"] for stage in (await stages(gateway, one))[1:4]] == [1, 1, 1]


@pytest.mark.node
def test_an_uninstalled_trial_leaves_its_secret_and_its_data(namespace: Namespace) -> None:
    namespace.helm("uninstall", RELEASE)
    namespace.kubectl("wait", "--for=delete", "pods", "--all", "--timeout=300s")
    assert namespace.names("persistentvolumeclaims") == {f"data-{name}-0" for name in STORES}
    assert namespace.names("secrets") == {"attractor"}
    assert namespace.names("configmaps") <= {"kube-root-ca.crt"}
    kinds = "all,networkpolicies,poddisruptionbudgets,ingresses,serviceaccounts"
    left = namespace.kubectl("get", kinds, "--output", "name", "--ignore-not-found").split()
    assert left == ["serviceaccount/default"]
