"""Documents of artifacts: one per artifact, replaced by each new version, deleted with the artifact."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest

from contracts.artifacts import ARTIFACT_DOCUMENTS_PATH
from service_kit.auth import ServiceCaller

Entry = Callable[..., Awaitable[dict[str, Any]]]


@pytest.fixture
def artifact_request(client: httpx2.AsyncClient, token_keys: Any, workspace_id: UUID) -> Any:
    """`await artifact_request(method, artifact_id, text)` returns the response to the orchestrator."""

    async def ask(method: str, artifact_id: UUID, text: bytes | None = None, name: str = "orchestrator") -> Any:
        token = token_keys.tokens(name).sign(ServiceCaller(name, workspace_id), "ingestion")
        files = {"files": {"file": ("Plan.md", text)}} if text is not None else {}
        path, headers = f"{ARTIFACT_DOCUMENTS_PATH}/{artifact_id}", {"Authorization": f"Bearer {token}"}
        return await client.request(method, path, headers=headers, **files)

    return ask


async def test_an_artifact_has_one_document_that_each_version_replaces(
    client: httpx2.AsyncClient, artifact_request: Any
) -> None:
    artifact = uuid4()
    first = (await artifact_request("PUT", artifact, b"# One")).json()
    second = (await artifact_request("PUT", artifact, b"# Two")).json()
    other = (await artifact_request("PUT", uuid4(), b"# Three")).json()
    assert (first["created"], second["new_version"]) == (True, True)
    assert second["document"]["id"] == first["document"]["id"] != other["document"]["id"]
    document = (await client.get(f"/v1/documents/{first['document']['id']}")).json()
    assert (document["source_type"], document["name"], document["version"]) == ("artifact", "Plan.md", 2)
    for _ in range(2):
        assert (await artifact_request("DELETE", artifact)).status_code == 204
    assert (await client.get(f"/v1/documents/{first['document']['id']}")).status_code == 404
    assert (await client.get(f"/v1/documents/{other['document']['id']}")).status_code == 200


async def test_an_uploaded_document_with_the_same_bytes_is_kept(
    client: httpx2.AsyncClient, artifact_request: Any, upload: Entry
) -> None:
    uploaded, artifact = (await upload("plan.md", b"# Same"))["document"], uuid4()
    assert (await artifact_request("PUT", artifact, b"# Same")).json()["document"]["id"] == uploaded["id"]
    assert (await artifact_request("DELETE", artifact)).status_code == 204
    assert (await client.get(f"/v1/documents/{uploaded['id']}")).status_code == 200


async def test_a_version_can_be_indexed_again_after_a_user_deleted_its_document(
    client: httpx2.AsyncClient, artifact_request: Any
) -> None:
    artifact = uuid4()
    first = (await artifact_request("PUT", artifact, b"# One")).json()
    await client.delete(f"/v1/documents/{first['document']['id']}", params={"timeout": 0})
    again = (await artifact_request("PUT", artifact, b"# One")).json()
    assert again["created"]
    assert again["document"]["id"] != first["document"]["id"]


async def test_only_the_orchestrator_creates_and_deletes_artifact_documents(
    client: httpx2.AsyncClient, artifact_request: Any
) -> None:
    artifact = uuid4()
    for method in ("PUT", "DELETE"):
        assert (await artifact_request(method, artifact, b"x", name="memory")).status_code == 403
        path = f"{ARTIFACT_DOCUMENTS_PATH}/{artifact}"
        assert (await client.request(method, path, files={"file": ("a.md", b"x")})).status_code == 403
    empty = await artifact_request("PUT", artifact, b"")
    assert empty.json()["error"] == "empty-file"
