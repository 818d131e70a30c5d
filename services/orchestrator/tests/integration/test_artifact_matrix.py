"""Each action on each kind of artifact, with a model that works, is missing, fails, stops early or answers nonsense."""

from __future__ import annotations

import asyncio
import json
from typing import Any
from uuid import uuid4

import pytest

from orchestrator.graphs.artifact_ops import recovery

TEXTS = {
    "markdown": "# Tokens\n\nTokens expire after fifteen minutes.\n\nThe UserDB keeps the accounts.\n",
    "code": "def lifetime():\n    return 15\n",
}
SELECTED = {"markdown": "fifteen minutes", "code": "return 15"}
NEW = {"markdown": "# New\n\nNobody knows.\n", "code": "def lifetime():\n    return 900\n"}
SPAN = {"markdown": "a quarter of an hour", "code": "return 900"}
ACTIONS = {
    "generate_artifact": {"artifact_action": "generate_artifact"},
    "rewrite_artifact": {"artifact_action": "rewrite_artifact"},
    "update_artifact": {"artifact_action": "update_artifact"},
    "update_highlighted_text": {},
    "custom_action": {},
    "rewrite_artifact_theme": {"theme": {"language": "german"}},
    "rewrite_code_artifact_theme": {"theme": {"add_comments": True}},
}
WHOLE = set(ACTIONS) - {"update_artifact", "update_highlighted_text"}
NONSENSE = {"update_artifact": "no JSON", "update_highlighted_text": "See:\n```python\nprint("}  # else an empty text
WISH = {"markdown": "Write it", "code": "Write a Python program", "pdf": "Write it"}
FOLLOWUP = "You have just changed a document"


def unfit(action: str, kind: str) -> str | None:
    """Returns the answer to an action that this kind of artifact does not have."""
    if kind == "pdf":
        return recovery.READ_ONLY
    wrong = {("rewrite_artifact_theme", "code"): recovery.NOT_TEXT}
    return (wrong | {("rewrite_code_artifact_theme", "markdown"): recovery.NOT_CODE}).get((action, kind))


def written(action: str, kind: str) -> str:
    """Returns what a working model writes."""
    if action == "update_artifact":
        return json.dumps({"edits": [{"find": SELECTED[kind], "replace": SPAN[kind]}]})
    if action == "update_highlighted_text":
        return SPAN[kind]
    return f"```python\n{NEW[kind]}```\n" if kind == "code" else NEW[kind]


def script(world: Any, action: str, kind: str, model: str) -> None:
    """Sets how the model answers everything but the sentence that ends the turn."""
    world.scripted, world.cut = {FOLLOWUP: ["Done."], "title of three": ["Tokens"]}, model == "stops"
    answers: dict[str, list[str] | None] = {
        "works": [written(action, kind)],
        "fails": None,
        "stops": [written(action, kind)[:14]],
        "nonsense": [NONSENSE.get(action, " \n")],
    }
    world.scripted[""] = answers.get(model)


async def artifact_of(service: Any, session: str) -> dict[str, Any]:
    found: dict[str, Any] = (await service.client.get(f"/v1/sessions/{session}/artifact")).json()
    return found


async def request_of(service: Any, action: str, kind: str) -> dict[str, Any]:
    """Returns the options of a message that asks for the action."""
    body: dict[str, Any] = dict(ACTIONS[action])
    if action == "update_highlighted_text":
        text = TEXTS.get(kind, TEXTS["markdown"])
        seen = SELECTED.get(kind, "Tokens")
        start = text.index(seen)
        body["highlight"] = {"version": 1, "start": start, "end": start + len(seen), "text": seen}
    if action == "custom_action":
        made = await service.client.post("/v1/quick-actions", json={"name": str(uuid4()), "prompt": "Do it"})
        body["quick_action"] = made.json()["id"]
    return body


@pytest.mark.parametrize("model", ["works", "missing", "fails", "stops", "nonsense"])
async def test_every_action_on_every_kind_ends_in_a_new_version_or_changes_nothing_and_says_so(
    start: Any, settings: Any, model_settings: Any, world: Any, model: str
) -> None:
    async with start(settings if model == "missing" else model_settings) as service, asyncio.timeout(240):
        for kind in ("markdown", "code", "pdf"):
            for action in ACTIONS:
                case = f"{action} on {kind}, model {model}"
                script(world, action, kind, model) if kind != "pdf" else script(world, action, "markdown", model)
                session = await service.session(title="t")
                body = {"kind": kind, "title": "Tokens"}
                body |= {"document_id": str(uuid4())} if kind == "pdf" else {"text": TEXTS[kind]}
                body |= {"language": "python"} if kind == "code" else {}
                made = await service.client.put(f"/v1/sessions/{session}/artifact", json=body)
                assert made.status_code == 201, (case, made.text)
                before = await artifact_of(service, session)
                run = await service.ask(session, WISH[kind], **await request_of(service, action, kind))
                events = await service.events(run["id"])
                ended, after = await service.run(run["id"]), await artifact_of(service, session)
                assert ended["status"] == "completed", (case, ended)
                assert [one.name for one in events].count("run_completed") == 1, case
                answer, index = ended["answer"]["content"], ended["answer"]["artifact_index"]
                assert answer, case
                if (told := unfit(action, kind)) is not None:
                    assert (answer, index) == (told, None), case
                if index is None:
                    assert after == before, case
                    continue
                if (action, model) == (
                    "update_artifact",
                    "nonsense",
                ):  # after two useless rounds it is asked for a whole text
                    assert (after["text"], after["index"]) == ("no JSON\n", 2), case
                    assert "it was rewritten" in ended["issues"][0], case
                elif model == "works":
                    expected = NEW[kind] if action in WHOLE else TEXTS[kind].replace(SELECTED[kind], SPAN[kind])
                    assert (after["text"], after["index"]) == (expected, 2), case
                else:  # a whole text that breaks off is a version beside the current one
                    assert model == "stops", case
                    assert (action in WHOLE, events[-1].data["artifact_outcome"]) == (True, "kept_aside"), case
                    assert (after["text"], after["index"]) == (before["text"], 1), case
