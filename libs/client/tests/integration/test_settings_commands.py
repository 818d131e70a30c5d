"""attractor models, settings, presets"""

from __future__ import annotations

import json
from typing import Any

STATE = {"category": "answers", "is_secret": False, "is_set": True, "source": "user", "updated_at": None}
STATES = {
    "items": [
        {**STATE, "key": "answers.temperature", "value": 0.4},
        {**STATE, "key": "answers.instructions", "value": None, "is_set": False, "source": "default"},
        {**STATE, "key": "providers.mine.api_key", "category": "providers", "value": None, "is_secret": True},
    ]
}
PRESET = {
    "name": "terse",
    "scope": "user",
    "instructions": "Be brief.",
    "temperature": None,
    "roles": {"answer": [{"provider": "mine", "model": "large:8b"}]},
    "document_ids": None,
    "source_ids": None,
    "tags": ["law"],
    "updated_at": "2026-03-01T00:00:00Z",
}
CARD = {"id": "attractor/terse", "created": 0, "description": "A preset"}


def test_models_are_listed(settled: Any, attractor: Any) -> None:
    settled.on("GET", "/v1/models", {"data": [CARD]})
    assert "attractor/terse" in attractor("models").out
    assert attractor("models", "--json").json["data"][0]["id"] == "attractor/terse"


def test_settings_are_shown_without_secrets(settled: Any, attractor: Any) -> None:
    settled.on("GET", "/v1/settings", STATES)
    shown = attractor("settings", "list", "--workspace").out
    for text in ("answers.temperature", "0.4", "(secret)"):
        assert text in shown
    [asked] = [call.query for call in settled.calls("GET", "/v1/settings")]
    assert asked == {"scope": "workspace"}


def test_settings_are_set_and_reset(settled: Any, attractor: Any) -> None:
    settled.on("PUT", "/v1/settings/answers.temperature", STATES["items"][0])
    settled.on("PUT", "/v1/settings/providers.mine.api_key", STATES["items"][2])
    settled.on("DELETE", "/v1/settings/answers.temperature", None)
    assert attractor("settings", "set", "answers.temperature", "0.4").code == 0
    settled.on("PUT", "/v1/settings/budgets.user", {**STATE, "key": "budgets.user", "value": 5_000})
    assert attractor("settings", "set", "budgets.user", "5000", "--workspace").code == 0
    assert [json.loads(call.body) for call in settled.calls("PUT", "/v1/settings/budgets.user")] == [{"value": 5_000}]
    secret = attractor("settings", "set", "providers.mine.api_key", "--workspace", stdin="sk-planted\n")
    assert attractor("settings", "reset", "answers.temperature").code == 0
    assert attractor("settings", "set", "answers.temperature", "hot").code == 2
    sent = [json.loads(call.body) for call in settled.calls("PUT", "/v1/settings/answers.temperature")]
    assert sent == [{"value": 0.4}]
    assert [json.loads(call.body) for call in settled.calls("PUT", "/v1/settings/providers.mine.api_key")] == [
        {"value": "sk-planted"}
    ]
    assert "sk-planted" not in secret.out + secret.err


def test_presets_are_listed_created_and_deleted(settled: Any, attractor: Any) -> None:
    settled.on("GET", "/v1/presets", {"items": [PRESET]})
    settled.on("GET", "/v1/presets/terse", PRESET)
    settled.on("PUT", "/v1/presets/terse", PRESET)
    settled.on("DELETE", "/v1/presets/terse", None)
    assert "Be brief." in attractor("presets", "list").out
    assert "answer: mine:large:8b" in attractor("presets", "show", "terse").out
    made = attractor(
        *("presets", "set", "terse", "--instructions", "Be brief."),
        *("--answer-model", "mine:large:8b", "--tag", "law", "--no-footnotes"),
    )
    assert made.code == 0
    assert attractor("presets", "delete", "terse", "--workspace").code == 0
    [body] = [json.loads(call.body) for call in settled.calls("PUT", "/v1/presets/terse")]
    assert body == {
        "instructions": "Be brief.",
        "roles": {"answer": [{"provider": "mine", "model": "large:8b"}]},
        "tags": ["law"],
        "footnotes": False,
    }
    assert attractor("presets", "set", "terse", "--answer-model", "large").code == 2
