"""Every API operation with generated requests: no 5xx, no undocumented status, no response that breaks its schema.

The requests are generated from the OpenAPI document and are the same in every run: half are valid, on real resources,
half invalid, with other ids. The owner sends all of them, and the other roles take turns, so each comes from two roles.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import count, cycle
from pathlib import Path
from typing import Any

import httpx2
import pytest
import requests
import schemathesis
from api_calls import EXAMPLES, Tenant, ask, client, created, ingest, listed, new_tenant
from contract.generated import MERGED
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.config import SchemathesisConfig
from schemathesis.core.failures import FailureGroup
from schemathesis.specs.openapi.checks import ignored_auth, positive_data_acceptance
from stack import EmbeddedStack

REQUESTS = {GenerationMode.POSITIVE: 25, GenerationMode.NEGATIVE: 25}
ROLES = ("viewer", "editor", "owner")  # the owner, who may delete, comes last
CONFIG = SchemathesisConfig.from_dict(
    {
        "generation": {"with-security-parameters": False},  # `ignored_auth` tries credentials
        # A stale If-Match and an oversized body are refused before the rest is checked.
        "checks": {"negative_data_rejection": {"expected-statuses": ["4xx"]}},
    }
)
API = schemathesis.openapi.from_dict(json.loads(MERGED.read_text(encoding="utf-8")), config=CONFIG)
# Deletions come last, because later requests need the resources; the audit trail grows with each request. The stream of
# a workspace's changes goes on for minutes; the gateway's test_events.py has it.
OPERATIONS = sorted(
    (one for one in (found.ok() for found in API.get_all_operations()) if one.path != "/v1/events"),
    key=lambda one: (one.method == "delete", one.path != "/v1/audit", one.path, one.method),
)
# A valid request may still be refused: an unknown id, a wrong role, a pattern that does not parse.
NOT_CHECKED = [positive_data_acceptance]
KEYS_TRIED = 5  # requests per operation that `ignored_auth` repeats, without a key and with another one


@schemathesis.hook
def map_query(_context: Any, query: dict[str, Any] | None) -> dict[str, Any] | None:
    """Shortens the wait for a run that does not exist, which takes as long as it may."""
    if query and "after_run" in query:
        timeout = query.get("timeout", 30)
        if type(timeout) in (int, float) and 0 <= timeout <= 300:
            return {**query, "timeout": 0}
    return query


@dataclass(frozen=True)
class Target:
    """A running stack with a workspace that has one of everything: ids by name, and a key per role."""

    url: str
    ids: dict[str, str]
    keys: dict[str, str]


@pytest.fixture(scope="module")
async def target(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Target]:
    limits = {"RATE_LIMIT_PER_MINUTE": "0", "AUTH_FAILURES_PER_MINUTE": "0"}
    with EmbeddedStack.started(tmp_path_factory.mktemp("fuzzed"), **limits) as stack:
        async with client(stack.url, stack.api_key) as admin, new_tenant(stack.url, admin, "fuzzed") as tenant:
            keys = {role: (await key_of(tenant.http, tenant, role))["key"] for role in ROLES}
            yield Target(stack.url, await one_of_everything(tenant.http, tenant), keys)


async def key_of(http: httpx2.AsyncClient, tenant: Tenant, role: str) -> dict[str, str]:
    return await created(http, f"/v1/workspaces/{tenant.workspace_id}/keys", {"name": role, "role": role})


async def one_of_everything(http: httpx2.AsyncClient, tenant: Tenant) -> dict[str, str]:
    [document] = (await ingest(http, [next(EXAMPLES.rglob("*.md"))])).values()
    run_id = (await ask(http, "What does this document say?"))["run_id"]
    run = (await http.get(f"/v1/runs/{run_id}")).json()
    source = await created(http, "/v1/sources", {"name": "s", "config": {"kind": "web", "url": "http://a.invalid/"}})
    triples = {"name": "facts", "format": "csv"}
    imported = await http.post("/v1/graph/triples", params=triples, content="subject,predicate,object\nA,uses,B\n")
    fact = {"kind": "add", "entity": "Aria", "relation_type": "OWNS", "other": "Bora", "reason": "agreed"}
    correction = await created(http, "/v1/graph/corrections", fact)
    invitation = await created(http, f"/v1/workspaces/{tenant.workspace_id}/invitations", {"role": "viewer"})
    share = await created(http, f"/v1/sessions/{run['session_id']}/shares", {})
    (await http.put("/v1/presets/terse", json={"instructions": "Be brief."})).raise_for_status()
    await http.put(f"/v1/sessions/{run['session_id']}/artifact", json={"text": "We begin in May."})
    red = (Path(__file__).parents[1] / "e2e" / "red.png").read_bytes()
    images, is_png = f"/v1/sessions/{run['session_id']}/attachments", {"Content-Type": "image/png"}
    image = await http.post(images, params={"name": "red"}, content=red, headers=is_png)
    image.raise_for_status()
    return {
        "attachment_id": image.json()["id"],
        "invitation_id": invitation["id"],
        "document_id": str(document["id"]),
        "chunk_id": (await listed(http, f"/v1/documents/{document['id']}/chunks"))[0]["chunk_id"],
        "session_id": run["session_id"],
        "run_id": str(run_id),
        "message_id": run["answer_id"],
        "share_id": share["id"],
        "token": share["token"],
        "memory_id": (await created(http, "/v1/memories", {"content": "The sky is blue."}))["id"],
        "workspace_id": str(tenant.workspace_id),
        "key_id": (await key_of(http, tenant, "viewer"))["id"],
        "user_id": (await http.get("/v1/me")).json()["user"]["id"],
        "entity_id": (await listed(http, "/v1/graph/entities"))[0]["id"],
        "source_id": source["id"],
        "sync_id": (await listed(http, f"/v1/sources/{source['id']}/syncs"))[0]["id"],
        "space_id": (await listed(http, "/v1/embedding-spaces"))[0]["id"],
        "import_id": imported.json()["id"],
        "correction_id": correction["id"],
        "index": "1",
        "model": "attractor",
        "response_id": f"resp_{str(run_id).replace('-', '')}",
        "setting_key": "answers.temperature",
        "preset_name": "terse",
        "name": "conversation",
        "action_id": (await created(http, "/v1/quick-actions", {"name": "shorter", "prompt": "Shorter."}))["id"],
    }


def _takes_something(operation: Any) -> bool:
    """Returns whether a request to the operation can be invalid at all."""
    return bool(operation.body or operation.query or operation.headers or operation.path_parameters)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.label)
def test_every_operation_responds_as_documented(operation: Any, target: Target) -> None:
    failures: set[str] = set()
    others, sent = cycle(role for role in ROLES if role != "owner"), count()
    with ExitStack() as stack:
        sessions = {role: stack.enter_context(requests.Session()) for role in ROLES}
        for role, session in sessions.items():
            session.trust_env = False  # otherwise it looks for a proxy before each request
            session.headers["Authorization"] = f"Bearer {target.keys[role]}"
        for mode, examples in REQUESTS.items():
            if mode is GenerationMode.NEGATIVE and not _takes_something(operation):
                continue
            real = {name: target.ids[name] for name in re.findall(r"{(\w+)}", operation.path)}
            more = {"path_parameters": real} if mode is GenerationMode.POSITIVE and real else {}

            @settings(
                max_examples=examples,
                derandomize=True,
                database=None,
                deadline=None,
                phases=[Phase.generate],
                suppress_health_check=list(HealthCheck),
            )
            @given(case=operation.as_strategy(generation_mode=mode, **more))
            def send(case: Any) -> None:
                for role in (next(others), "owner"):
                    tries_keys = role == "owner" and next(sent) < KEYS_TRIED
                    excluded = NOT_CHECKED if tries_keys else [*NOT_CHECKED, ignored_auth]
                    try:
                        case.call_and_validate(
                            base_url=target.url, session=sessions[role], excluded_checks=excluded, timeout=120
                        )
                    except FailureGroup as group:
                        failures.update(f"{role}: {one.title}: {one.message}"[:600] for one in group.exceptions)

            send()
    assert not failures, "\n\n".join(sorted(failures))
