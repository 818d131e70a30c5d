"""attractor chat: each line of stdin is a message or a command."""

from __future__ import annotations

from json import loads
from typing import Any
from uuid import UUID

import pytest

RUN, SESSION = UUID(int=7), UUID(int=5)
MESSAGES = f"/v1/sessions/{SESSION}/messages"
QUESTION, ANSWER = 31, 32


@pytest.fixture
def conversation(settled: Any, samples: Any, events: Any, json: Any) -> Any:
    """Returns a server with one session, whose second question was edited and is being answered."""
    family = [str(UUID(int=one)) for one in (QUESTION, 41)]
    path = [
        samples.message(21),
        samples.message(22, role="assistant", parent_id=str(UUID(int=21))),
        samples.message(
            QUESTION, parent_id=str(UUID(int=22)), siblings={"index": 0, "count": 2, "ids": family}, content="Who?"
        ),
        samples.message(ANSWER, role="assistant", parent_id=str(UUID(int=QUESTION)), status="running", content=""),
    ]
    settled.on("GET", "/v1/runs", {"items": [samples.run()], "next_cursor": None})
    settled.on("GET", f"/v1/runs/{RUN}", samples.run())
    settled.on("GET", f"/v1/runs/{RUN}/events", events(samples.completed("It is over.")))
    settled.on("GET", f"/v1/sessions/{SESSION}", samples.session())
    whole = [*path, samples.message(41, content="Who\nelse?")]
    settled.on(
        "GET",
        MESSAGES,
        lambda received: json({"items": whole if "tree" in received.query else path, "next_cursor": None}),
    )
    settled.on("POST", "/v1/sessions", json(samples.session(), 201))
    settled.on("POST", MESSAGES, json(samples.run(), 202))
    settled.on("POST", f"/v1/messages/{UUID(int=QUESTION)}/regenerate", json(samples.run(), 202))
    settled.on("PUT", f"/v1/sessions/{SESSION}/head", samples.session())
    return settled


def bodies(server: Any, method: str, path: str) -> list[Any]:
    return [loads(one.body) for one in server.calls(method, path)]


def test_each_line_is_a_message_in_one_session(conversation: Any, attractor: Any) -> None:
    ran = attractor("chat", stdin="Why?\n\nAnd who?\n")
    assert ran.code == 0, ran.err
    assert ran.out.count("It is over.") == 2
    assert len(conversation.calls("POST", "/v1/sessions")) == 1
    assert [one["content"] for one in bodies(conversation, "POST", MESSAGES)] == ["Why?", "And who?"]


def test_sentences_are_marked_by_their_status(conversation: Any, attractor: Any, samples: Any, events: Any) -> None:
    name, data = samples.completed("Keys expire [1]. Keys last 9 years. Penguins swim. It varies.")
    statuses = {(0, 16): "verified", (17, 35): "contradicted", (36, 50): "unsupported", (51, 61): "unclear"}
    sentences = [
        {"start": start, "end": end, "status": status, "reason": "so"} for (start, end), status in statuses.items()
    ]
    conversation.on("GET", f"/v1/runs/{RUN}/events", events((name, data | {"sentences": sentences})))
    assert attractor("chat", stdin="Why?\n").out.splitlines()[0] == (
        "Keys expire [1]. Keys last 9 years. (contradicted) Penguins swim. (unsupported) It varies. (unclear)"
    )


def test_continue_follows_an_answer_in_progress(conversation: Any, attractor: Any) -> None:
    ran = attractor("chat", "--continue")
    assert ran.code == 0, ran.err
    assert ran.out.splitlines()[:2] == ["> Who?", "It is over."]
    assert conversation.calls("GET", f"/v1/runs/{RUN}/events")


def test_commands_navigate_the_message_tree(conversation: Any, attractor: Any) -> None:
    ran = attractor("chat", "-s", str(SESSION), stdin="/edit Whom?\n/again\n/branch\n/branch 2\n/what\n")
    assert ran.code == 0, ran.err
    [edited] = bodies(conversation, "POST", MESSAGES)
    assert (edited["content"], edited["parent_id"]) == ("Whom?", str(UUID(int=22)))
    assert conversation.calls("POST", f"/v1/messages/{UUID(int=QUESTION)}/regenerate")
    assert "*  1  > Who?\n   2  > Who else?\n" in ran.out
    [moved] = bodies(conversation, "PUT", f"/v1/sessions/{SESSION}/head")
    assert moved == {"message_id": str(UUID(int=41)), "newest": True}
    assert "/edit TEXT" in ran.err


def test_editing_the_first_question_starts_a_new_branch(conversation: Any, attractor: Any, samples: Any) -> None:
    conversation.on("GET", MESSAGES, {"items": [samples.message(21)], "next_cursor": None})
    given = ("chat", "-s", str(SESSION), "--no-documents", "--scope", "workspace")
    assert attractor(*given, stdin="/edit Whom?\nAnd who?\n").code == 0
    edited, asked = bodies(conversation, "POST", MESSAGES)
    assert (edited["content"], edited["parent_id"]) == ("Whom?", None)
    told = ("rag_enabled", "rag_scope", "timezone")
    assert [edited[name] for name in told] == [False, "workspace", asked["timezone"]]


@pytest.mark.parametrize("line", ["/branch 3", "/branch x", "/edit", "x" * 200_001])
def test_a_failure_ends_the_conversation_when_input_is_not_a_terminal(
    conversation: Any, attractor: Any, line: str
) -> None:
    ran = attractor("chat", "-s", str(SESSION), stdin=f"{line}\nNever asked?\n")
    assert ran.code in (1, 2)
    assert ran.err.splitlines()[-1].startswith("Error: ")
    assert not conversation.calls("POST", MESSAGES)


TEXT = "# Title\n\nOne.\r\nTwo 🙂.\nThree.\n"
ACTION = UUID(int=61)


@pytest.fixture
def with_artifact(conversation: Any, samples: Any, json: Any, events: Any) -> Any:
    """Returns the same server with an artifact of four lines and a quick action."""
    view = {
        "id": str(UUID(int=51)), "session_id": str(SESSION), "version": 3, "kind": "markdown", "language": None,
        "title": "Title", "index": 2, "current_index": 2, "last_index": 2, "parent_index": 1, "event": "rewrite",
        "kept_aside": False, "created_by": str(UUID(int=2)), "run_id": None, "message_id": None, "document_id": None,
        "text": TEXT, "citations": [], "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z",
    }  # fmt: skip
    action = {
        "id": str(ACTION), "name": "tldr", "prompt": "Shorten", "target": "artifact", "use_history": False,
        "use_preferences": True, "shared": False, "created_by": str(UUID(int=2)), "created_at": "2026-01-01T00:00:00Z",
        "updated_at": "2026-01-01T00:00:00Z", "version": 1,
    }  # fmt: skip
    name, data = samples.completed("Done.")
    conversation.on("GET", f"/v1/runs/{RUN}/events", events((name, {**data, "artifact_index": 3})))
    conversation.on("GET", f"/v1/sessions/{SESSION}/artifact", json(view))
    conversation.on("GET", "/v1/quick-actions", json({"items": [action], "next_cursor": None}))
    return conversation


def test_selected_lines_are_sent_with_the_version_that_was_shown(with_artifact: Any, attractor: Any) -> None:
    ran = attractor("chat", "--session", str(SESSION), stdin="/select 3-4 make it shorter\n")
    assert ran.code == 0, ran.err
    [body] = bodies(with_artifact, "POST", MESSAGES)
    start = TEXT.index("One")
    seen = "One.\r\nTwo 🙂."
    assert (body["content"], body["highlight"]) == (
        "make it shorter",
        {"version": 2, "start": start, "end": start + len(seen), "text": seen},
    )
    assert f"attractor artifact export {SESSION} report.docx" in ran.out


@pytest.mark.usefixtures("with_artifact")
def test_the_artifact_is_shown_with_its_lines(attractor: Any) -> None:
    ran = attractor("chat", "--session", str(SESSION), stdin="/artifact\n")
    assert ran.code == 0, ran.err
    assert "Title · version 2 of 2" in ran.out
    assert "   3  One." in ran.out


@pytest.mark.parametrize(
    ("line", "sent"),
    [
        ("/do TLDR", {"quick_action": str(ACTION), "content": "TLDR"}),
        ("/do rewrite_artifact for lawyers", {"artifact_action": "rewrite_artifact", "content": "for lawyers"}),
        ("/do language=german", {"theme": {"language": "german"}, "content": "language=german"}),
        ("/do fix_bugs", {"theme": {"fix_bugs": True}, "content": "fix_bugs"}),
    ],
)
def test_actions_are_called_by_name(with_artifact: Any, attractor: Any, line: str, sent: dict[str, Any]) -> None:
    ran = attractor("chat", "--session", str(SESSION), stdin=f"{line}\n")
    assert ran.code == 0, ran.err
    [body] = bodies(with_artifact, "POST", MESSAGES)
    assert {name: body[name] for name in sent} == sent


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("/select 3-9 x", "lines 1 to 5"),
        ("/select all x", "/select takes lines"),
        ("/select 2 x", "no text in these lines"),
        ("/do nothing", "quick actions  tldr   actions        rewrite_artifact, update_artifact"),
        ("/do", "theme          port_language=c|cpp|csharp|go"),
        ("/do language=klingon", "/do takes language=arabic|chinese"),
    ],
)
def test_invalid_commands_are_explained(with_artifact: Any, attractor: Any, line: str, said: str) -> None:
    ran = attractor("chat", "--session", str(SESSION), stdin=f"{line}\n")
    assert ran.code != 0
    assert said in ran.err.replace("\n", " ")
    assert bodies(with_artifact, "POST", MESSAGES) == []


def test_images_are_sent_with_the_next_message(conversation: Any, attractor: Any, json: Any, tmp_path: Any) -> None:
    for name in ("plan.png", "roof.jpg"):
        (tmp_path / name).write_bytes(name.encode())
    image = UUID(int=77)
    kept = {
        "id": str(image),
        "session_id": str(SESSION),
        "name": "plan.png",
        "media_type": "image/png",
        "file_size": 8,
        "width": 8,
        "height": 6,
        "created_at": "2026-03-01T10:00:00Z",
    }
    conversation.on("POST", f"/v1/sessions/{SESSION}/attachments", json(kept, 201))
    lines = f"What is it?\n/image {tmp_path / 'roof.jpg'}\nAnd this?\nThanks\n/image {tmp_path / 'none.png'}\n"
    ran = attractor("chat", "--image", str(tmp_path / "plan.png"), stdin=lines)
    sent = conversation.calls("POST", f"/v1/sessions/{SESSION}/attachments")
    assert [(one.body, one.headers["content-type"]) for one in sent] == [
        (b"plan.png", "image/png"),
        (b"roof.jpg", "image/jpeg"),
    ]
    shown = [one.get("attachment_ids", []) for one in bodies(conversation, "POST", MESSAGES)]
    assert shown == [[str(image)], [str(image)], []]
    assert "There is no file" in ran.err
