"""Strings that break programs are only data, in every text that the service stores, shows or sends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx2
import pytest

from contracts.base import plain

NAUGHTY = Path(__file__).parents[5] / "shared/eval/naughty-strings/blns.json"
OWN = [
    "\u202e",
    "%s %(id)s {x} {{question}}",
    "' OR 1=1 --",
    "\\",
    "</passage>",
    "<summary>",
    "</question>",
    "</answer>",
    "\u0000",
    "\U0001f600",
    "[1][9]",
]

FENCES = ("passage", "summary")
OTHER_FENCES = {"Summarize": ("message",), "Give this conversation a title": ("question", "answer")}


@pytest.fixture(scope="module")
def naughty() -> list[str]:
    found = json.loads(NAUGHTY.read_text("utf-8")) if NAUGHTY.exists() else []
    return list(dict.fromkeys(text for text in [*found, *OWN] if text.strip()))


def is_plain(text: str) -> bool:
    try:
        return bool(plain(text))
    except ValueError:
        return False


async def test_titles_are_stored_unchanged_or_refused(start: Any, settings: Any, naughty: list[str]) -> None:
    async with start(settings) as service:
        kept = 0
        for text in naughty:
            answer = await service.client.post("/v1/sessions", json={"title": text})
            assert answer.status_code in (201, 422), text
            if answer.status_code == 201:
                kept += 1
                assert answer.json()["title"] == text.strip()
            else:
                assert answer.json()["type"] == "invalid-request"
    assert kept > len(naughty) / 2


async def test_questions_passages_and_answers_are_treated_as_data(
    start: Any, model_settings: Any, world: Any, naughty: list[str]
) -> None:
    usable = [text for text in naughty if is_plain(text)]
    question = "\n".join(usable)
    world.answer = [f"{text} [1]\n" for text in usable]
    world.title, world.summary = usable[-1], usable[0]
    world.hits = [
        {**hit, "content": question, "document_name": text} for hit, text in zip(world.hits, usable, strict=False)
    ]
    async with start(model_settings.model_copy(update={"summary_tokens": 100})) as service:
        session = await service.session()
        runs = [await service.ask(session, question), await service.ask(session, "And then?")]
        ended, texts = [], []
        for run in runs:
            async with service.client.stream("GET", f"/v1/runs/{run['id']}/events") as response:
                events = [event async for event in httpx2.EventSource(response, max_event_size=None)]
            assert events[-1].event == "run_completed"
            texts.append(json.loads(events[-1].data)["content"])
            ended.append(await service.run(run["id"]))
        messages = (await service.client.get(f"/v1/sessions/{session}/messages")).json()["items"]
        exported = await service.client.get(f"/v1/sessions/{session}/export", params={"format": "json"})
    assert [run["status"] for run in ended] == ["completed"] * 2
    assert [run["answer"]["content"] for run in ended] == texts
    assert messages[0]["content"] == question.strip()
    assert messages[1]["content"] == ended[0]["answer"]["content"]
    assert exported.json()["messages"][0]["content"] == question.strip()
    for chat in world.chats:
        prompt = chat["messages"][0]["content"]
        fences = next((names for beginning, names in OTHER_FENCES.items() if prompt.startswith(beginning)), FENCES)
        for name in fences:
            assert prompt.count(f"</{name}>") == prompt.count(f"<{name} ") + prompt.count(f"<{name}>"), name
