"""Typed operations: what each does, which paths the schema allows, and that events can be undone."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from contracts.world import WorldOperation
from memory.errors import WorldOperationFailed, WorldOperationInvalid
from memory.world.difference import differences, leading_to
from memory.world.document import defaults
from memory.world.operations import apply, undo

TEXTS = st.sampled_from(["moon", "mars", "a/b", "~"])
OPERATIONS = st.one_of(
    st.builds(lambda path, value: ("add", path, value), st.sampled_from(["/topics", "/goals", "/extra/list"]), TEXTS),
    st.builds(lambda path, value: ("remove", path, value), st.sampled_from(["/topics", "/extra/list"]), TEXTS),
    st.builds(lambda path, value: ("set", path, value), st.sampled_from(["/project/name", "/extra/a/b"]), TEXTS),
    st.builds(lambda value: ("merge", "/extra", {value: value, "a": None}), TEXTS),
    st.builds(lambda value: ("set", "/topics", [value]), TEXTS),
    st.just(("remove", "/project/name")),
    st.just(("remove", "/extra/a")),
)


def operation(op: str, path: str, *value: Any) -> WorldOperation:
    return WorldOperation.model_validate({"op": op, "path": path, **({"value": value[0]} if value else {})})


def after(*operations: tuple[Any, ...], document: dict[str, Any] | None = None) -> dict[str, Any]:
    return apply(document or defaults(), [operation(*one) for one in operations]).document


def test_each_operation_has_its_documented_effect() -> None:
    document = after(
        ("set", "/project/name", "Apollo"),
        ("add", "/topics", "moon"),
        ("add", "/topics", "mars"),
        ("add", "/topics", "moon"),
        ("remove", "/topics", "mars"),
        ("merge", "/identity", {"user_name": "Mara", "language": "de"}),
        ("merge", "/identity", {"language": None}),
        ("set", "/extra/budget/year", 2026),
        ("merge", "/extra", {"budget": {"month": 5}}),
        ("add", "/extra/tags", "x"),
        ("test", "/project/name", "Apollo"),
        ("set", "/timezone", "Europe/Berlin"),
    )
    assert (document["project"]["name"], document["topics"]) == ("Apollo", ["moon"])
    assert document["identity"]["user_name"] == "Mara"
    assert document["identity"]["language"] is None
    assert document["extra"] == {"budget": {"year": 2026, "month": 5}, "tags": ["x"]}
    assert after(("remove", "/timezone"), document=document)["timezone"] == "UTC"
    assert after(("remove", "/extra/budget/year"), document=document)["extra"]["budget"] == {"month": 5}


@pytest.mark.parametrize(
    "wrong",
    [
        ("set", "/mood", "calm"),
        ("set", "/schema_version", 2),
        ("set", "/project/colour", "red"),
        ("set", "/project/name/first", "A"),
        ("set", "/topics/0", "moon"),
        ("set", "/topics", "moon"),
        ("set", "/topics", ["moon", "moon"]),
        ("set", "/project/name", 7),
        ("set", "/timezone", "Moon/Crater"),
        ("set", "/project/name"),
        ("add", "/project", "moon"),
        ("add", "/extra", "moon"),
        ("add", "/topics", {"not": "text"}),
        ("add", "/topics", ""),
        ("merge", "/topics", {}),
        ("merge", "/identity", "text"),
        ("merge", "/identity", {"colour": "red"}),
        ("remove", "/topics"),
        ("set", "/extra/big", "x" * 300_000),
    ],
    ids=lambda wrong: f"{wrong[0]} {wrong[1]}",
)
def test_a_path_or_value_that_violates_the_schema_is_refused(wrong: tuple[Any, ...]) -> None:
    with pytest.raises(WorldOperationInvalid, match=r"^operation 2 "):
        after(("add", "/topics", "moon"), wrong)


@pytest.mark.parametrize(
    "unfit",
    [
        ("test", "/project/name", "Apollo"),
        ("test", "/extra/count", True),
        ("remove", "/topics", "moon"),
        ("remove", "/extra/nothing"),
        ("remove", "/extra/count", 1),
        ("add", "/extra/count", 1),
        ("merge", "/extra/count", {}),
        ("set", "/extra/count/deep", 1),
    ],
    ids=lambda unfit: f"{unfit[0]} {unfit[1]}",
)
def test_an_operation_that_does_not_fit_the_state_fails(unfit: tuple[Any, ...]) -> None:
    with pytest.raises(WorldOperationFailed, match=r"^operation 2 "):
        after(("set", "/extra/count", 1), unfit)


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), "a\x00b", {"a\x07": 1}, 2**70, "[" * 3 + "\ud800"], ids=ascii
)
def test_a_value_that_cannot_be_stored_is_refused(value: Any) -> None:
    with pytest.raises(ValidationError):
        operation("set", "/extra/x", value)


def test_a_value_nested_too_deeply_is_refused() -> None:
    value: Any = 1
    for _ in range(40):
        value = [value]
    with pytest.raises(ValidationError, match="levels deep"):
        operation("set", "/extra/x", value)


@given(changes=st.lists(OPERATIONS, max_size=12))
def test_undoing_operations_in_reverse_restores_every_version(changes: list[tuple[Any, ...]]) -> None:
    versions, effects = [defaults()], []
    for change in changes:
        try:
            applied = apply(versions[-1], [operation(*change)])
        except WorldOperationFailed:
            continue
        for effect in applied.effects:
            effects.append(effect)
            versions.append(applied.document)
    document = versions.pop()
    while effects:
        effect = effects.pop()
        document = undo(document, effect.touched, effect.previous, effect.existed)
        assert document == versions.pop()


@given(one=st.lists(OPERATIONS, max_size=8), other=st.lists(OPERATIONS, max_size=8))
def test_applying_the_operations_of_a_diff_yields_the_other_document(
    one: list[tuple[Any, ...]], other: list[tuple[Any, ...]]
) -> None:
    before, now = (_reached(changes) for changes in (one, other))
    assert apply(before, leading_to(before, now)).document == now
    assert bool(differences(before, now)) == (before != now)


def _reached(changes: list[tuple[Any, ...]]) -> dict[str, Any]:
    document = defaults()
    for change in changes:
        try:
            document = apply(document, [operation(*change)]).document
        except WorldOperationFailed:
            continue
    return document
