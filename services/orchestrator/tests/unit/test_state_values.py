"""What a graph's state may hold: plain values, which a checkpoint keeps as they are."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints, is_typeddict

from orchestrator.checkpoints import _plain_values
from orchestrator.graphs.conversation.context import ConversationContext
from orchestrator.graphs.conversation.state import TRANSIENT, State

PLAIN = (str, int, float, bool, type(None))


def live(kind: Any) -> list[Any]:
    """Returns the types within `kind` that are more than values: those of objects with a life of their own."""
    origin = get_origin(kind)
    if is_typeddict(kind):
        return [one for field in get_type_hints(kind).values() for one in live(field)]
    if origin is Literal:
        return [value for value in get_args(kind) if not isinstance(value, PLAIN)]
    if origin is Annotated:
        return live(get_args(kind)[0])
    if origin is not None:  # list[...], dict[...], tuple[...] and unions
        parts = [one for one in get_args(kind) if one is not Ellipsis]
        return [found for part in parts for found in live(part)]
    return [] if kind in PLAIN or kind is Any else [kind]


def test_no_state_holds_a_live_object() -> None:
    assert {name: live(kind) for name, kind in get_type_hints(State, include_extras=True).items() if live(kind)} == {}
    assert live(ConversationContext) == [ConversationContext]  # the emitter's place is beside the state
    assert "events" not in get_type_hints(State)


def test_a_state_survives_a_checkpoint_unchanged() -> None:
    state = {
        **TRANSIENT,
        "messages": [{"id": "1", "role": "user", "content": "naïve \u202e 😀"}],
        "cited": [{"number": 1}],
    }
    serialiser = _plain_values()
    assert serialiser.loads_typed(serialiser.dumps_typed(state)) == state == json.loads(json.dumps(state))
