"""The library against a real HTTP server: retries, errors, pages, event streams."""

from __future__ import annotations

import asyncio
import io
import json as jsonlib
import os
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from starlette.responses import Response

from attractor_client import (
    AttractorClient,
    AttractorError,
    Conflict,
    Forbidden,
    InvalidRequest,
    NotFound,
    NotSendable,
    RateLimited,
    RetryPolicy,
    StaleVersion,
    StreamInterrupted,
    TooLarge,
    Unauthenticated,
    Unavailable,
    UnexpectedAnswer,
    Unreachable,
)
from attractor_client.http.upload import FixedLength
from contracts.gateway import Role
from contracts.ingestion import DocumentStatus, UploadedFile
from contracts.run_events import MessageDelta, RunCompleted

QUICK = RetryPolicy(attempts=3, first=0.01, longest=0.02, patience=2)
RUN = UUID(int=7)


@pytest.fixture
def client_of(server: Any) -> Callable[..., AttractorClient]:
    return lambda **options: AttractorClient(server.url, "key-1", **{"retry": QUICK, **options})


class TestRetries:
    async def test_reads_are_retried_until_the_server_answers(self, server, client_of, problem) -> None:
        server.on("GET", "/v1/status", problem(503, "unavailable", "No"), problem(502, "x", "No"), STATUS)
        async with client_of() as client:
            assert (await client.accounts.status()).status == "ready"
        assert len(server.received) == 3

    async def test_the_last_problem_is_raised(self, server, client_of, problem) -> None:
        server.on("GET", "/v1/status", problem(504, "service-timeout", "Too slow"))
        async with client_of() as client:
            with pytest.raises(Unavailable) as caught:
                await client.accounts.status()
        assert caught.value.type == "service-timeout"
        assert len(server.received) == 3

    async def test_nothing_is_tried_again_once_the_patience_is_over(self, server, client_of, problem) -> None:
        server.on("GET", "/v1/status", problem(504, "service-timeout", "Too slow"))
        async with client_of(retry=replace(QUICK, patience=0)) as client:
            with pytest.raises(Unavailable):
                await client.accounts.status()
        assert len(server.received) == 1

    async def test_waits_as_long_as_the_server_requests(self, server, client_of, problem) -> None:
        server.on("GET", "/v1/status", problem(429, "rate-limited", "Too many", {"Retry-After": "1"}), STATUS)
        begin = time.monotonic()
        async with client_of() as client:
            await client.accounts.status()
        assert time.monotonic() - begin >= 1

    async def test_never_waits_longer_than_the_configured_limit(self, server, client_of, problem) -> None:
        later = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)
        server.on("GET", "/v1/status", problem(429, "rate-limited", "Too many", {"Retry-After": later}))
        async with client_of() as client:
            with pytest.raises(RateLimited) as caught:
                await client.accounts.status()
        assert 3500 < (caught.value.retry_after or 0) <= 3600
        assert len(server.received) == 1

    async def test_creates_are_retried_with_the_same_idempotency_key(self, server, client_of, samples, problem) -> None:
        server.on("POST", "/v1/sessions", problem(503, "unavailable", "No"), samples.session())
        async with client_of() as client:
            await client.sessions.create("T")
        keys = [one.headers["idempotency-key"] for one in server.received]
        assert len(keys) == 2
        assert len(set(keys)) == 1

    async def test_requests_that_are_not_idempotent_are_sent_once(self, server, client_of, problem) -> None:
        place = f"/v1/documents/{UUID(int=1)}/retry"
        server.on("POST", place, problem(503, "unavailable", "No"))
        async with client_of() as client:
            with pytest.raises(Unavailable):
                await client.documents.retry(UUID(int=1))
        assert len(server.received) == 1

    async def test_a_rename_carries_its_version_and_is_sent_once(self, server, client_of, problem) -> None:
        server.on("PATCH", f"/v1/sessions/{UUID(int=5)}", problem(502, "x", "No"))
        async with client_of() as client:
            with pytest.raises(Unavailable):
                await client.sessions.rename(UUID(int=5), "New", version=3)
        assert [one.headers["if-match"] for one in server.received] == ['"3"']

    async def test_connection_refused_is_a_clear_error(self, nowhere: str) -> None:
        async with AttractorClient(nowhere, retry=QUICK) as client:
            with pytest.raises(Unreachable) as caught:
                await client.documents.retry(UUID(int=1))
        assert not caught.value.sent

    async def test_a_timeout_is_a_clear_error(self, server, client_of) -> None:
        given_up = threading.Event()

        async def slow(_: Any) -> Response:
            await asyncio.to_thread(given_up.wait, 60)
            return Response(b"{}", media_type="application/json")

        server.on("GET", "/v1/status", slow)
        async with client_of(timeout=2, retry=RetryPolicy(attempts=1)) as client:
            with pytest.raises(Unreachable, match="did not answer in time") as caught:
                await client.accounts.status()
        given_up.set()
        assert caught.value.sent


STATUS = {"status": "ready", "version": "0.1.0", "services": []}


class TestErrors:
    @pytest.mark.parametrize(
        ("status", "kind"),
        [
            (400, InvalidRequest),
            (401, Unauthenticated),
            (403, Forbidden),
            (404, NotFound),
            (409, Conflict),
            (412, StaleVersion),
            (413, TooLarge),
            (422, InvalidRequest),
            (500, AttractorError),
        ],
    )
    async def test_a_problem_is_raised_as_the_error_class_of_its_status(
        self, server, client_of, problem, status, kind
    ) -> None:
        more = {"detail": "why", "trace_id": "abc", "errors": [{"at": "body.k"}]}
        server.on("GET", "/v1/me", problem(status, "some-slug", "A title", **more))
        async with client_of() as client:
            with pytest.raises(kind) as caught:
                await client.accounts.me()
        error = caught.value
        assert (error.type, error.title, error.detail, error.status) == ("some-slug", "A title", "why", status)
        assert (error.trace_id, error.extra["errors"]) == ("abc", [{"at": "body.k"}])
        assert str(error) == "A title: why"

    @pytest.mark.parametrize("body", [b"<html>Bad gateway</html>", b"", b"\xff\x00"])
    async def test_an_error_page_from_a_proxy_is_an_error(self, server, client_of, body: bytes) -> None:
        server.on("GET", "/v1/me", Response(body, 502, media_type="text/html"))
        async with client_of() as client:
            with pytest.raises(Unavailable, match="HTTP 502 Bad Gateway"):
                await client.accounts.me()

    @pytest.mark.parametrize("body", [b"<html>Welcome</html>", b"{}", b"[1]", b'{"user": 1}'])
    async def test_a_response_from_another_program_is_an_error(self, server, client_of, body: bytes) -> None:
        server.on("GET", "/v1/me", Response(body, 200, media_type="text/html"))
        async with client_of() as client:
            with pytest.raises(UnexpectedAnswer, match="/v1/me"):
                await client.accounts.me()

    async def test_a_redirect_is_an_error_that_names_the_location(self, server, client_of) -> None:
        server.on("GET", "/v1/me", Response(b"", 308, {"location": "https://attractor.example/v1/me"}))
        async with client_of() as client:
            with pytest.raises(UnexpectedAnswer, match=r"https://attractor\.example"):
                await client.accounts.me()

    @pytest.mark.parametrize("url", ["127.0.0.1:8080", "ftp://host", "http://", ""])
    def test_an_invalid_url_is_refused(self, url: str) -> None:
        with pytest.raises(ValueError, match="http://127"):
            AttractorClient(url)

    @pytest.mark.parametrize("key", ["two\nlines", "schlüssel"])
    def test_a_malformed_key_is_refused(self, key: str) -> None:
        with pytest.raises(ValueError, match="API key") as caught:
            AttractorClient("http://127.0.0.1:1", key)
        assert key not in str(caught.value)

    async def test_unknown_fields_from_a_newer_server_are_ignored(self, server, client_of) -> None:
        server.on("GET", "/v1/status", {**STATUS, "new": 1, "services": [SERVICE | {"region": "eu"}]})
        async with client_of() as client:
            assert (await client.accounts.status()).services[0].name == "memory"


SERVICE = {"name": "memory", "status": "ready"}


class TestRequests:
    async def test_only_the_key_and_given_parameters_are_sent(self, server, client_of) -> None:
        empty = {
            "query": "q",
            "mode": "hybrid",
            "hits": [],
            "good_match": False,
            "match": 0.1,
            "legs": [],
            "milliseconds": 1,
        }
        server.on("POST", "/v1/search", empty)
        async with client_of() as client:
            await client.search("q", k=3)
        [sent] = server.received
        assert sent.headers["authorization"] == "Bearer key-1"
        assert "document_ids" not in jsonlib.loads(sent.body)

    async def test_an_id_with_special_characters_stays_one_path_segment(self, server, client_of) -> None:
        async with client_of() as client:
            with pytest.raises(NotFound):
                await client.graph.entity("a/b?c#d ..")
        assert server.received[0].path == "/v1/graph/entities/a/b?c#d .."
        assert server.received[0].query == {}

    async def test_memberships_and_keys_are_managed(self, server, client_of) -> None:
        place = f"/v1/workspaces/{UUID(int=1)}"
        member = {"user_id": str(UUID(int=2)), "name": "Ada", "role": "viewer"}
        server.on("PUT", f"{place}/members/{UUID(int=2)}", member)
        server.on("DELETE", f"{place}/members/{UUID(int=2)}", Response(status_code=204))
        async with client_of() as client:
            assert (await client.accounts.put_member(UUID(int=1), UUID(int=2), Role.viewer)).role is Role.viewer
            await client.accounts.remove_member(UUID(int=1), UUID(int=2))

    async def test_a_user_is_created_and_tokenizers_are_listed(self, server, client_of, samples) -> None:
        server.on("POST", "/v1/users", samples.caller()["user"])
        server.on("GET", "/v1/context/tokenizers", {"default": "minilm", "names": ["minilm", "qwen3"]})
        async with client_of() as client:
            assert (await client.accounts.create_user("Ada")).name == "Ada"
            assert (await client.context.tokenizers()).names == ["minilm", "qwen3"]

    async def test_images_and_messages_of_a_session_are_read_and_deleted(self, server, client_of) -> None:
        session, image, message = UUID(int=5), UUID(int=6), UUID(int=7)
        images = f"/v1/sessions/{session}/attachments"
        kept = {"id": str(image), "session_id": str(session), "name": "a.png", "media_type": "image/png"}
        kept |= {"file_size": 9, "width": 8, "height": 6, "created_at": "2026-03-01T10:00:00Z"}
        server.on("GET", images, {"items": [kept], "next_cursor": None})
        server.on("GET", f"{images}/{image}", Response(b"\x89PNG", media_type="image/png"))
        for place in (f"{images}/{image}", f"/v1/messages/{message}"):
            server.on("DELETE", place, Response(status_code=204))
        async with client_of() as client:
            assert [one.id async for one in client.sessions.images(session)] == [image]
            assert await client.sessions.image(session, image) == b"\x89PNG"
            await client.sessions.delete_image(session, image)
            await client.sessions.delete_message(message)


class TestPages:
    async def test_all_iterates_over_every_page(self, server, client_of, samples, json) -> None:
        def page(received: Any) -> Response:
            start = int(received.query.get("cursor", 0))
            following = str(start + 2) if start < 4 else None
            return json({"items": [samples.document(start + 1), samples.document(start + 2)], "next_cursor": following})

        server.on("GET", "/v1/documents", page)
        async with client_of() as client:
            found = [one.id.int async for one in client.documents.all(status=DocumentStatus.searchable)]
        assert found == [1, 2, 3, 4, 5, 6]
        assert {one.query["status"] for one in server.received} == {"searchable"}

    async def test_pages_are_requested_lazily(self, server, client_of, samples) -> None:
        server.on("GET", "/v1/documents", {"items": [samples.document(1), samples.document(2)], "next_cursor": "x"})
        async with client_of() as client:
            iterator = client.documents.all()
            assert [(await anext(iterator)).id.int for _ in range(2)] == [1, 2]
        assert len(server.received) == 1

    async def test_an_endless_list_is_an_error(self, server, client_of, samples) -> None:
        server.on("GET", "/v1/documents", {"items": [samples.document()], "next_cursor": "same"})
        async with client_of() as client:
            with pytest.raises(UnexpectedAnswer, match="never ends"):
                [one async for one in client.documents.all()]


class TestEvents:
    place = f"/v1/runs/{RUN}/events"

    async def test_events_are_read_up_to_the_terminal_one(self, server, client_of, samples, events) -> None:
        server.on(
            "GET", self.place, events(("message_delta", {"text": "Hi"}), samples.completed(), ("message_delta", {}))
        )
        async with client_of() as client:
            found = [event async for event in client.runs.events(RUN)]
        assert [type(event.data) for event in found] == [MessageDelta, RunCompleted]
        assert [event.id for event in found] == ["1-1", "1-2"]

    @pytest.mark.parametrize("cut", [True, False])
    async def test_reconnects_after_the_last_event_when_the_stream_ends_early(
        self, server, client_of, samples, events, cut: bool
    ) -> None:
        first = events(("message_delta", {"text": "Hello "}), cut=cut)
        server.on("GET", self.place, first, events(("message_delta", {"text": "world"}), samples.completed(), after=1))
        async with client_of() as client:
            found = [event async for event in client.runs.events(RUN)]
        assert "".join(one.data.text for one in found if isinstance(one.data, MessageDelta)) == "Hello world"
        assert [one.headers.get("last-event-id") for one in server.received] == [None, "1-1"]

    async def test_keeps_reconnecting_while_the_server_is_down(
        self, server, client_of, samples, events, problem
    ) -> None:
        server.on(
            "GET",
            self.place,
            events(("message_delta", {"text": "a"}), cut=True),
            problem(503, "unavailable", "No"),
            events(samples.completed(), after=1),
        )
        async with client_of() as client:
            assert len([event async for event in client.runs.events(RUN)]) == 2

    async def test_gives_up_when_no_further_event_arrives(self, server, client_of, events, monkeypatch) -> None:
        monkeypatch.setattr("attractor_client.resources.runs.LONGEST_PAUSE_SECONDS", 0.01)
        server.on("GET", self.place, events(cut=True))
        async with client_of() as client:
            with pytest.raises(StreamInterrupted):
                [event async for event in client.runs.events(RUN)]
        assert len(server.received) == 6

    async def test_unknown_events_from_a_newer_server_are_skipped(self, server, client_of, samples, events) -> None:
        newer = samples.completed()[1] | {"new": True}
        server.on("GET", self.place, events(("mood_changed", {"mood": "good"}), ("run_completed", newer)))
        async with client_of() as client:
            assert [event.data.name async for event in client.runs.events(RUN)] == ["run_completed"]

    async def test_no_event_follows_the_terminal_event(self, server, client_of) -> None:
        server.on("GET", self.place, Response(status_code=204))
        async with client_of() as client:
            assert [event async for event in client.runs.events(RUN, "1-9")] == []

    async def test_ask_sends_the_question_and_follows_the_run(self, server, client_of, samples, events, json) -> None:
        server.on("POST", f"/v1/sessions/{UUID(int=5)}/messages", json(samples.run(), 202))
        server.on("GET", self.place, events(samples.completed("Answer")))
        async with client_of() as client:
            [event] = [event async for event in client.sessions.ask(UUID(int=5), "Why?")]
        assert isinstance(event.data, RunCompleted)
        assert event.data.content == "Answer"


class TestDocuments:
    async def test_uploads_stream_from_disk_and_keep_their_order(
        self, server, client_of, samples, tmp_path: Path
    ) -> None:
        for number in (1, 2):
            (tmp_path / f"note-{number}.md").write_text(f"text {number}")
        files = [
            {"name": "note-1.md", "document": samples.document(1), "created": True},
            {"name": "b", "error": "empty-file"},
        ]
        server.on("POST", "/v1/documents", {"files": files})
        async with client_of() as client:
            found = await client.documents.upload(tmp_path / "note-1.md", tmp_path / "note-2.md", ("c.txt", b"bytes"))
        assert [one.error for one in found] == [None, "empty-file"]
        body = server.received[0].body
        assert body.index(b'filename="note-1.md"') < body.index(b"text 2") < body.index(b'filename="c.txt"')
        assert int(server.received[0].headers["content-length"]) == len(body)

    async def test_an_upload_is_retried_from_the_beginning(self, server, client_of, problem, tmp_path: Path) -> None:
        (tmp_path / "a.md").write_text("the text")
        server.on("POST", "/v1/documents", problem(503, "unavailable", "No"), {"files": [{"name": "a.md"}]})
        async with client_of() as client:
            await client.documents.upload(tmp_path / "a.md")
        assert [b"the text" in one.body for one in server.received] == [True, True]

    async def test_a_document_gets_a_new_version(self, server, client_of, samples) -> None:
        answer = UploadedFile.model_validate(
            {"name": "a.md", "document": samples.document(version=2), "new_version": True}
        )
        server.on("PUT", f"/v1/documents/{UUID(int=1)}", answer)
        async with client_of() as client:
            replaced = await client.documents.replace(UUID(int=1), ("a.md", b"the new text"))
        assert replaced == answer
        [sent] = server.received
        assert b"the new text" in sent.body

    async def test_if_every_file_is_refused_each_reason_is_given(self, server, client_of, problem) -> None:
        files = [{"name": "a.xyz", "error": "unsupported-format", "message": "not supported"}]
        server.on("POST", "/v1/documents", problem(422, "nothing-accepted", "None was accepted", files=files))
        async with client_of() as client:
            [refused] = await client.documents.upload(("a.xyz", b"x"))
        assert (refused.error, refused.document) == ("unsupported-format", None)

    async def test_a_file_name_that_is_not_utf8_is_sent(self, server, client_of, tmp_path: Path) -> None:
        path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.md"))
        await asyncio.to_thread(path.write_text, "x")
        server.on("POST", "/v1/documents", {"files": [{"name": "caf?.md"}]})
        async with client_of() as client:
            await client.documents.upload(path)
        assert b'filename="caf?.md"' in server.received[0].body

    def test_a_file_that_shrinks_during_upload_is_an_error(self, tmp_path: Path) -> None:
        with (tmp_path / "big.txt").open("wb+") as file:
            file.write(b"x" * 1_000_000)
            file.flush()
            shrinking = FixedLength(file)
            shrinking.seek(0)
            file.truncate(10)
            assert shrinking.read(65536) == b"x" * 10
            with pytest.raises(NotSendable, match="shrank"):
                shrinking.read(65536)

    async def test_a_file_that_grows_during_upload_is_sent_at_its_original_length(self, server, client_of) -> None:
        class Growing(io.BytesIO):
            def read(self, size: int | None = -1) -> bytes:
                data = super().read(size)
                place = self.tell()
                self.write(b"more")
                self.seek(place)
                return data

        server.on("POST", "/v1/documents", {"files": []})
        async with client_of() as client:
            await client.documents.upload(("a.md", Growing(b"0123456789")))
        assert b"\r\n\r\n0123456789\r\n--" in server.received[0].body

    async def test_wait_polls_until_the_document_is_settled(self, server, client_of, samples) -> None:
        place = f"/v1/documents/{UUID(int=1)}"
        server.on("GET", place, samples.detail(status="processing"), samples.detail(status="searchable"))
        async with client_of() as client:
            assert (await client.documents.wait(UUID(int=1))).status is DocumentStatus.searchable
        assert server.received[0].query["wait"] == "searchable"

    async def test_wait_times_out(self, server, client_of, samples) -> None:
        server.on("GET", f"/v1/documents/{UUID(int=1)}", samples.detail(status="processing", explanation="no worker"))
        async with client_of() as client:
            with pytest.raises(TimeoutError, match="no worker"):
                await client.documents.wait(UUID(int=1), timeout=0)

    async def test_download_verifies_the_hash(self, server, client_of, samples, tmp_path: Path) -> None:
        server.on("GET", f"/v1/documents/{UUID(int=1)}", samples.detail())
        server.on("GET", f"/v1/documents/{UUID(int=1)}/original", Response(b"hello"), Response(b"hullo"))
        async with client_of() as client:
            known = await client.documents.get(UUID(int=1))
            await client.documents.download(known, tmp_path / "a.md")
            assert (tmp_path / "a.md").read_bytes() == b"hello"
            with pytest.raises(UnexpectedAnswer, match="SHA-256"):
                await client.documents.download(known, tmp_path / "b.md")
        assert os.listdir(tmp_path) == ["a.md"]

    async def test_downloading_the_original_of_an_unknown_document_fails(self, client_of) -> None:
        async with client_of() as client:
            with pytest.raises(NotFound):
                [piece async for piece in client.documents.original(uuid4())]
