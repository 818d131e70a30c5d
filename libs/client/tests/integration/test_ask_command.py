"""attractor ask, and how commands behave as processes: signals, pipes, terminals."""

from __future__ import annotations

import asyncio
import os
import pty
import select
import signal
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from io import StringIO
from pathlib import Path
from types import MappingProxyType
from typing import Any
from uuid import UUID

import pytest
from rich.console import Console
from starlette.responses import StreamingResponse

from attractor_client.commands.ask import Draft
from attractor_client.resources.runs import RunEvent
from contracts.artifact_actions import ArtifactAction
from contracts.orchestrator import SentenceStatus
from contracts.run_events import (
    ArtifactDelta,
    ArtifactStarted,
    MessageDelta,
    MessageRestarted,
    RunEventData,
    RunPhase,
    SentenceChecked,
    StageStarted,
)

SECONDS = 120.0  # far more than a busy machine needs
RUN, SESSION, ONE = UUID(int=7), UUID(int=5), str(UUID(int=1))
# Makes Ctrl-C work even if the tests were started in the background, where children ignore it.
INTERRUPTIBLE = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
COMMAND = [sys.executable, "-c", f"{INTERRUPTIBLE}; from attractor_client.cli import main; main()"]


@pytest.fixture
def answering_server(settled: Any, samples: Any, events: Any, json: Any) -> Any:
    """Returns a server that answers a question with one citation."""
    name, data = samples.completed("The export was dropped [1].")
    end = (name, data | {"citations": [samples.citation(), samples.citation(number=2, page=3)], "removed_citations": 1})
    settled.on("POST", "/v1/sessions", json(samples.session(), 201))
    settled.on("POST", f"/v1/sessions/{SESSION}/messages", json(samples.run(), 202))
    settled.on("POST", f"/v1/runs/{RUN}/cancel", samples.run() | {"status": "cancelled"})
    stages = [
        ("stage_started", {"stage": "retrieve", "label": "Searching"}),
        ("stage_completed", {"stage": "retrieve"}),
    ]
    parts = [
        *stages,
        ("message_delta", {"text": "void"}),
        ("message_restarted", {}),
        ("message_delta", {"text": "The"}),
    ]
    settled.on("GET", f"/v1/runs/{RUN}/events", events(*parts, ("issue", {"message": "no memory"}), end))
    return settled


def environment(server: Any, tmp_path: Path, **more: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "SYSTEMROOT") if name in os.environ}
    return kept | {"ATTRACTOR_URL": server.url, "ATTRACTOR_API_KEY": "key-1", "HOME": str(tmp_path)} | more


@pytest.mark.usefixtures("answering_server")
class TestAsk:
    def test_the_answer_is_printed_with_its_citations(self, answering_server, attractor) -> None:
        ran = attractor("ask", "Why?")
        assert ran.code == 0
        assert ran.out.splitlines() == [
            "The export was dropped [1].",
            "",
            "[1] note-1.md, Keys, lines 10-20: “the quote”",
            "[2] note-1.md, Keys, page 3: “the quote”",
            "",
            "extractive: no chat model was used · 1 citation failed verification and was removed"
            f" · continue with: --session {SESSION}",
        ]
        assert ran.err == "note: no memory\n"
        assert b'"Why?"' in answering_server.calls("POST", f"/v1/sessions/{SESSION}/messages")[0].body

    def test_unverified_sentences_are_marked_and_reasons_are_shown(
        self, answering_server, samples, events, attractor
    ) -> None:
        name, data = samples.completed("Keys expire [1]. Penguins swim. Keys last 9 years. Why?\n| a | b |")
        sentences = [
            {"start": 0, "end": 16, "status": "verified", "reason": "the source says so", "attributed": True},
            {"start": 17, "end": 31, "status": "unsupported", "reason": "nothing says it"},
            {"start": 32, "end": 50, "status": "contradicted", "reason": "the source does not have the number 9"},
            {"start": 51, "end": 55, "status": "not_a_claim", "reason": "a question"},
            {"start": 56, "end": 65, "status": "unclear", "reason": "no “b”", "instead_of": "| a | c |"},
        ]
        answering_server.on("GET", f"/v1/runs/{RUN}/events", events((name, data | {"sentences": sentences})))
        marked = [
            "Keys expire [1]. Penguins swim. (unsupported) Keys last 9 years. (contradicted) Why?",
            "| a | b (unclear) |",
        ]
        lines = attractor("ask", "Why?", "--reasons").out.splitlines()
        assert lines[:2] == marked
        assert lines[3:8] == [
            "verified: “Keys expire [1].” (the source says so; the check cited it)",
            "unsupported: “Penguins swim.” (nothing says it)",
            "contradicted: “Keys last 9 years.” (the source does not have the number 9)",
            "not_a_claim: “Why?” (a question)",
            "unclear: “| a | b |” (no “b”; rewritten from “| a | c |”)",
        ]
        plain = attractor("ask", "Why?").out
        assert plain.splitlines()[:2] == marked
        assert "number 9" not in plain

    def test_a_finished_sentence_is_shown_with_its_marks_while_the_rest_streams(self) -> None:
        draft = Draft()
        done = SentenceChecked(
            start=0, end=12, content="Keys expire [1].", status=SentenceStatus.verified, reason="", attributed=True
        )
        other = SentenceChecked(
            start=13, end=27, content="Penguins swim.", status=SentenceStatus.unsupported, reason="nothing says it"
        )
        for number, data in enumerate([MessageDelta(text="Keys expire. Penguins swim. And"), done, other]):
            draft.take(RunEvent(id=f"1-{number}", data=data))
        assert draft.shown == "Keys expire [1]. Penguins swim. (unsupported) And"
        draft.take(RunEvent(id="1-4", data=MessageRestarted()))
        draft.take(RunEvent(id="1-5", data=MessageDelta(text="Anew")))
        assert draft.shown == "Anew"

    def test_the_artifact_is_shown_while_it_streams_until_the_answer_begins(self) -> None:
        screen, draft = Console(width=60, file=StringIO()), Draft()

        def shown(data: RunEventData) -> str:
            draft.take(RunEvent(id="1-1", data=data))
            with screen.capture() as captured:
                screen.print(draft)
            return captured.get()

        stage = StageStarted(stage="retrieve", label="Searching the documents", phase=RunPhase.contextualisation)
        assert "Searching the documents · contextualisation" in shown(stage)
        assert "# Half" in shown(ArtifactDelta(text="# Half"))
        again = shown(ArtifactStarted(action=ArtifactAction.rewrite_artifact)) + shown(ArtifactDelta(text="# New"))
        assert "# New" in again
        assert "# Half" not in again
        answered = shown(MessageDelta(text="I wrote it."))
        assert ("I wrote it." in answered, "# New" in answered) == (True, False)
        stage = StageStarted(stage="generate_title", label="Naming the session", phase=RunPhase.housekeeping)
        assert "The answer is final · Naming the session" in shown(stage)

    def test_events_are_printed_as_json_lines(self, attractor) -> None:
        ran = attractor("ask", "Why?", "--json")
        assert [one["event"] for one in ran.lines][-2:] == ["issue", "run_completed"]
        assert ran.lines[-1]["data"]["content"] == "The export was dropped [1]."
        assert ran.err == ""

    def test_continues_a_session_limited_to_documents(self, answering_server, attractor) -> None:
        assert attractor("ask", "-", "--session", str(SESSION), "-d", ONE, stdin="From stdin?\n").code == 0
        assert not answering_server.calls("POST", "/v1/sessions")
        body = answering_server.calls("POST", f"/v1/sessions/{SESSION}/messages")[0].body
        assert b"From stdin?" in body
        assert ONE.encode() in body
        given = ("--scope", "global", "--answer-model", "mine:large:8b", "--session", str(SESSION))
        assert attractor("ask", "Who else?", *given).code == 0
        assert attractor("ask", "Who else?", "--answer-model", "large").code == 2
        sent = answering_server.calls("POST", f"/v1/sessions/{SESSION}/messages")[1].body
        assert b'"rag_scope":"global"' in sent
        assert b'"models":[{"provider":"mine","model":"large:8b"}]' in sent

    @pytest.mark.parametrize("as_json", [True, False])
    def test_a_failed_run_is_an_error(self, answering_server, events, attractor, as_json: bool) -> None:
        failed = {"run_id": str(RUN), "error_type": "provider", "message": "the model is away"}
        answering_server.on("GET", f"/v1/runs/{RUN}/events", events(("run_failed", failed)))
        ran = attractor("ask", "Why?", *(["--json"] if as_json else []))
        assert (ran.code, ran.err) == (1, "Error: the run failed: the model is away\n")

    def test_a_cancelled_run_is_an_error(self, answering_server, events, attractor) -> None:
        cancelled = {"run_id": str(RUN), "artifact_index": 3, "artifact_outcome": "current"}
        answering_server.on("GET", f"/v1/runs/{RUN}/events", events(("run_cancelled", cancelled)))
        ran = attractor("ask", "Why?")
        assert (ran.code, ran.err.splitlines()) == (
            1,
            ["Error: the run was cancelled", "version 3 of the artifact, which it wrote, is kept"],
        )

    @pytest.mark.parametrize(
        "end",
        [
            ("run_cancelled", {"run_id": str(RUN)}),
            ("run_failed", {"run_id": str(RUN), "error_type": "provider", "message": "the model is away"}),
        ],
    )
    def test_the_written_part_of_an_interrupted_answer_stays_visible(
        self, answering_server, events, attractor, end: Any
    ) -> None:
        answering_server.on("GET", f"/v1/runs/{RUN}/events", events(("message_delta", {"text": "Half an answer"}), end))
        ran = attractor("ask", "Why?")
        assert (ran.code, ran.out) == (1, "Half an answer\n")

    def test_an_empty_question_creates_no_session(self, answering_server, attractor) -> None:
        assert attractor("ask", "  ").code == 2
        assert not answering_server.received

    def test_an_unknown_session_is_an_error(self, attractor) -> None:
        assert attractor("ask", "Why?", "-s", ONE).code == 4


class TestProcess:
    def test_ctrl_c_cancels_the_run(self, answering_server, tmp_path: Path) -> None:
        streaming = threading.Event()
        never_ends(answering_server, streaming)
        with subprocess.Popen(
            [*COMMAND, "ask", "Why?"], env=environment(answering_server, tmp_path), stdout=-1, stderr=-1, text=True
        ) as process:
            assert streaming.wait(SECONDS)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=SECONDS)
        assert (process.returncode, out) == (130, "")
        assert err.splitlines() == ["the run was cancelled", "interrupted"]
        assert len(answering_server.calls("POST", f"/v1/runs/{RUN}/cancel")) == 1

    def test_ctrl_c_while_the_question_is_being_sent(self, answering_server, samples, json, tmp_path: Path) -> None:
        sending, interrupted = threading.Event(), threading.Event()

        async def accepted(_: Any) -> Any:
            sending.set()
            await asyncio.to_thread(interrupted.wait, SECONDS)
            return json(samples.run(), 202)

        never_ends(answering_server, threading.Event())  # the answer may come before the process handles the signal
        answering_server.on("POST", f"/v1/sessions/{SESSION}/messages", accepted)
        with subprocess.Popen(
            [*COMMAND, "ask", "Why?"], env=environment(answering_server, tmp_path), stdout=-1, stderr=-1
        ) as process:
            assert sending.wait(SECONDS)
            process.send_signal(signal.SIGINT)
            interrupted.set()
            process.communicate(timeout=SECONDS)
        assert process.returncode == 130
        assert len(answering_server.calls("POST", f"/v1/runs/{RUN}/cancel")) == 1

    def test_a_terminal_sees_the_answer_once(self, answering_server, tmp_path: Path) -> None:
        shown = on_terminal(
            [*COMMAND, "ask", "Why?"], environment(answering_server, tmp_path, TERM="xterm", COLUMNS="100")
        )
        assert shown.count("The export was dropped [1].") == 1
        assert "void" not in shown.split("The export")[1]

    def test_a_terminal_without_escape_sequences_shows_the_answer_once(self, answering_server, tmp_path: Path) -> None:
        shown = on_terminal(
            [*COMMAND, "ask", "Why?"], environment(answering_server, tmp_path, TERM="dumb", COLUMNS="100")
        )
        assert "\x1b" not in shown
        assert shown.count("The export was dropped [1].") == 1

    def test_a_terminal_sees_the_progress_of_ingestion(self, answering_server, samples, json, tmp_path: Path) -> None:
        (tmp_path / "a.md").write_text("text")
        files = [{"name": "a.md", "document": samples.document(status="processing"), "created": True}]
        answering_server.on("POST", "/v1/documents", json({"files": files}, 202))
        seen = threading.Event()

        def state(_: Any) -> Any:
            done = samples.detail()
            return json(done if seen.is_set() else samples.detail(status="processing", stages=[samples.stage()]))

        answering_server.on("GET", f"/v1/documents/{ONE}", state)
        arguments = [*COMMAND, "ingest", str(tmp_path / "a.md")]
        shown = on_terminal(
            arguments, environment(answering_server, tmp_path, TERM="xterm", COLUMNS="120"), {"embed: a.md": seen.set}
        )
        assert seen.is_set()
        assert "1 searchable" in shown

    def test_a_reader_that_closes_the_pipe_causes_no_traceback(self, answering_server, samples, tmp_path: Path) -> None:
        many = [samples.document(number, name="n" * 150) for number in range(1, 2000)]
        for items, more in ((many, []), (many, ["--json"]), (many[:1], []), (many[:1], ["--json"])):
            answering_server.on("GET", "/v1/documents", {"items": items, "next_cursor": None})
            command = [*COMMAND, "documents", "list", "-n", "5000", *more]
            with subprocess.Popen(
                command, env=environment(answering_server, tmp_path), stdout=-1, stderr=-1
            ) as process:
                assert process.stdout
                if items is many:
                    process.stdout.readline()
                process.stdout.close()
                assert process.stderr
                assert process.stderr.read() == b""
            assert process.returncode == 1

    def test_an_output_without_unicode(self, answering_server, tmp_path: Path) -> None:
        ascii_only = environment(answering_server, tmp_path, PYTHONIOENCODING="ascii", PYTHONUTF8="0", LC_ALL="C")
        for more in ([], ["--json"]):
            ran = subprocess.run([*COMMAND, "ask", "Why?", *more], env=ascii_only, capture_output=True, check=False)
            assert (ran.returncode, b"Traceback" in ran.stderr) == (0, False)


def never_ends(server: Any, streaming: threading.Event) -> None:
    """Makes the run send events until it is cancelled; `streaming` is set after the first one."""

    async def endless() -> AsyncIterator[bytes]:
        yield b": still here\n\n"
        streaming.set()
        while not server.calls("POST", f"/v1/runs/{RUN}/cancel"):
            yield b": still here\n\n"
            await asyncio.sleep(0.05)

    server.on("GET", f"/v1/runs/{RUN}/events", lambda _: StreamingResponse(endless(), media_type="text/event-stream"))


def on_terminal(
    command: list[str], environment: dict[str, str], when_shown: Mapping[str, Callable[[], None]] = MappingProxyType({})
) -> str:
    """Returns what a command shows in a terminal; calls the function of each text once the text appears."""
    main, other = pty.openpty()
    with subprocess.Popen(command, env=environment, stdin=other, stdout=other, stderr=other) as process:
        os.close(other)
        shown = b""
        while select.select([main], [], [], SECONDS)[0]:
            try:
                piece = os.read(main, 65536)
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            shown += piece
            for text, call in when_shown.items():
                if text.encode() in shown:
                    call()
    os.close(main)
    assert process.returncode == 0, shown
    return shown.decode()
