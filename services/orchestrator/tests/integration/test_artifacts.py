"""The artifact of a session, as its user writes it by hand."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import uuid4

import psycopg

from contracts.gateway import Role

REPORT = "The plan is sound. It costs much.\n\nWe begin in May. We end in June.\n"


async def written(service: Any, text: str = REPORT, **more: Any) -> tuple[str, Any]:
    """Returns the path of a new session's artifact, and what it is."""
    path = f"/v1/sessions/{await service.session()}/artifact"
    made = await service.client.put(path, json={"title": "Plan", "text": text, **more})
    assert made.status_code == 201, made.text
    return path, made.json()


async def patched(service: Any, path: str, body: dict[str, Any], **headers: str) -> Any:
    return await service.client.patch(path, json=body, headers=headers)


def span(view: dict[str, Any], seen: str) -> dict[str, Any]:
    start = view["text"].index(seen)
    return {"index": view["index"], "start": start, "end": start + len(seen), "seen": seen}


async def test_an_artifact_is_created_edited_and_deleted(start: Any, settings: Any) -> None:
    async with start(settings) as service:
        path, made = await written(service)
        assert (made["event"], made["kind"], made["index"], made["version"]) == ("create", "markdown", 1, 1)
        edit = {"edits": [{"find": "June", "replace": "July $& \\1 🦙\r\n"}]}
        edited = await patched(service, path, edit)
        assert edited.headers["etag"] == '"2"'
        assert edited.json()["text"] == REPORT.replace("June", "July $& \\1 🦙\r\n")
        assert (await patched(service, path, {"title": "Programme"})).json()["title"] == "Programme"
        listed = (await service.client.get(f"{path}/versions", params={"limit": 2})).json()
        assert [one["index"] for one in listed["items"]] == [3, 2]
        rest = await service.client.get(f"{path}/versions", params={"cursor": listed["next_cursor"]})
        assert [(one["index"], one["event"]) for one in rest.json()["items"]] == [(1, "create")]
        assert (await service.client.get(f"{path}/versions/1")).json()["text"] == REPORT
        undone = [(await service.client.post(f"{path}/undo")).json() for _ in range(2)]
        assert [one["current_index"] for one in undone] == [2, 1]
        assert (await service.client.post(f"{path}/undo")).json()["type"] == "nothing-to-undo"
        assert (await service.client.post(f"{path}/redo")).json()["index"] == 2
        restored = (await service.client.post(f"{path}/restore", json={"index": 1})).json()
        assert (restored["text"], restored["event"], restored["parent_index"]) == (REPORT, "restore", 2)
        receipt = (await service.client.delete(path)).json()
        assert (receipt["removed"], receipt["remaining"]) == ({"artifact_versions": 4}, {"artifact_versions": 0})
        assert (await service.client.get(path)).json()["type"] == "artifact-not-found"


async def test_two_versions_are_compared(start: Any, settings: Any) -> None:
    async with start(settings) as service:
        path, _ = await written(service, "one\ntwo\n")
        await patched(service, path, {"edits": [{"find": "two", "replace": "2"}]})
        found = (await service.client.get(f"{path}/diff")).json()
        assert found == {
            "from_index": 1,
            "to_index": 2,
            "added_lines": 1,
            "removed_lines": 1,
            "unified": "@@ -1,2 +1,2 @@\n one\n-two\n+2\n",
        }
        back = (await service.client.get(f"{path}/diff", params={"from_index": 2, "to_index": 1})).json()
        assert back["unified"] == "@@ -1,2 +1,2 @@\n one\n-2\n+two\n"
        first = (await service.client.get(f"{path}/diff", params={"to_index": 1})).json()
        assert (first["from_index"], first["added_lines"]) == (0, 2)


async def test_a_span_is_replaced_at_its_current_position(start: Any, settings: Any) -> None:
    async with start(settings) as service:
        path, made = await written(service)
        marked = span(made, "We end in June.")
        await patched(service, path, {"edits": [{"find": "The plan", "replace": "🦙🦙 Our plan"}]})
        changed = await patched(service, path, {"span": marked, "replacement": "It ends in $&."})
        assert changed.json()["text"] == REPORT.replace("The plan", "🦙🦙 Our plan").replace(
            "We end in June.", "It ends in $&."
        )
        assert changed.json()["event"] == "patch"
        lost = await patched(service, path, {"span": marked, "replacement": "Twice."})
        assert (lost.status_code, lost.json()["type"], lost.json()["current_index"]) == (409, "span-lost", 3)


async def test_a_concurrent_save_from_another_tab_gets_a_conflict_and_no_version_is_lost(
    start: Any, settings: Any
) -> None:
    async with start(settings) as service:
        path, _ = await written(service)
        answers = await asyncio.gather(
            *(service.client.put(path, json={"text": text}, headers={"If-Match": '"1"'}) for text in ("left", "right"))
        )
        assert sorted(answer.status_code for answer in answers) == [200, 412]
        [stale] = [answer.json() for answer in answers if answer.status_code == 412]
        assert (stale["type"], stale["version"], stale["current_index"]) == ("stale-version", 2, 2)
        for method, where, body in (
            ("PATCH", path, {"title": "t"}),
            ("POST", f"{path}/undo", None),
            ("POST", f"{path}/redo", None),
            ("POST", f"{path}/restore", {"index": 1}),
            ("DELETE", path, None),
        ):
            answer = await service.client.request(method, where, json=body, headers={"If-Match": '"1"'})
            assert answer.status_code == 412, where
        assert (await service.client.get(path)).json()["last_index"] == 2


async def test_ambiguous_edits_change_nothing(start: Any, settings: Any) -> None:
    async with start(settings) as service:
        path, _ = await written(service)
        edits = [{"find": "We", "replace": ""}, {"find": "August", "replace": ""}]
        refused = await patched(service, path, {"edits": edits})
        assert (refused.status_code, refused.json()["type"]) == (409, "edits-misplaced")
        assert refused.json()["misplaced"] == [{"number": 1, "count": 2}, {"number": 2, "count": 0}]
        assert (await service.client.get(path)).json()["text"] == REPORT


async def test_saving_the_same_text_creates_no_version(start: Any, settings: Any) -> None:
    async with start(settings) as service:
        path, _ = await written(service)
        again = await service.client.put(path, json={"title": "Plan", "text": REPORT})
        assert (again.status_code, again.json()["index"]) == (200, 1)


async def test_invalid_changes_are_refused(start: Any, settings: Any) -> None:
    async with start(settings) as service:
        path, made = await written(service)
        right = span(made, "sound")
        for body in (
            {},
            {"span": right},
            {"replacement": "x"},
            {"span": right, "replacement": "x", "edits": [{"find": "a", "replace": ""}]},
            {"span": {**right, "end": right["end"] + 1}, "replacement": "x"},
            {"edits": []},
            {"edits": [{"find": "", "replace": "x"}]},
            {"edits": [{"find": "sound", "replace": "\u001b[2J"}]},
        ):
            assert (await patched(service, path, body)).status_code == 422, body
        for body in (
            {"kind": "pdf"},
            {"kind": "novel"},
            {"language": "python"},
            {"kind": "code", "language": "py thon"},
            {"text": "x" * 500_001},
            {"document_id": str(uuid4())},
        ):
            assert (await service.client.put(path, json=body)).status_code == 422, body
        longer = await patched(service, path, {"edits": [{"find": "sound", "replace": "x" * 500_000}]})
        assert (longer.status_code, longer.json()["type"]) == (422, "artifact-too-long")
        unknown = await patched(service, path, {"span": {**right, "index": 9}, "replacement": "x"})
        assert (unknown.status_code, unknown.json()["type"]) == (404, "artifact-version-not-found")
        for where in ("versions/9", "versions/0", "diff?from_index=9"):
            assert (await service.client.get(f"{path}/{where}")).status_code in {404, 422}


async def test_code_keeps_its_language_and_exact_bytes(start: Any, settings: Any) -> None:
    async with start(settings) as service:
        code = 'def f():\r\n\treturn "$& \\1 \U0001f999"\n'
        path, made = await written(service, code, kind="code", language="python")
        assert (made["kind"], made["language"], made["text"]) == ("code", "python", code)
        await patched(service, path, {"edits": [{"find": "f()", "replace": "g()"}]})
        assert (await service.client.get(path)).json()["language"] == "python"


async def test_other_users_cannot_see_or_change_an_artifact(
    start: Any, settings: Any, other_user: Any, auth_headers: Any
) -> None:
    async with start(settings) as service:
        path, made = await written(service)
        for headers in (other_user, auth_headers(workspace_id=uuid4())):
            for method, where, body in (
                ("GET", path, None),
                ("PUT", path, {"text": "taken"}),
                ("PATCH", path, {"title": "taken"}),
                ("DELETE", path, None),
                ("GET", f"{path}/versions", None),
                ("GET", f"{path}/versions/1", None),
                ("GET", f"{path}/diff", None),
                ("POST", f"{path}/undo", None),
                ("POST", f"{path}/redo", None),
                ("POST", f"{path}/restore", {"index": 1}),
            ):
                answer = await service.client.request(method, where, json=body, headers=headers)
                assert (answer.status_code, answer.json()["type"]) == (404, "session-not-found"), (method, where)
        assert (await service.client.get(path)).json() == made


async def test_deleting_a_session_deletes_its_artifact(start: Any, settings: Any) -> None:
    async with start(settings) as service:
        path, _ = await written(service)
        await patched(service, path, {"title": "Two"})
        receipt = (await service.client.delete(path.removesuffix("/artifact"))).json()
        assert receipt["removed"]["artifact_versions"] == 2
        assert receipt["remaining"]["artifact_versions"] == 0
        assert (await service.client.get(path)).json()["type"] == "session-not-found"
    with psycopg.connect(settings.database_url.get_secret_value(), options="-c app.scope=system") as connection:
        assert connection.execute("SELECT count(*) FROM artifact_version").fetchone() == (0,)


async def test_a_pdf_artifact_has_the_text_of_its_document_and_is_read_only(
    start: Any, settings: Any, world: Any
) -> None:
    document = str(uuid4())
    async with start(settings) as service:
        path = f"/v1/sessions/{await service.session()}/artifact"
        body = {"kind": "pdf", "document_id": document}
        world.document_status = 404
        assert (await service.client.put(path, json=body)).json()["type"] == "document-not-found"
        world.document_status = 500
        assert (await service.client.put(path, json=body)).json()["type"] == "service-silent"
        world.document_status = 200
        made = await service.client.put(path, json=body)
        assert (made.status_code, made.json()["document_id"]) == (201, document)
        assert "Tokens expire after fifteen minutes." in made.json()["text"]
        for refused in (
            await service.client.put(path, json={"text": "mine"}),
            await patched(service, path, {"edits": [{"find": "fifteen", "replace": "ten"}]}),
        ):
            assert (refused.status_code, refused.json()["type"]) == (409, "artifact-not-editable")


async def test_an_indexed_version_becomes_a_document_that_is_deleted_with_the_artifact(
    start: Any, settings: Any, world: Any, auth_headers: Any
) -> None:
    editor = auth_headers(role=Role.editor)
    async with start(settings) as service:
        path, made = await written(service)
        refused = await service.client.post(f"{path}/index", headers=auth_headers(role=Role.viewer))
        assert refused.status_code == 403
        indexed = await service.client.post(f"{path}/index", headers=editor)
        assert indexed.json() == {"artifact_id": made["id"], "index": 1, "document_id": made["id"], "version": 1}
        assert world.artifact_documents == {made["id"]: ("Plan.md", REPORT.encode())}
        await service.client.put(path, json={"title": "Plan", "text": "Two."})
        assert (await service.client.post(f"{path}/index", headers=editor)).json()["index"] == 2
        assert world.artifact_documents == {made["id"]: ("Plan.md", b"Two.")}
        view = (await service.client.get(path)).json()
        assert (view["indexed_document_id"], view["indexed_index"]) == (made["id"], 2)
        world.document_status = 500
        assert (await service.client.delete(path)).json()["type"] == "service-silent"
        assert (await service.client.get(path)).status_code == 200
        world.document_status = 200
        assert (await service.client.delete(path)).status_code == 200
        assert world.artifact_documents == {}


async def test_deleting_a_session_deletes_the_document_of_its_artifact(
    start: Any, settings: Any, world: Any, auth_headers: Any
) -> None:
    async with start(settings) as service:
        path, _ = await written(service)
        await service.client.post(f"{path}/index", headers=auth_headers(role=Role.editor))
        assert len(world.artifact_documents) == 1
        assert (await service.client.delete(path.removesuffix("/artifact"))).status_code == 200
        assert world.artifact_documents == {}


async def test_a_refusal_by_ingestion_is_reported(start: Any, settings: Any, world: Any, auth_headers: Any) -> None:
    world.artifact_refused = "quota-exceeded"
    async with start(settings) as service:
        path, _ = await written(service)
        refused = await service.client.post(f"{path}/index", headers=auth_headers(role=Role.editor))
        assert (refused.status_code, refused.json()["type"]) == (409, "artifact-not-indexed")
        assert refused.json()["reason"] == "quota-exceeded"
