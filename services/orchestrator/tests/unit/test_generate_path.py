"""Where a turn goes: by what the message says beside its words, by rules, or by a model. No network."""

from __future__ import annotations

import asyncio
import json
from types import SimpleNamespace
from typing import Any

import pytest

from inference.chat import ChatDelta
from inference.errors import ProviderUnavailable
from orchestrator.graphs.conversation.context import Prompts
from orchestrator.graphs.conversation.nodes.generate_path import generate_path

ARTIFACT = {"index": 1, "kind": "markdown", "title": "T", "text": "# T", "citations": [], "language": None}
WITH, WITHOUT = {"reply", "rewrite_artifact", "update_artifact", "world"}, {"reply", "generate_artifact", "world"}
UNSURE = "hmm, the tone here"


class Classifier:
    """Answers with a route, or fails; keeps the routes that it could choose among."""

    def __init__(self, answer: str | Exception) -> None:
        self.answer, self.offered = answer, list[set[str]]()

    async def stream_structured(self, _messages: Any, schema: Any, **_: Any) -> Any:
        self.offered.append(set(schema.schema["properties"]["route"]["enum"]))
        if isinstance(self.answer, Exception):
            raise self.answer
        yield ChatDelta(text=json.dumps({"route": self.answer}))
        yield ChatDelta(finish_reason="stop")


def routed(
    classifier: Classifier | None, question: str, *, artifact: Any = None, routing: str = "model", **options: Any
) -> tuple[dict[str, Any], list[Any]]:
    """Returns what the node writes, and its events."""
    events: list[Any] = []
    context = SimpleNamespace(
        options=options,
        models=SimpleNamespace(of=lambda _: classifier),
        artifact=artifact,
        routing=routing,
        events=SimpleNamespace(emit=events.append),
        prompts=Prompts.load(),
    )
    state = {"internal_messages": [{"id": "q", "role": "user", "content": question}], "question": question}
    runtime = SimpleNamespace(context=context)
    return asyncio.run(generate_path(state, runtime)), events  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("action", "params"),
    [
        ("update_highlighted_text", {"version": 1, "start": 0, "end": 3, "text": "# T"}),
        ("rewrite_artifact_theme", {"language": "german"}),
        ("rewrite_code_artifact_theme", {"fix_bugs": True}),
        ("custom_action", {"name": "tldr", "prompt": "Shorten"}),
        ("rewrite_artifact", None),
    ],
)
@pytest.mark.parametrize("question", [UNSURE, "Thanks!", "What is it?"])
def test_explicit_options_of_a_message_decide_before_any_model(action: str, params: Any, question: str) -> None:
    classifier = Classifier("reply")
    update, _ = routed(classifier, question, artifact=ARTIFACT, artifact_action=action, artifact_action_params=params)
    assert (update["next"], update["artifact_action"], update["artifact_action_params"]) == ("retrieve", action, params)
    assert update["artifact"] is ARTIFACT
    assert update["rag_route_debug"]["by"] == "flag"
    assert classifier.offered == []


@pytest.mark.parametrize(
    ("artifact", "valid", "chosen"),
    [
        (None, WITHOUT, "generate_artifact"),
        (ARTIFACT, WITH, "rewrite_artifact"),
        (ARTIFACT, WITH, "update_artifact"),
        (None, WITHOUT, "reply"),
        (ARTIFACT, WITH, "reply"),
    ],
)
def test_a_model_chooses_among_the_currently_valid_routes(artifact: Any, valid: set[str], chosen: str) -> None:
    classifier = Classifier(chosen)
    update, _ = routed(classifier, UNSURE, artifact=artifact)
    assert classifier.offered == [valid]
    assert update.get("artifact_action") == (None if chosen == "reply" else chosen)
    assert (update["next"], update["rag_route_debug"]["by"]) == ("retrieve", "model")


@pytest.mark.parametrize("artifact", [None, ARTIFACT])
@pytest.mark.parametrize("answer", [ProviderUnavailable("away"), "delete_everything", "update_highlighted_text"])
def test_if_the_model_fails_or_names_an_invalid_route_the_default_changes_nothing(artifact: Any, answer: Any) -> None:
    update, events = routed(Classifier(answer), UNSURE, artifact=artifact)
    assert "artifact_action" not in update
    assert update["rag_route_debug"] == {"path": "retrieve", "is_courtesy": False, "route": "reply", "by": "default"}
    assert "no route was chosen" in update["issues"][0]
    assert [one.message for one in events] == update["issues"]


def test_a_route_for_the_other_artifact_state_is_not_taken() -> None:
    assert "artifact_action" not in routed(Classifier("update_artifact"), UNSURE)[0]
    assert "artifact_action" not in routed(Classifier("generate_artifact"), UNSURE, artifact=ARTIFACT)[0]


def test_no_model_is_called_if_the_rules_are_sure_or_decide_alone() -> None:
    classifier = Classifier("reply")
    sure, _ = routed(classifier, "make it shorter", artifact=ARTIFACT, routing="auto")
    unsure, _ = routed(classifier, UNSURE, artifact=ARTIFACT, routing="rules")
    assert (sure["artifact_action"], unsure.get("artifact_action")) == ("rewrite_artifact", None)
    assert classifier.offered == []


def test_a_wish_about_the_world_state_that_the_rules_do_not_understand_is_left_to_the_model() -> None:
    told = "From now on our main goal is that we ship in May."
    classifier = Classifier("world")
    update, _ = routed(classifier, told, routing="auto")
    assert (update["next"], update["rag_route_debug"]["by"]) == ("world_modifier", "model")
    assert "artifact_action" not in update
    assert routed(classifier, "How do we set our goals?", routing="auto")[0]["next"] == "retrieve"
    assert routed(classifier, told, routing="rules")[0]["next"] == "retrieve"
    assert routed(None, told, routing="auto")[0]["next"] == "retrieve"
    assert routed(Classifier(ProviderUnavailable("away")), told, routing="auto")[0]["next"] == "retrieve"
    assert len(classifier.offered) == 1
