"""Quick actions of a user and of a workspace, and their visibility."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

from contracts.gateway import Role

PLACE = "/v1/quick-actions"


async def test_quick_actions_are_created_changed_and_deleted(start: Any, settings: Any) -> None:
    async with start(settings) as service:
        made = await service.client.post(PLACE, json={"name": " tldr ", "prompt": "Shorten it"})
        assert (made.status_code, made.headers["etag"]) == (201, '"1"')
        action = made.json()
        assert (action["name"], action["target"], action["use_history"], action["shared"]) == (
            "tldr",
            "artifact",
            False,
            False,
        )
        path = f"{PLACE}/{action['id']}"
        assert (await service.client.get(path)).json() == action
        changed = await service.client.patch(path, json={"prompt": "Half of it"}, headers={"If-Match": '"1"'})
        assert (changed.json()["prompt"], changed.json()["version"]) == ("Half of it", 2)
        assert (await service.client.patch(path, json={"name": "x"}, headers={"If-Match": '"1"'})).status_code == 412
        assert (await service.client.patch(path, json={})).status_code == 422
        assert [one["id"] for one in (await service.client.get(PLACE)).json()["items"]] == [action["id"]]
        assert (await service.client.delete(path, headers={"If-Match": '"1"'})).status_code == 412
        assert (await service.client.delete(path)).status_code == 204
        assert (await service.client.get(path)).status_code == 404
        assert (await service.client.delete(path)).status_code == 404


async def test_shared_actions_are_visible_to_all_and_changed_only_by_editors(
    start: Any, settings: Any, auth_headers: Any
) -> None:
    viewer, editor = auth_headers(user_id=uuid4(), role=Role.viewer), auth_headers(user_id=uuid4(), role=Role.editor)
    stranger = auth_headers(user_id=uuid4(), workspace_id=uuid4())
    async with start(settings) as service:
        own = (await service.client.post(PLACE, json={"name": "own", "prompt": "x"})).json()
        shared = (await service.client.post(PLACE, json={"name": "ours", "prompt": "x", "shared": True})).json()
        seen = (await service.client.get(PLACE, headers=viewer)).json()["items"]
        assert [one["name"] for one in seen] == ["ours"]
        assert (await service.client.get(f"{PLACE}/{own['id']}", headers=viewer)).status_code == 404
        path = f"{PLACE}/{shared['id']}"
        for answer in (
            await service.client.patch(path, json={"name": "y"}, headers=viewer),
            await service.client.delete(path, headers=viewer),
            await service.client.post(PLACE, json={"name": "y", "prompt": "y", "shared": True}, headers=viewer),
        ):
            assert (answer.status_code, answer.json()["type"].rsplit("/", 1)[-1]) == (403, "shared-quick-action")
        assert (await service.client.patch(path, json={"name": "y"}, headers=editor)).json()["name"] == "y"
        assert (await service.client.get(path, headers=stranger)).status_code == 404
        assert (await service.client.get(PLACE, headers=stranger)).json()["items"] == []
        session = (await service.client.post("/v1/sessions", json={}, headers=viewer)).json()["id"]
        response = await service.client.post(
            f"/v1/sessions/{session}/messages", json={"content": "x", "quick_action": own["id"]}, headers=viewer
        )
        assert response.status_code == 404


async def test_the_number_of_quick_actions_is_limited(
    start: Any, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("orchestrator.quick_actions.repository.MOST", 2)
    async with start(settings) as service:
        body = {"name": "a", "prompt": "x"}
        assert [(await service.client.post(PLACE, json=body)).status_code for _ in range(3)] == [201, 201, 409]
        page = (await service.client.get(PLACE, params={"limit": 1})).json()
        following = (await service.client.get(PLACE, params={"limit": 1, "cursor": page["next_cursor"]})).json()
        assert following["items"][0]["id"] != page["items"][0]["id"]
        assert following["next_cursor"] is None


async def test_graphs_are_drawn_as_compiled(start: Any, settings: Any) -> None:
    async with start(settings) as service:
        for name in ("conversation", "artifact_ops"):
            drawn = (await service.client.get(f"/v1/graphs/{name}")).json()
            assert drawn["name"] == name
            assert drawn["mermaid"].startswith("graph TD;\n    __start__ --> ")
        assert (await service.client.get("/v1/graphs/other")).status_code == 404
