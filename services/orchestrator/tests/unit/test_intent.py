"""Where 200 messages go by rules: English and German, with and without an artifact."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from orchestrator.graphs.conversation.intent import WITH, WITHOUT, intent_of

SET = Path(__file__).parents[1] / "data/routed_messages.jsonl"
MESSAGES = [json.loads(line) for line in SET.read_text(encoding="utf-8").splitlines()]
LEAST_RIGHT = 0.95


def route(message: dict[str, Any]) -> str:
    return intent_of(message["message"], has_artifact=message["artifact"]).route


def test_the_data_set_covers_both_languages_and_both_artifact_states() -> None:
    assert len(MESSAGES) == 200
    kinds = [(one["language"], one["artifact"]) for one in MESSAGES]
    assert {kind: kinds.count(kind) >= 45 for kind in kinds} == dict.fromkeys(
        [("en", False), ("en", True), ("de", False), ("de", True)], True
    )
    assert {one["route"] for one in MESSAGES if one["artifact"]} == set(WITH)
    assert {one["route"] for one in MESSAGES if not one["artifact"]} == set(WITHOUT)


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("artifact", [False, True])
def test_rules_route_most_messages_correctly(language: str, artifact: bool) -> None:
    messages = [one for one in MESSAGES if (one["language"], one["artifact"]) == (language, artifact)]
    wrong = [one["message"] for one in messages if route(one) != one["route"]]
    assert 1 - len(wrong) / len(messages) >= LEAST_RIGHT, wrong


def test_questions_never_change_the_artifact() -> None:
    messages = [one for one in MESSAGES if one["route"] == "reply"]
    assert [one["message"] for one in messages if route(one) != "reply"] == []


def test_unsure_rules_never_change_anything() -> None:
    found = [intent_of(one["message"], has_artifact=one["artifact"]) for one in MESSAGES]
    assert {one.route for one in found if not one.sure} <= {"reply"}


@pytest.mark.parametrize("text", ["", " ", "?", "x" * 200_000, "write " * 40_000, "please " * 40_000, "(" * 50_000])
def test_every_text_has_a_route(text: str) -> None:
    assert intent_of(text, has_artifact=True).route in WITH
    assert intent_of(text, has_artifact=False).route in WITHOUT
