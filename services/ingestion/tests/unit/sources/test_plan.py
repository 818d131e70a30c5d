"""The plan of a synchronisation, without a source."""

from __future__ import annotations

from uuid import uuid4

from hypothesis import given
from hypothesis import strategies as st

from ingestion.sources.plan import KnownFile, make_plan, missing
from ingestion.sources.source import Gap, Item

MAX_BYTES = 1000


def item(path: str, fingerprint: str | None = "1", size: int | None = 10) -> Item:
    return Item(path, fingerprint, None, path, size)


def known(path: str, fingerprint: str | None = "1", *, excluded: bool = False, missing: bool = False) -> KnownFile:
    return KnownFile(uuid4(), path, None if excluded else uuid4(), fingerprint, "hash", excluded, missing)


def test_only_new_and_changed_files_are_read() -> None:
    before = {one.path: one for one in (known("same"), known("changed", "0"), known("unsure", None), known("gone"))}
    listed = [item("new"), item("same"), item("changed"), item("unsure", None)]
    plan = make_plan(listed, before, MAX_BYTES)
    assert [(one.item.path, one.is_new) for one in plan.wanted] == [
        ("changed", False),
        ("new", True),
        ("unsure", False),
    ]
    assert [one.path for one in plan.unchanged] == ["same"]
    assert [one.path for one in missing(before, ["new", "same", "changed", "unsure"], [])] == ["gone"]


def test_a_file_whose_document_a_user_deleted_stays_deleted_even_if_changed() -> None:
    plan = make_plan([item("a", "2")], {"a": known("a", "1", excluded=True)}, MAX_BYTES)
    assert not plan.wanted
    assert [one.path for one in plan.excluded] == ["a"]


def test_files_of_unacceptable_size_are_refused_without_reading() -> None:
    plan = make_plan([item("a", size=0), item("b", size=MAX_BYTES + 1), item("c" * 2001)], {}, MAX_BYTES)
    assert [refusal.slug for _, refusal in plan.refused] == ["empty-file", "too-large", "path-too-long"]
    assert not plan.wanted


def test_a_missing_file_that_reappears_unchanged_is_not_read() -> None:
    plan = make_plan([item("a")], {"a": known("a", missing=True)}, MAX_BYTES)
    assert not plan.wanted
    assert len(plan.unchanged) == 1


def test_files_in_an_unlisted_area_are_not_treated_as_deleted() -> None:
    before = {path: known(path) for path in ("docs/a", "docs/b", "other")}
    assert [one.path for one in missing(before, ["docs/a"], [Gap("docs/", "away")])] == ["other"]
    assert missing(before, [], [Gap("", "away")]) == []


@given(st.sets(st.sampled_from("abcdefgh")), st.sets(st.sampled_from("abcdefgh")))
def test_each_file_is_in_exactly_one_list(there: set[str], taken: set[str]) -> None:
    before = {path: known(path) for path in taken}
    plan = make_plan([item(path) for path in there], before, MAX_BYTES)
    listed = [one.item.path for one in plan.wanted] + [one.path for one in plan.unchanged]
    gone = [one.path for one in missing(before, there, [])]
    assert sorted(listed) == sorted(there)
    assert set(gone) == taken - there
