"""World documents: defaults and repair."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.world import WorldDocument
from memory.world.document import defaults, repaired

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
NAMED = st.dictionaries(st.sampled_from(sorted(defaults())) | st.text(max_size=8), JSON, max_size=6)


def test_a_new_world_state_has_a_default_for_every_field() -> None:
    document = defaults()
    assert WorldDocument.model_validate(document) == WorldDocument()
    assert {"project", "goals", "rules", "topics", "identity", "timezone", "open_questions"} < document.keys()
    assert not repaired(document).needed


def test_missing_or_malformed_fields_get_defaults_and_valid_fields_are_kept() -> None:
    raw = {
        "schema_version": 1,
        "project": {"name": "Apollo", "summary": 7, "status": None},
        "goals": ["Land", 7, "Land", "", "Return"],
        "topics": "moon",
        "rules": ["Ask first"],
        "timezone": "Moon/Crater",
        "identity": ["nobody"],
        "extra": {"owner": "Mara"},
    }
    repair = repaired(raw)
    document = repair.document
    assert document["project"] == {"name": "Apollo", "summary": None, "status": None}
    assert (document["goals"], document["rules"], document["topics"]) == (["Land", "Return"], ["Ask first"], [])
    assert (document["timezone"], document["extra"]) == ("UTC", {"owner": "Mara"})
    assert document["identity"] == defaults()["identity"]
    assert repair.malformed.keys() == {"/goals", "/identity", "/project/summary", "/timezone", "/topics"}
    assert repair.malformed["/topics"] == "moon"
    assert repair.missing == ["/decisions", "/open_questions"]


def test_a_field_unknown_to_the_schema_is_kept_in_extra() -> None:
    repair = repaired({**defaults(), "mood": "calm"})
    assert repair.document["extra"] == {"mood": "calm"}
    assert repair.repairs == ["/mood was malformed"]


@pytest.mark.parametrize("raw", [None, [], "text", 7], ids=str)
def test_a_value_that_is_not_an_object_becomes_the_default(raw: Any) -> None:
    repair = repaired(raw)
    assert (repair.document, repair.malformed) == (defaults(), {"/": raw})


@given(raw=NAMED | JSON)
def test_any_stored_document_is_repaired_once_and_keeps_every_valid_field(raw: Any) -> None:
    repair = repaired(raw)
    whole = WorldDocument.model_validate(repair.document).model_dump(mode="json")
    assert whole == repair.document
    assert not repaired(repair.document).needed
    if isinstance(raw, dict):
        for name in whole.keys() & raw.keys() - {"extra", "schema_version"}:
            if f"/{name}" not in repair.malformed and not isinstance(whole[name], dict):
                assert whole[name] == raw[name]
