"""What models make of sentences that the rules leave open or find wrong, over HTTP."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

WRONG = "Tokens expire after 45 minutes [1]. The UserDB keeps the accounts [1]."
BARE = "Tokens expire after 45 minutes. The UserDB keeps the accounts [1]."
RIGHT = "Tokens expire after fifteen minutes [1]. The UserDB keeps the accounts [2]."


async def answered(start: Any, settings: Any) -> tuple[dict[str, Any], list[Any]]:
    async with start(settings) as service:
        run = await service.ask(await service.session())
        events = await service.events(run["id"])
        return await service.run(run["id"]), events


def statuses_of(run: dict[str, Any]) -> list[tuple[str, str]]:
    content = run["answer"]["content"]
    return [(one["status"], content[one["start"] : one["end"]]) for one in run["answer"]["sentences"]]


async def test_a_contradicted_sentence_is_rewritten_from_its_sources(
    start: Any, model_settings: Any, world: Any
) -> None:
    world.answer, world.rewritten = [WRONG], "1. Tokens expire after fifteen minutes [7].\n2. Penguins swim."
    run, events = await answered(start, model_settings)
    assert run["answer"]["content"] == RIGHT
    assert statuses_of(run) == [
        ("verified", "Tokens expire after fifteen minutes [1]."),
        ("verified", "The UserDB keeps the accounts [2]."),
    ]
    first, second = run["answer"]["sentences"]
    assert (first["instead_of"], second["instead_of"]) == ("Tokens expire after 45 minutes.", None)
    assert [one["quote"] for one in run["answer"]["citations"]] == [
        "Tokens expire after fifteen minutes.",
        "The UserDB keeps the accounts.",
    ]
    prompts = [chat["messages"][0]["content"] for chat in world.chats if "contradicts" in str(chat["messages"][0])]
    assert len(prompts) == 1
    assert "<sentence>Tokens expire after 45 minutes.</sentence>" in prompts[0]
    completed = next(event for event in events if event.name == "message_completed")
    assert completed.data["content"] == RIGHT
    assert completed.data["sentences"] == run["answer"]["sentences"]


@pytest.mark.parametrize(
    "rewritten",
    [
        "Tokens expire after fifteen minutes.",
        "1. Tokens expire after 60 minutes.",
        "1. Penguins swim in the sea at night.",
        "1. Tokens `expire after fifteen minutes.",
        "1. Tokens expire after fifteen minutes. Tokens never expire.",
        "2. Tokens expire after fifteen minutes.",
        "1. | Tokens expire after fifteen minutes |",
    ],
)
async def test_a_contradicted_sentence_without_a_better_version_is_removed_and_shown_to_the_reader(
    start: Any, model_settings: Any, world: Any, rewritten: str
) -> None:
    world.answer, world.rewritten = [WRONG], rewritten
    run, _ = await answered(start, model_settings)
    assert run["answer"]["content"] == BARE
    assert [status for status, _ in statuses_of(run)] == ["contradicted", "verified"]
    assert run["answer"]["sentences"][0]["instead_of"] is None
    assert run["issues"] == []


@pytest.mark.parametrize("rewritten", [None, ""])
async def test_a_failed_rewrite_is_only_an_issue(
    start: Any, model_settings: Any, world: Any, rewritten: str | None
) -> None:
    world.answer, world.rewritten = [WRONG], rewritten
    run, events = await answered(start, model_settings)
    assert (run["status"], run["answer"]["content"]) == ("completed", BARE)
    assert [status for status, _ in statuses_of(run)] == ["contradicted", "verified"]
    assert len(run["issues"]) == 1
    assert "not rewritten" in run["issues"][0]
    assert [event.data["message"] for event in events if event.name == "issue"] == run["issues"]


@pytest.fixture
def entailment_settings(model_settings: Any, others: str) -> Any:
    return model_settings.model_copy(
        update={"entailment_backend": "tei", "entailment_base_url": f"{others}/entailment"}
    )


PARAPHRASE = "Whoever signs in must do so again a quarter of an hour later, as tokens expire."


@pytest.mark.parametrize("marker", [" [1]", ""])
async def test_a_paraphrase_that_the_source_entails_is_verified_and_cited(
    start: Any, entailment_settings: Any, world: Any, marker: str
) -> None:
    world.answer, world.entails = [f"{PARAPHRASE[:-1]}{marker}."], lambda _: "entailment"
    run, _ = await answered(start, entailment_settings)
    (sentence,) = run["answer"]["sentences"]
    assert statuses_of(run) == [("verified", f"{PARAPHRASE[:-1]} [1].")]
    assert sentence["attributed"] is (not marker)
    assert "entailment" in sentence["reason"]
    ((premise, hypothesis),) = world.compared
    assert hypothesis == PARAPHRASE
    assert "Tokens expire after fifteen minutes." in premise


async def test_a_sentence_contradicted_by_the_model_loses_its_marker(
    start: Any, entailment_settings: Any, world: Any
) -> None:
    world.answer, world.entails = [f"{PARAPHRASE[:-1]} [1]."], lambda _: "contradiction"
    run, _ = await answered(start, entailment_settings)
    assert statuses_of(run) == [("contradicted", PARAPHRASE)]
    assert run["answer"]["citations"] == []


async def test_a_verbatim_sentence_is_verified_without_the_entailment_model(
    start: Any, entailment_settings: Any, world: Any
) -> None:
    world.entails = lambda _: "contradiction"
    world.answer = ["Tokens expire after fifteen minutes [1]."]
    run, _ = await answered(start, entailment_settings)
    assert [status for status, _ in statuses_of(run)] == ["verified"]
    assert world.compared == []


async def test_without_the_entailment_model_the_rules_decide(start: Any, entailment_settings: Any, world: Any) -> None:
    world.answer, world.entails = [f"{PARAPHRASE[:-1]} [1]."], lambda _: "LABEL_1"
    run, _ = await answered(start, entailment_settings)
    assert statuses_of(run) == [("unclear", f"{PARAPHRASE[:-1]} [1].")]
    assert ["rules alone" in issue for issue in run["issues"]] == [True]


async def test_a_process_killed_during_the_check_leaves_it_to_the_next(
    start: Any, model_settings: Any, world: Any
) -> None:
    checking = asyncio.Event()

    async def forever() -> None:
        checking.set()
        await asyncio.Event().wait()

    world.answer, world.rewritten, world.rewrite_pace = [WRONG], "1. Tokens expire after fifteen minutes.", forever
    async with start(model_settings) as service:
        run = await service.ask(await service.session())
        await checking.wait()
    world.rewrite_pace = None
    async with start(model_settings) as service, asyncio.timeout(120):
        await service.events(run["id"])
        ended = await service.run(run["id"])
    assert (ended["status"], ended["answer"]["content"]) == ("completed", RIGHT)
    assert [status for status, _ in statuses_of(ended)] == ["verified", "verified"]
    assert len(world.searches) == 1


async def test_a_run_cancelled_during_the_check_keeps_its_text_and_the_results_of_the_rules(
    start: Any, model_settings: Any, world: Any
) -> None:
    checking = asyncio.Event()

    async def forever() -> None:
        checking.set()
        await asyncio.Event().wait()

    world.answer, world.rewrite_pace = [WRONG], forever
    async with start(model_settings) as service, asyncio.timeout(120):
        run = await service.ask(await service.session())
        await checking.wait()
        await service.client.post(f"/v1/runs/{run['id']}/cancel")
        await service.events(run["id"])
        ended = await service.run(run["id"])
    assert (ended["status"], ended["answer"]["content"]) == ("cancelled", BARE)
    assert [status for status, _ in statuses_of(ended)] == ["contradicted", "verified"]
