"""attractor artifact"""

from __future__ import annotations

import sys
from json import loads
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from starlette.responses import Response

from attractor_client.commands.text_editor import changed_span

NOW = "2026-03-01T10:00:00Z"
SESSION, ARTIFACT, RUN = str(UUID(int=5)), str(UUID(int=70)), str(UUID(int=7))
PLACE = f"/v1/sessions/{SESSION}/artifact"
TEXT = "One 🦙.\r\nTwo.\n"
MADE = {
    "parent_index": None,
    "event": "create",
    "kind": "markdown",
    "language": None,
    "title": "Plan",
    "kept_aside": False,
    "created_by": SESSION,
    "run_id": None,
    "message_id": None,
    "created_at": NOW,
}
VIEW = MADE | {
    "id": ARTIFACT,
    "session_id": SESSION,
    "version": 4,
    "index": 3,
    "current_index": 3,
    "last_index": 5,
    "document_id": None,
    "text": TEXT,
    "updated_at": NOW,
}
VERSION = MADE | {"artifact_id": ARTIFACT, "index": 3, "characters": 13}


def body(server: Any, method: str, path: str) -> Any:
    return loads(server.calls(method, path)[-1].body)


@pytest.fixture
def typing(monkeypatch: Any, tmp_path: Path) -> Any:
    """Returns typing(text): the editor replaces Two by the text, and records the path of its file."""

    def use(text: str) -> Path:
        said = tmp_path / "path"
        script = tmp_path / "editor.py"
        script.write_text(
            "import pathlib, sys\n"
            "file = pathlib.Path(sys.argv[-1])\n"
            f"file.write_bytes(file.read_bytes().replace(b'Two', {text.encode()!r}))\n"
            f"pathlib.Path({str(said)!r}).write_text(str(file))\n"
        )
        monkeypatch.setenv("VISUAL", f"{sys.executable} {script}")
        return said

    return use


def test_the_text_is_printed_unchanged(settled: Any, attractor: Any) -> None:
    settled.on("GET", PLACE, VIEW)
    settled.on("GET", f"{PLACE}/versions/2", VIEW | {"index": 2})
    shown = attractor("artifact", "show", SESSION)
    assert shown.out == TEXT.replace("\r\n", "\n")  # the runner normalises line endings
    assert "Plan · markdown · version 3 of 5 (create) · 13 characters" in shown.err
    assert "version 2 of 5 (create), current is 3" in attractor("artifact", "show", SESSION, "--version", "2").err
    assert attractor("artifact", "show", SESSION, "--json").json["text"] == TEXT


def test_a_file_becomes_the_artifact(settled: Any, attractor: Any, tmp_path: Path) -> None:
    settled.on("PUT", PLACE, VIEW)
    file = tmp_path / "billing.py"
    file.write_bytes(b"x = 1\r\n")
    assert attractor("artifact", "write", SESSION, str(file), "--code", "python").out.startswith("Plan · markdown")
    assert body(settled, "PUT", PLACE) == {
        "kind": "code",
        "language": "python",
        "title": "billing.py",
        "text": "x = 1\r\n",
    }
    settled.on("GET", PLACE, VIEW)
    attractor("artifact", "write", SESSION, str(file), "--title", "Bill", "--if-version", "3")
    assert body(settled, "PUT", PLACE)["title"] == "Bill"
    assert settled.calls("PUT", PLACE)[-1].headers["if-match"] == '"4"'
    file.write_bytes(b"\xff")
    assert attractor("artifact", "write", SESSION, str(file)).code == 2


def test_only_the_typed_change_is_sent_as_a_span(settled: Any, attractor: Any, typing: Any) -> None:
    settled.on("GET", PLACE, VIEW)
    settled.on("PATCH", PLACE, VIEW)
    said = typing("Three")
    assert attractor("artifact", "edit", SESSION).code == 0
    assert body(settled, "PATCH", PLACE) == {
        "span": {"index": 3, "start": 9, "end": 11, "seen": "wo"}, "replacement": "hree",
    }  # fmt: skip
    assert not Path(said.read_text()).exists()
    typing("Two")
    assert attractor("artifact", "edit", SESSION).err == "nothing changed\n"
    assert len(settled.calls("PATCH", PLACE)) == 1


def test_typed_text_is_kept_in_a_file_if_it_cannot_be_saved(
    settled: Any, attractor: Any, typing: Any, json: Any
) -> None:
    settled.on("GET", PLACE, VIEW)
    settled.on("PATCH", PLACE, json({"type": "span-lost", "title": "Not found any more", "status": 409}, 409))
    said = typing("Three")
    refused = attractor("artifact", "edit", SESSION)
    kept = Path(said.read_text())
    assert refused.code == 1
    assert f"Your text is in {kept}" in refused.err
    assert kept.read_bytes().decode() == TEXT.replace("Two", "Three")
    kept.unlink()


def test_editing_without_a_configured_editor(settled: Any, attractor: Any, monkeypatch: Any) -> None:
    settled.on("GET", PLACE, VIEW)
    settled.on("PATCH", PLACE, VIEW)
    attractor("artifact", "edit", SESSION, "--find", "One", "--replace", "1 $&")
    assert body(settled, "PATCH", PLACE) == {"edits": [{"find": "One", "replace": "1 $&"}]}
    attractor("artifact", "edit", SESSION, "--title", "Programme")
    assert body(settled, "PATCH", PLACE) == {"title": "Programme"}
    assert attractor("artifact", "edit", SESSION, "--find", "One").code == 2
    monkeypatch.setenv("VISUAL", "/no/such/editor")
    missing = attractor("artifact", "edit", SESSION)
    assert (missing.code, "set VISUAL or EDITOR" in missing.err) == (2, True)


def test_versions_are_listed_compared_undone_and_redone(settled: Any, attractor: Any) -> None:
    aside = VERSION | {"index": 4, "kept_aside": True, "run_id": RUN, "parent_index": 2}
    settled.on("GET", f"{PLACE}/versions", {"items": [aside, VERSION], "next_cursor": None})
    settled.on("GET", PLACE, VIEW)
    listed = attractor("artifact", "versions", SESSION).out.splitlines()
    assert listed[2].endswith("current")
    assert "kept aside" in listed[1]
    assert "a run" in listed[1]
    assert "you" in listed[2]
    unified = "@@ -1 +1 @@\n-a\n+b\n"
    found = {"from_index": 1, "to_index": 3, "added_lines": 1, "removed_lines": 1, "unified": unified}
    settled.on("GET", f"{PLACE}/diff", found)
    compared = attractor("artifact", "diff", SESSION, "1", "3")
    assert compared.out == unified
    assert "version 1 to 3: 1 line added, 1 removed" in compared.err
    assert settled.calls("GET", f"{PLACE}/diff")[-1].query == {"from_index": "1", "to_index": "3"}
    for way in ("undo", "redo"):
        settled.on("POST", f"{PLACE}/{way}", VIEW)
        assert "version 3 of 5" in attractor("artifact", way, SESSION, "--if-version", "3").out
        assert settled.calls("POST", f"{PLACE}/{way}")[-1].headers["if-match"] == '"4"'
    stale = attractor("artifact", "undo", SESSION, "--if-version", "2")
    assert stale.err == "Error: The current version is 3, not 2; nothing was changed\n"
    assert len(settled.calls("POST", f"{PLACE}/undo")) == 1
    settled.on("POST", f"{PLACE}/restore", VIEW)
    assert attractor("artifact", "restore", SESSION, "2", "--json").json["index"] == 3
    assert body(settled, "POST", f"{PLACE}/restore") == {"index": 2}


def test_a_version_becomes_a_document(settled: Any, attractor: Any) -> None:
    place = f"{PLACE}/index"
    settled.on("POST", place, {"artifact_id": ARTIFACT, "index": 2, "document_id": RUN, "version": 4})
    assert attractor("artifact", "index", SESSION, "--version", "2").out.startswith(f"version 2 is document {RUN};")
    assert settled.calls("POST", place)[-1].query == {"index": "2"}
    assert attractor("artifact", "index", SESSION, "--json").json["document_id"] == RUN


def test_an_artifact_is_deleted_with_a_receipt(settled: Any, attractor: Any) -> None:
    receipt = {"artifact_id": ARTIFACT, "removed": {"artifact_versions": 5}, "remaining": {"artifact_versions": 0}}
    settled.on("DELETE", PLACE, receipt)
    assert f"{ARTIFACT} deleted" in attractor("artifact", "delete", SESSION, "--yes").out
    assert attractor("artifact", "delete", SESSION, "--yes", "--json").json == receipt


@pytest.mark.parametrize(
    ("before", "after", "span"),
    [("abc", "abc", (3, 3, "")), ("abc", "axc", (1, 2, "x")), ("aa", "aaa", (2, 2, "a")), ("", "x", (0, 0, "x"))],
)
def test_the_sent_span_covers_all_changes(before: str, after: str, span: tuple[int, int, str]) -> None:
    assert changed_span(before, after) == span


def test_the_export_format_follows_the_file_extension(settled: Any, attractor: Any, tmp_path: Path) -> None:
    settled.on("GET", f"{PLACE}/export", Response(b"PK of a DOCX"))
    file = tmp_path / "plan.docx"
    shown = attractor("artifact", "export", SESSION, str(file), "--version", "2")
    assert file.read_bytes() == b"PK of a DOCX"
    assert (shown.code, shown.out) == (0, f"{file}: docx, 12 B\n")
    assert settled.calls("GET", f"{PLACE}/export")[-1].query == {"format": "docx", "index": "2"}
    result = attractor("artifact", "export", SESSION, str(tmp_path / "plan"), "--format", "source", "--json").json
    assert (result["format"], result["bytes"]) == ("source", 12)
    unknown = attractor("artifact", "export", SESSION, str(tmp_path / "plan.odt"))
    assert unknown.code == 2
    assert "--format" in unknown.err


def test_an_export_to_an_unwritable_path_is_a_clear_error(settled: Any, attractor: Any, tmp_path: Path) -> None:
    settled.on("GET", f"{PLACE}/export", Response(b"PK"))
    ran = attractor("artifact", "export", SESSION, str(tmp_path / "none" / "report.docx"))
    assert (ran.code, ran.err.endswith("report.docx cannot be written: No such file or directory\n")) == (1, True)


def test_a_session_without_an_artifact_says_how_to_create_one(settled: Any, attractor: Any, problem: Any) -> None:
    settled.on("GET", PLACE, problem(404, "artifact-not-found", "The session has no artifact"))
    ran = attractor("artifact", "show", SESSION)
    assert (ran.code, "Have one written in `attractor chat`" in ran.err) == (4, True)


def test_a_refused_export_leaves_no_file(settled: Any, attractor: Any, problem: Any, tmp_path: Path) -> None:
    title = "The artifact is too large for a file of this format"
    settled.on("GET", f"{PLACE}/export", problem(409, "export-too-large", title))
    refused = attractor("artifact", "export", SESSION, str(tmp_path / "plan.pdf"))
    assert refused.code != 0
    assert "too large" in refused.err
    assert list(tmp_path.iterdir()) == []
