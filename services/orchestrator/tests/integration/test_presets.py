"""Presets: who makes them, and what answers make of them on the routes of the OpenAI API."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import openai
import pytest

from contracts.gateway import Role

PRESETS = "/v1/presets"
ASKED: Any = [{"role": "user", "content": "How long are tokens valid?"}]
SOURCE = "00000000-0000-4000-8000-00000000000a"


async def put(service: Any, name: str, scope: str = "user", headers: dict[str, str] | None = None, **body: Any) -> Any:
    return await service.client.put(f"{PRESETS}/{name}", params={"scope": scope}, json=body, headers=headers)


async def test_answers_follow_the_preset(start: Any, model_settings: Any, world: Any, sdk: Any) -> None:
    limits = {"document_ids": [SOURCE], "source_ids": [SOURCE], "tags": ["law"]}
    async with start(model_settings) as service, sdk(service) as client:
        made = await put(
            service,
            "terse",
            instructions="Be brief. Do not check citations.",
            temperature=0.7,
            roles={"answer": [{"provider": "operator", "model": "large"}]},
            **limits,
        )
        assert made.status_code == 200, made.text
        completion = await client.chat.completions.create(model="attractor/terse", messages=ASKED)
        response = await client.responses.create(model="attractor/terse", input="And?", instructions="In French.")
        listed = [model.id async for model in client.models.list()]
        read = await client.models.retrieve("attractor/terse")
    chat, second = world.chats
    assert "Be brief." in chat["messages"][0]["content"]
    assert "Be brief. Do not check citations.\n\nIn French." in second["messages"][0]["content"]
    assert (chat["model"], chat["temperature"]) == ("large", 0.7)
    search = world.searches[0][0]
    assert search["document_ids"] == [SOURCE]
    assert (search["source_ids"], search["tags"]) == ([SOURCE], ["law"])
    # Instructions do not switch the check of citations off: the marker that stands for nothing is gone.
    assert completion.choices[0].message.content.startswith("Tokens expire after fifteen minutes [1]. Also.")
    assert response.output_text == "Tokens expire after fifteen minutes [1]. Also."
    assert listed == ["attractor", "attractor-plain", "attractor/terse"]
    assert read.id == "attractor/terse"


async def test_a_preset_of_the_user_takes_precedence_over_one_of_the_workspace(
    start: Any, model_settings: Any, world: Any, sdk: Any, other_user: dict[str, str]
) -> None:
    async with start(model_settings) as service, sdk(service) as client, sdk(service, other_user) as other:
        assert (await put(service, "tone", "workspace", instructions="Of the workspace.")).status_code == 200
        assert (await put(service, "tone", instructions="Of mine.")).status_code == 200
        items = (await service.client.get(PRESETS)).json()["items"]
        theirs = (await service.client.get(PRESETS, headers=other_user)).json()["items"]
        for one in (client, other):
            await one.chat.completions.create(model="attractor/tone", messages=ASKED)
        gone = await service.client.delete(f"{PRESETS}/tone", params={"scope": "user"})
        left = (await service.client.get(f"{PRESETS}/tone")).json()
    assert [(one["name"], one["scope"]) for one in items] == [("tone", "user"), ("tone", "workspace")]
    assert [one["scope"] for one in theirs] == ["workspace"]
    prompts = [chat["messages"][0]["content"] for chat in world.chats]
    assert "Of mine." in prompts[0]
    assert "Of the workspace." in prompts[1]
    assert gone.status_code == 204
    assert left["scope"] == "workspace"


async def test_the_preset_decides_about_footnotes_unless_the_request_does(
    start: Any, model_settings: Any, sdk: Any
) -> None:
    async with start(model_settings) as service, sdk(service) as client:
        made = await put(service, "bare", footnotes=False)
        assert (made.status_code, made.json()["footnotes"]) == (200, False)

        async def text(**more: Any) -> str:
            whole = await client.chat.completions.create(model="attractor/bare", messages=ASKED, **more)
            stream = await client.chat.completions.create(model="attractor/bare", messages=ASKED, stream=True, **more)
            streamed = "".join([chunk.choices[0].delta.content or "" async for chunk in stream])
            assert streamed == whole.choices[0].message.content
            return streamed

        bare, asked = await text(), await text(metadata={"footnotes": "true"})
    assert "Sources:" not in bare
    assert asked.startswith(f"{bare}\n\nSources:\n- [1] ")


async def test_presets_of_other_users_are_not_found(
    start: Any, model_settings: Any, sdk: Any, other_user: dict[str, str], auth_headers: Callable[..., dict[str, str]]
) -> None:
    elsewhere = auth_headers(role=Role.owner, workspace_id=uuid4())
    async with start(model_settings) as service:
        await put(service, "mine", instructions="x")
        await put(service, "ours", "workspace", instructions="x")
        for headers, name in ((other_user, "mine"), (elsewhere, "mine"), (elsewhere, "ours")):
            assert (await service.client.get(f"{PRESETS}/{name}", headers=headers)).status_code == 404
            assert (await service.client.delete(f"{PRESETS}/{name}", headers=headers)).status_code == 404
            async with sdk(service, headers) as client:
                with pytest.raises(openai.NotFoundError) as unknown:
                    await client.chat.completions.create(model=f"attractor/{name}", messages=ASKED)
            assert unknown.value.code == "model_not_found"
        viewer = auth_headers(role=Role.viewer)
        refused = [
            await put(service, "ours", "workspace", viewer, instructions="y"),
            await service.client.delete(f"{PRESETS}/ours", params={"scope": "workspace"}, headers=viewer),
        ]
        kept = (await service.client.get(f"{PRESETS}/ours")).json()
    assert {one.status_code for one in refused} == {403}
    assert kept["instructions"] == "x"


async def test_an_invalid_preset_is_refused(start: Any, model_settings: Any) -> None:
    bad: list[dict[str, Any]] = [
        {"temperature": 3},
        {"instructions": ""},
        {"roles": {"hearing": [{"provider": "operator", "model": "small"}]}},
        {"roles": {"answer": [{"provider": "operator", "model": "huge"}]}},
        {"roles": {"answer": [{"provider": "other", "model": "small"}]}},
        {"unknown": 1},
        {},
        {"roles": {}},
    ]
    async with start(model_settings) as service:
        for body in bad:
            assert (await put(service, "bad", **body)).status_code == 422, body
        assert (await put(service, "NotAName")).status_code == 422
        assert (await service.client.get(PRESETS)).json()["items"] == []
