"""Images in conversations: taken in behind walls, shown to the model of the role vision alone, deleted with all."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import io
import logging
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

import openai
import psycopg
import pytest
from PIL import Image

from contracts.gateway import Role
from contracts.images import MOST_IMAGE_BYTES
from orchestrator.errors import ImageTooLarge
from orchestrator.images.decoding import ImageDecoder, SentImage
from orchestrator.images.keeping import ImageKeeping
from orchestrator.images.limits import ImageLimits
from service_kit.objects import ObjectStore
from service_kit.postgres import Database
from service_kit.sandbox import SandboxedProcess

SEEN = ["A red ", "square."]
QUESTION = "What do you see?"


def picture(size: tuple[int, int] = (8, 6), mode: str = "RGB") -> bytes:
    written = io.BytesIO()
    Image.new(mode, size, 1 if mode == "P" else "red").save(written, "PNG")
    return written.getvalue()


async def attach(service: Any, session: str, data: bytes, media_type: str = "image/png", **more: Any) -> Any:
    path = f"/v1/sessions/{session}/attachments"
    return await service.client.post(path, content=data, headers={"Content-Type": media_type}, **more)


async def attached(service: Any, session: str, data: bytes, media_type: str = "image/png") -> str:
    response = await attach(service, session, data, media_type)
    assert response.status_code == 201, response.text
    return str(response.json()["id"])


def image_urls(body: dict[str, Any]) -> list[str]:
    contents = [message["content"] for message in body["messages"] if isinstance(message["content"], list)]
    return [part["image_url"]["url"] for parts in contents for part in parts if part["type"] == "image_url"]


async def test_an_image_is_sent_only_to_the_vision_model_and_stays_in_context(
    start: Any, model_settings: Any, world: Any, auth_headers: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    world.scripted["from the images that the user shows"] = SEEN
    reached, go_on = asyncio.Event(), asyncio.Event()

    async def pace(_: int) -> None:
        reached.set()
        await go_on.wait()

    world.pace = pace
    async with start(model_settings) as service:
        chosen = await service.client.put(
            "/v1/settings/roles.vision",
            params={"scope": "workspace"},
            json={"value": [{"provider": "operator", "model": "large"}]},
            headers=auth_headers(role=Role.owner),
        )
        assert chosen.status_code == 200, chosen.text
        session = await service.session()
        image = await attached(service, session, picture())
        run = await service.ask(session, QUESTION, attachment_ids=[image])
        async with asyncio.timeout(60):
            await reached.wait()
        saved = await rows(model_settings, "checkpoints", "checkpoint_blobs", "checkpoint_writes")
        go_on.set()
        events = await service.events(run["id"])
        first = await service.run(run["id"])
        chats = [*world.chats]
        world.scripted["images in this conversation"] = ["Red, as [1]."]
        world.good_match = False
        again = await service.ask(session, "And its colour?")
        await service.events(again["id"])
        world.good_match = True
        world.scripted["images in this conversation"] = ["Tokens expire after fifteen minutes [1]."]
        other = await service.ask(session, "How long are tokens valid?")
        await service.events(other["id"])
        second, third = await service.run(again["id"]), await service.run(other["id"])
        messages = (await service.client.get(f"/v1/sessions/{session}/messages")).json()["items"]
        beside = await service.ask(session, "How long are tokens valid?", parent_id=None)
        await service.events(beside["id"])
        kept_events = await rows(model_settings, "run_event")
    assert first["answer"]["content"] == "A red square."
    at = first["node_trace"].index("image_processing")
    assert first["node_trace"][at - 1 : at + 2] == ["generate_path", "image_processing", "clean_state"]
    assert "small" not in [one["model"] for one in chats if "title of three" not in str(one["messages"])]
    assert not {"retrieve", "artifact_ops", "reflect"} & set(first["node_trace"])
    (sent,) = [one for one in chats if image_urls(one)]
    (url,) = image_urls(sent)
    assert sent["model"] == "large"
    assert url.startswith("data:image/png;base64,")
    assert Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2]))).size == (8, 6)
    # What follows on its branch has it in view beside the passages; another branch knows nothing of it.
    answers = [one for one in world.chats if "title of three" not in str(one["messages"])]
    seen = [("large", 1)] * 3
    assert [(one["model"], len(image_urls(one))) for one in answers] == [*seen, ("small", 0)]
    assert [("retrieve" in one["node_trace"], one["answer"]["content"]) for one in (second, third)] == [
        (True, "Red, as."),
        (True, "Tokens expire after fifteen minutes [1]."),
    ]
    assert messages[0]["attachment_ids"] == [image]
    assert saved
    for text in [*saved, *kept_events, *(str(event.data) for event in events), caplog.text]:
        assert "base64" not in text
        assert base64.b64encode(picture()[:12]).decode() not in text
        assert picture()[:12].hex() not in text


async def rows(settings: Any, *tables: str) -> list[str]:
    """All rows of the tables, as JSON."""
    url, found = settings.database_url.get_secret_value(), list[str]()
    async with await psycopg.AsyncConnection.connect(url, options="-c app.scope=system") as connection:
        for table in tables:
            cursor = await connection.execute(f"SELECT row_to_json({table})::text FROM {table}".encode())
            found += [row[0] for row in await cursor.fetchall()]
    return found


async def test_without_a_vision_model_the_answer_says_what_to_do(start: Any, model_settings: Any, world: Any) -> None:
    world.failing = "/chat/"
    async with start(model_settings) as service:
        session = await service.session()
        run = await service.ask(session, QUESTION, attachment_ids=[await attached(service, session, picture())])
        await service.events(run["id"])
        ended = await service.run(run["id"])
    assert ended["status"] == "completed"
    assert ended["answer"]["content"].startswith("I cannot see images here")
    assert "upload it as a document" in ended["answer"]["content"]


async def test_without_a_vision_model_the_text_of_an_image_that_is_a_document_is_quoted(
    start: Any, settings: Any, world: Any
) -> None:
    scan = picture((40, 30))
    document = str(uuid4())
    world.document_hashes[hashlib.sha256(scan).hexdigest()] = [document]
    world.unread.add(document)
    async with start(settings) as service:
        session = await service.session()

        async def answer(data: bytes) -> Any:
            run = await service.ask(session, QUESTION, attachment_ids=[await attached(service, session, data)])
            await service.events(run["id"])
            return (await service.run(run["id"]))["answer"]["content"]

        world.read_in_time = False
        unread = await answer(scan)
        world.read_in_time = True
        quoted, other = await answer(scan), await answer(picture())
        world.document_status = 500
        silent = await answer(scan)
    assert quoted.startswith(
        "I cannot see images here: no model is configured for the role `vision`. The image is also"
    )
    assert f"“{document}.md”" in quoted
    assert quoted.endswith(
        "\n\n> The AuthService issues tokens. Tokens expire after fifteen minutes. The UserDB keeps the accounts."
    )
    assert f"“{document}.md”, whose text is still being recognised" in unread
    assert world.documents_awaited == [document] * 2
    assert all("upload it as a document" in one for one in (other, silent))


async def test_images_are_accepted_by_every_api_and_stored_by_none(
    start: Any, model_settings: Any, world: Any, workspace_id: UUID, sdk: Any
) -> None:
    world.scripted["from the images that the user shows"] = SEEN
    data = f"data:image/png;base64,{base64.b64encode(picture()).decode()}"
    text = {"type": "text", "text": QUESTION}
    objects = ObjectStore(model_settings)
    async with start(model_settings) as service, sdk(service) as client:

        async def refused(url: str) -> Any:
            parts = [text, {"type": "image_url", "image_url": {"url": url}}]
            with pytest.raises(openai.BadRequestError) as error:
                await client.chat.completions.create(model="attractor", messages=[{"role": "user", "content": parts}])
            return error.value.param

        params = [await refused("https://example.org/a.png"), await refused("data:image/png;base64,AAAA")]
        shown = {"role": "user", "content": [text, {"type": "image_url", "image_url": {"url": data}}]}
        completion = await client.chat.completions.create(model="attractor", messages=[shown])
        parts = [{"type": "input_text", "text": QUESTION}, {"type": "input_image", "image_url": data}]
        response = await client.responses.create(
            model="attractor", input=[{"role": "user", "content": parts}], store=False
        )
    left = objects.keys(f"{workspace_id}/attachments/")
    objects.close()
    assert params == ["messages.0.content.1.image_url"] * 2
    assert completion.choices[0].message.content == response.output_text == "A red square."
    assert [len(image_urls(one)) for one in world.chats if image_urls(one)] == [1, 1]
    assert left == []
    assert await rows(model_settings, "attachment") == []


async def test_an_image_is_private_to_its_user_and_deleted_with_its_session(
    start: Any, settings: Any, other_user: Any, auth_headers: Any, workspace_id: UUID
) -> None:
    objects = ObjectStore(settings)
    refusals = {}
    async with start(settings) as service:
        session = await service.session()
        image = await attached(service, session, picture() + b"<script>")
        path = f"/v1/sessions/{session}/attachments"
        named = {"content": QUESTION, "attachment_ids": [image]}
        own = await service.session()
        answers = [await service.client.post(f"/v1/sessions/{own}/messages", json=named)]
        for headers in (other_user, auth_headers(workspace_id=uuid4())):
            answers += [
                await service.client.get(path, headers=headers),
                await service.client.get(f"{path}/{image}", headers=headers),
                await service.client.delete(f"{path}/{image}", headers=headers),
                await service.client.post(path, content=b"x", headers={**headers, "Content-Type": "image/png"}),
            ]
            theirs = (await service.client.post("/v1/sessions", json={}, headers=headers)).json()["id"]
            answers.append(await service.client.post(f"/v1/sessions/{theirs}/messages", json=named, headers=headers))
        for data, media_type in (
            (b"%PDF-1.7", "application/pdf"),
            (b"GIF89a", "image/gif"),
            (bytes(MOST_IMAGE_BYTES + 1), "image/png"),
        ):
            refusals[media_type] = await attach(service, session, data, media_type)
        kept = await service.client.get(f"{path}/{image}")
        second = await attached(service, session, picture())
        listed = (await service.client.get(path)).json()["items"]
        before = objects.keys(f"{workspace_id}/attachments/")
        deleted = await service.client.delete(f"{path}/{second}")
        gone = await service.client.get(f"{path}/{second}")
        run = await service.ask(session, QUESTION, attachment_ids=[image])
        await service.events(run["id"])
        unseen = (await service.run(run["id"]))["answer"]["content"]
        receipt = (await service.client.delete(f"/v1/sessions/{session}")).json()
    left = objects.keys(f"{workspace_id}/attachments/")
    objects.close()
    assert {answer.status_code for answer in answers} == {404}
    assert [one.status_code for one in refusals.values()] == [415, 422, 413]
    assert "upload other files as documents" in refusals["application/pdf"].json()["title"]
    assert (kept.status_code, kept.headers["content-type"]) == (200, "image/png")
    assert b"script" not in kept.content
    assert [one["id"] for one in listed] == [image, second]
    assert all(datetime.fromisoformat(one["created_at"]).tzinfo for one in listed)
    assert "no model is configured for the role `vision`" in unseen
    assert (len(before), deleted.status_code, gone.status_code, left) == (2, 204, 404, [])
    assert (receipt["removed"]["attachments"], receipt["remaining"]["attachments"]) == (1, 0)


async def test_images_without_a_message_are_deleted_after_a_day(start: Any, settings: Any, workspace_id: UUID) -> None:
    async with start(settings) as service:
        session = await service.session()
        shown, unused, untold, new = [await attached(service, session, picture()) for _ in range(4)]
        for image in (shown, untold):
            run = await service.ask(session, QUESTION, attachment_ids=[image])
            await service.events(run["id"])
        await service.client.delete(f"/v1/messages/{run['question_id']}")
        url = settings.database_url.get_secret_value()
        async with await psycopg.AsyncConnection.connect(url, options="-c app.scope=system") as connection:
            await connection.execute(
                "UPDATE attachment SET created_at = now() - interval '25 hours' WHERE id = ANY(%s::uuid[])",
                ([shown, unused, untold],),
            )
        database, objects = Database(url, 1), ObjectStore(settings)
        async with database.opened():
            await ImageKeeping(database, objects, ImageDecoder(ImageLimits())).erase_expired()
        left = objects.keys(f"{workspace_id}/attachments/")
        objects.close()
        listed = (await service.client.get(f"/v1/sessions/{session}/attachments")).json()["items"]
    assert [one["id"] for one in listed] == [shown, new]
    assert {key.rpartition("/")[2] for key in left} == {shown, new}


async def test_an_object_store_outage_is_reported_and_the_answer_continues_without_the_image(
    start: Any, model_settings: Any, world: Any, unused_port: int
) -> None:
    world.scripted["from the images that the user shows"] = SEEN
    async with start(model_settings) as service:
        session = await service.session()
        image = await attached(service, session, picture())
        first = await service.ask(session, QUESTION, attachment_ids=[image])
        await service.events(first["id"])
    away = model_settings.model_copy(update={"s3_endpoint": f"127.0.0.1:{unused_port}"})
    async with start(away) as service:
        refused = await attach(service, session, picture())
        runs = []
        for asked in ({}, {"attachment_ids": [image]}):
            run = await service.ask(session, "How long are tokens valid?", **asked)
            await service.events(run["id"])
            runs.append(await service.run(run["id"]))
        listed = (await service.client.get(f"/v1/sessions/{session}/attachments")).json()["items"]
    answers = [run["answer"]["content"] for run in runs]
    assert (refused.status_code, [one["id"] for one in listed]) == (503, [image])
    assert answers[0].startswith("Tokens expire after fifteen minutes [1].")
    assert answers[1].startswith("I cannot see images here")
    assert ["image" in run["issues"][0] for run in runs] == [True, True]


async def test_an_image_that_needs_too_much_memory_is_refused_and_the_next_one_is_accepted() -> None:
    """Decodes a file of a few kB with some 250 MB of pixels in a walled process."""
    decoder = ImageDecoder(ImageLimits(memory_bytes=160 << 20, seconds=120.0))
    try:
        with pytest.raises(ImageTooLarge, match="memory"):
            await decoder.decode(SentImage("image/png", picture((7_000, 7_000), "P")))
        kept = await decoder.decode(SentImage("image/png", picture()))
    finally:
        await decoder.aclose()
    assert (kept.width, kept.height) == (8, 6)


async def test_an_image_is_refused_if_its_decoder_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kills it as the kernel does when the machine runs out of memory."""
    decoder = ImageDecoder(ImageLimits())

    def killed(process: SandboxedProcess, _: bytes) -> None:
        process._server.forget(process.pid)

    try:
        with monkeypatch.context() as patched:
            patched.setattr(SandboxedProcess, "send", killed)
            with pytest.raises(ImageTooLarge, match="memory or time"):
                await decoder.decode(SentImage("image/png", picture()))
        assert (await decoder.decode(SentImage("image/png", picture()))).height == 6
    finally:
        await decoder.aclose()
