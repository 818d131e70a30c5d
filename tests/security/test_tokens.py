"""A stolen service key does not make the thief administrator of all data.

Regression: every service accepted a token signed by `memory` in the name of an owner, valid until 2286.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx2
import jwt
import psutil
import pytest
from api_calls import EXAMPLES, created, events_of, ingest
from deployment_keys import SERVICES
from stack import EmbeddedStack

from service_kit.token_keys import SigningKey, parse_public_keys

# For each service, a route open to viewers and its expected status.
ASKED: Mapping[str, tuple[str, str, dict[str, Any] | None]] = {
    "ingestion": ("GET", "/v1/documents", None),
    "retrieval": ("POST", "/v1/search", {"query": "AuthService"}),
    "knowledge-graph": ("GET", "/v1/graph/entities", None),
    "memory": ("GET", "/v1/memories", None),
    "orchestrator": ("GET", "/v1/sessions", None),
}
BEHIND = tuple(ASKED)
QUESTION = "Which projects depend on AuthService?"


@dataclass(frozen=True)
class Taken:
    """The loot of an attacker who has taken over a service's process: its environment."""

    name: str
    environment: Mapping[str, str]

    @property
    def key(self) -> SigningKey:
        return SigningKey.parse(self.environment["TOKEN_PRIVATE_KEY"])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.environment['PORT']}"

    def forge(self, audience: str, workspace_id: UUID, algorithm: str = "EdDSA", **claims: Any) -> str:
        """Returns a token in the name of an owner; claims that are None are left out."""
        now = datetime.now(UTC)
        whole = {
            "iss": self.name,
            "aud": audience,
            "sub": str(uuid4()),
            "role": "owner",
            "workspace": str(workspace_id),
            "readable": [str(workspace_id)],
            "iat": now,
            "exp": now + timedelta(minutes=1),
        }
        whole = {name: value for name, value in (whole | claims).items() if value is not None}
        key: Any = self.key.private if algorithm == "EdDSA" else None
        return jwt.encode(whole, key, algorithm, {"kid": self.key.id})


@pytest.fixture(scope="module")
def taken(stack: EmbeddedStack) -> dict[str, Taken]:
    processes: dict[str, psutil.Process] = stack.processes()
    return {name: Taken(name, processes[name].environ()) for name in SERVICES}


@pytest.fixture(scope="module")
async def workspace_id(admin: httpx2.AsyncClient) -> UUID:
    return UUID((await admin.get("/v1/me")).json()["workspace"]["id"])


async def status_of(to: Taken, token: str) -> int:
    method, path, body = ASKED[to.name]
    async with httpx2.AsyncClient(base_url=to.url, headers={"Authorization": f"Bearer {token}"}) as http:
        return (await http.request(method, path, json=body, timeout=60)).status_code


def test_every_process_has_its_own_private_key_and_only_public_keys_of_others(
    stack: EmbeddedStack, taken: dict[str, Taken]
):
    private = {one.environment["TOKEN_PRIVATE_KEY"] for one in taken.values()}
    assert len(private) == len(SERVICES)
    for name, process in stack.processes().items():
        environment = process.environ()
        own = {environment["TOKEN_PRIVATE_KEY"]} if name in taken else set()
        assert {value for value in environment.values() if value in private} == own, name
        assert not [variable for variable in environment if "INTERNAL_TOKEN" in variable], name
    for one in taken.values():
        known = parse_public_keys(one.environment["TOKEN_PUBLIC_KEYS"])
        assert sorted(key.issuer for key in known.values()) == sorted(SERVICES)


@pytest.mark.parametrize("to", BEHIND)
async def test_every_service_accepts_the_key_of_the_gateway(taken: dict[str, Taken], workspace_id: UUID, to: str):
    """Shows that the other tests fail because of the signer."""
    assert await status_of(taken[to], taken["gateway"].forge(to, workspace_id)) == 200


@pytest.mark.parametrize("to", BEHIND)
@pytest.mark.parametrize("thief", BEHIND)
async def test_a_stolen_service_key_cannot_impersonate_an_owner(
    taken: dict[str, Taken], workspace_id: UUID, thief: str, to: str
):
    one, gateway = taken[thief], taken["gateway"]
    other_time = {"exp": datetime(2286, 11, 20, tzinfo=UTC)}
    forged = [
        one.forge(to, workspace_id),
        one.forge(to, workspace_id, **other_time),
        one.forge(to, workspace_id, iss="gateway"),
        one.forge(to, workspace_id, role="viewer"),
        one.forge(to, workspace_id, delegation=one.forge("attractor-delegation", workspace_id, actors=list(BEHIND))),
        one.forge(
            to,
            workspace_id,
            sub=None,
            role=None,
            delegation=one.forge("attractor-delegation", workspace_id, actors=list(BEHIND), iss="gateway"),
        ),
        jwt.encode({"sub": "x"}, gateway.key.public_text, "HS256", {"kid": gateway.key.id}),
    ]
    assert [await status_of(taken[to], token) for token in forged] == [401] * len(forged)


@pytest.mark.parametrize("to", BEHIND)
async def test_a_token_is_valid_for_one_service_and_two_minutes(taken: dict[str, Taken], workspace_id: UUID, to: str):
    """The audience and the lifetime are checked even with the gateway's signature."""
    gateway, now = taken["gateway"], datetime.now(UTC)
    wrong: list[dict[str, Any]] = [
        {"aud": next(name for name in BEHIND if name != to)},
        {"aud": list(BEHIND)},
        {"aud": "attractor-internal"},
        {"exp": datetime(2286, 11, 20, tzinfo=UTC)},
        {"exp": now + timedelta(minutes=3)},
        {"iat": now + timedelta(minutes=1), "exp": now + timedelta(minutes=2)},
        {"iat": None},
        {"exp": None},
    ]
    tokens = [gateway.forge(to, workspace_id, **claims) for claims in wrong]
    tokens.append(gateway.forge(to, workspace_id, algorithm="none"))
    assert [await status_of(taken[to], token) for token in tokens] == [401] * len(tokens)


@pytest.mark.parametrize("to", BEHIND)
@pytest.mark.parametrize("thief", BEHIND)
async def test_on_its_own_behalf_a_service_cannot_read_user_data(
    taken: dict[str, Taken], workspace_id: UUID, thief: str, to: str
):
    token = taken[thief].forge(to, workspace_id, sub=None, role=None, readable=None)
    assert await status_of(taken[to], token) in {401, 403}


THROUGH = [
    ("orchestrator", "retrieval", "POST", "/v1/search", {"query": "x"}, 200),
    ("orchestrator", "retrieval", "GET", "/v1/search-settings", None, 403),
    ("orchestrator", "memory", "POST", "/v1/memories/recall", {"query": "x"}, 200),
    ("orchestrator", "memory", "GET", "/v1/memories", None, 403),
    ("orchestrator", "memory", "POST", "/v1/memories", {"content": "x"}, 403),
    ("orchestrator", "ingestion", "GET", f"/v1/documents/{uuid4()}", None, 404),
    ("orchestrator", "ingestion", "GET", "/v1/documents", None, 200),
    ("orchestrator", "ingestion", "GET", "/v1/sources", None, 403),
    ("orchestrator", "ingestion", "DELETE", f"/v1/documents/{uuid4()}", None, 403),
    ("orchestrator", "knowledge-graph", "POST", "/v1/graph/tools/answer_question", {"question": "x"}, 200),
    ("orchestrator", "knowledge-graph", "GET", "/v1/graph/generation", None, 403),
    ("memory", "knowledge-graph", "GET", "/v1/graph/generation", None, 401),
    ("retrieval", "knowledge-graph", "GET", "/v1/graph/generation", None, 200),
    ("retrieval", "knowledge-graph", "GET", "/v1/graph/entities", None, 403),
    ("retrieval", "orchestrator", "GET", f"/v1/sessions/{uuid4()}/documents", None, 404),
    ("retrieval", "orchestrator", "GET", "/v1/sessions", None, 403),
    ("retrieval", "orchestrator", "POST", "/v1/sessions", {}, 403),
    ("retrieval", "memory", "POST", "/v1/memories/recall", {"query": "x"}, 401),
    ("knowledge-graph", "retrieval", "POST", "/v1/search", {"query": "x"}, 200),
    ("memory", "retrieval", "POST", "/v1/search", {"query": "x"}, 401),
    ("ingestion", "retrieval", "POST", "/v1/search", {"query": "x"}, 401),
]


@pytest.mark.parametrize(
    ("thief", "to", "method", "path", "body", "status"), THROUGH, ids=[str(number) for number in range(len(THROUGH))]
)
async def test_with_a_delegation_a_service_may_make_its_permitted_calls(
    taken: dict[str, Taken],
    workspace_id: UUID,
    thief: str,
    to: str,
    method: str,
    path: str,
    body: dict[str, Any] | None,
    status: int,
):
    """A delegation that names every service still opens only the routes meant for the calling service."""
    delegation = taken["gateway"].forge("attractor-delegation", workspace_id, role=None, actors=list(BEHIND))
    token = taken[thief].forge(to, workspace_id, sub=None, role=None, readable=None, delegation=delegation)
    async with httpx2.AsyncClient(base_url=taken[to].url, headers={"Authorization": f"Bearer {token}"}) as http:
        answer = await http.request(method, path, json=body, timeout=60)
    assert answer.status_code == status, answer.text


async def test_services_still_call_each_other_on_behalf_of_the_requesting_user(admin: httpx2.AsyncClient, make_tenant):
    """Follows a search in a session (retrieval asks orchestrator and graph) and a run (orchestrator asks retrieval)."""
    async with make_tenant("delegation") as tenant:
        http = tenant.http
        documents = await ingest(http, [EXAMPLES / "services.md"])
        session = (await created(http, "/v1/sessions", {}))["id"]
        attached = await http.put(f"/v1/sessions/{session}/documents/{documents['services.md']['id']}")
        assert attached.status_code == 200, attached.text
        body = {"query": "AuthService", "scope": "session", "session_id": session}
        found = (await http.post("/v1/search", json=body)).raise_for_status().json()
        assert found["hits"]
        assert {leg["leg"]: leg["error"] for leg in found["legs"] if leg["error"]} == {}
        assert "graph" in {leg["leg"] for leg in found["legs"]}
        topic = {"topic": "AuthService"}
        summary = (await http.post("/v1/graph/tools/summarize_document", json=topic)).raise_for_status().json()
        assert summary["result"]["found_by"] == "search", summary
        headers = {"Accept": "text/event-stream"}
        path = f"/v1/sessions/{session}/messages"
        async with http.stream("POST", path, json={"content": QUESTION}, headers=headers) as response:
            *_, (_, name, data) = [event async for event in events_of(response)]
        assert name == "run_completed", data
        assert data["citations"], data
        # No other user's: this user's delegation does not find a foreign session.
        other = await admin.post("/v1/search", json=body)
        assert (other.status_code, other.json()["type"]) == (404, "session-not-found")
