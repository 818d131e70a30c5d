from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from attractor_client.memory_exports import AT_ONCE, read_export


def chatgpt_message(name: str, role: str, *parts: object):
    return {"id": name, "author": {"role": role}, "content": {"parts": list(parts)}, "create_time": 1_700_000_000.0}


def test_a_chatgpt_export_is_read_along_its_visible_branch():
    mapping = {
        "root": {"message": None, "parent": None},
        "s": {"message": chatgpt_message("s", "system", "hidden"), "parent": "root"},
        "q": {"message": chatgpt_message("q", "user", "I live in Munich.", {"image": 1}), "parent": "s"},
        "old": {"message": chatgpt_message("old", "assistant", "left"), "parent": "q"},
        "a": {"message": chatgpt_message("a", "assistant", "Nice."), "parent": "q"},
    }
    read = read_export(json.dumps([{"conversation_id": "c", "mapping": mapping, "current_node": "a"}]))
    [conversation] = read.conversations
    assert (read.source, conversation.id) == ("chatgpt", "c")
    assert [(one.id, one.role, one.content) for one in conversation.messages] == [
        ("q", "user", "I live in Munich."),
        ("a", "assistant", "Nice."),
    ]
    assert conversation.messages[0].at == datetime.fromtimestamp(1_700_000_000, UTC)


def test_a_mem0_export_is_read():
    read = read_export(
        json.dumps({"results": [{"id": "m", "memory": "Likes tea", "created_at": "2026-01-05T12:00:00Z"}]})
    )
    assert (read.source, read.conversations[0].messages[0].content) == ("mem0", "Likes tea")


def test_what_was_said_first_is_imported_first():
    nodes = {"q": {"message": chatgpt_message("q", "user", "I live in Munich."), "parent": None}}
    talks = [{"id": str(at), "create_time": at, "mapping": nodes, "current_node": "q"} for at in (30, 10, 20)]
    assert [part.id for part in read_export(json.dumps(talks)).conversations] == ["10", "20", "30"]
    memories = [{"id": day, "memory": "Likes tea", "created_at": f"2026-01-{day}T12:00:00Z"} for day in ("07", "05")]
    [conversation] = read_export(json.dumps(memories)).conversations
    assert [one.id for one in conversation.messages] == ["05", "07"]


def test_long_conversations_are_split():
    messages = [{"id": str(one), "role": "user", "content": "x", "at": "2026-01-05T12:00:00"} for one in range(450)]
    read = read_export(json.dumps([{"id": "long", "messages": messages}]))
    assert [len(part.messages) for part in read.conversations] == [AT_ONCE, AT_ONCE, 50]
    assert {part.id for part in read.conversations} == {"long"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "no JSON"),
        ('[{"id": "c", "mapping": {"q": {"message": {"id": "q"}}}, "current_node": "q"}]', "unknown form: 'author'"),
        ('[{"messages": []}]', "unknown form: 'id'"),
        ('[{"id": "m", "memory": "Likes tea"}]', "unknown form: 'created_at'"),
    ],
)
def test_what_is_wrong_with_an_export_is_told(text, told):
    with pytest.raises(ValueError, match=told):
        read_export(text)


@pytest.mark.parametrize("text", ["3", '{"x": 1}', "[1]"])
def test_an_unknown_export_format_is_refused(text):
    with pytest.raises(ValueError, match="no list"):
        read_export(text)
