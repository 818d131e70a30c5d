"""What is done to the text of an artifact: outside of what is changed, nothing changes."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.artifacts.differences import changes
from orchestrator.artifacts.packing import packed, packed_changes, unpacked
from orchestrator.artifacts.texts import EditsNotApplicable, apply_edits, diff, find_span, merge, splice

PIECES = ["One. ", "Two.\n", "\r\n", "$& ", "\\1", "🦙", "é", "e\u0301", "- item\n", "```\n", "\t", "word "]
texts = st.lists(st.sampled_from(PIECES), max_size=40).map("".join) | st.text(max_size=60)
REPORT = "The plan is sound. It costs much.\n\nWe begin in May. We end in June.\n"


@dataclass(frozen=True)
class Edit:
    find: str
    replace: str


@st.composite
def spans(draw: st.DrawFn) -> tuple[str, int, int]:
    text = draw(texts)
    start = draw(st.integers(0, len(text)))
    return text, start, draw(st.integers(start, len(text)))


@given(spans(), texts)
def test_replacing_a_span_changes_nothing_outside_it(span: tuple[str, int, int], replacement: str) -> None:
    text, start, end = span
    spliced = splice(text, start, end, replacement)
    assert spliced[:start] == text[:start]
    assert spliced[start : start + len(replacement)] == replacement
    assert spliced[start + len(replacement) :] == text[end:]


@pytest.mark.parametrize(("start", "end"), [(-1, 0), (0, 4), (2, 1)])
def test_a_span_outside_the_text_is_refused(start: int, end: int) -> None:
    with pytest.raises(ValueError, match="no span"):
        splice("abc", start, end, "")


@given(spans())
def test_a_span_of_the_same_version_keeps_its_position(span: tuple[str, int, int]) -> None:
    text, start, end = span
    assert find_span(text, text, start, end, text[start:end]) == (start, end)
    assert find_span(text, text, start, end, text[start:end] + "x") is None


@given(spans(), texts, texts)
def test_a_located_span_contains_the_text_that_was_shown(span: tuple[str, int, int], before: str, behind: str) -> None:
    text, start, end = span
    now = before + text + behind
    found = find_span(now, text, start, end, text[start:end])
    assert found is None or now[found[0] : found[1]] == text[start:end]


def test_a_span_moves_when_text_is_inserted_before_it() -> None:
    start = REPORT.index("We end")
    now = "# Title 🦙\r\n\r\n" + REPORT.replace("much", "little")
    found = find_span(now, REPORT, start, start + 15, "We end in June.")
    assert found is not None
    assert now[slice(*found)] == "We end in June."


def test_the_marked_one_of_two_identical_sentences_is_located() -> None:
    text = "Stop. Go on here.\nStop. Go on there.\n"
    start = text.rindex("Stop.")
    assert find_span("New. " + text, text, start, start + 5, "Stop.") == (start + 5, start + 10)


def test_a_moved_span_is_located_if_its_surroundings_are_unique() -> None:
    first, second = "".join(f"A{n} one. " for n in range(40)), "".join(f"B{n} two. " for n in range(40))
    start = first.index("A20 one.")
    found = find_span(second + first, first + second, start, start + 8, "A20 one.")
    assert found == (len(second) + start, len(second) + start + 8)


def test_a_changed_span_is_not_located() -> None:
    start = REPORT.index("much")
    assert find_span(REPORT.replace("much", "more"), REPORT, start, start + 4, "much") is None


def test_edits_are_applied_at_their_unique_position() -> None:
    edits = [Edit("June", "July $& \\1"), Edit("sound", "good")]
    assert apply_edits(REPORT, edits) == REPORT.replace("June", "July $& \\1").replace("sound", "good")


def test_all_misplaced_edits_are_reported_and_none_is_applied() -> None:
    with pytest.raises(EditsNotApplicable) as refused:
        apply_edits(REPORT, [Edit("We", "You"), Edit("August", ""), Edit("plan is", ""), Edit("is sound", "")])
    assert [(one.number, one.count) for one in refused.value.misplaced] == [(1, 2), (2, 0), (4, None)]
    assert str(refused.value) == (
        "edit 1 ('We') occurs 2 times; edit 2 ('August') is not there; edit 4 ('is sound') overlaps another one"
    )


def test_overlapping_occurrences_count_as_several() -> None:
    with pytest.raises(EditsNotApplicable):
        apply_edits("aaa", [Edit("aa", "b")])


def test_changes_to_different_sentences_are_merged() -> None:
    theirs, ours = REPORT.replace("much", "little"), "Summary.\n\n" + REPORT.replace("We begin in May", "We begin now")
    assert merge(REPORT, theirs, ours) == ours.replace("much", "little")


def test_different_changes_to_one_sentence_are_a_conflict() -> None:
    assert merge(REPORT, REPORT.replace("sound", "bad"), REPORT.replace("plan", "idea")) is None


def test_different_insertions_at_one_position_are_a_conflict() -> None:
    assert merge(REPORT, REPORT + "Two.\n", REPORT + "Three.\n") is None
    assert merge(REPORT, REPORT + "Two.\n", REPORT + "Two.\n") == REPORT + "Two.\n"


@given(texts, texts)
def test_a_merge_with_an_unchanged_side_is_the_other_side(base: str, other: str) -> None:
    assert merge(base, other, base) == other
    assert merge(base, base, other) == other
    assert merge(base, other, other) == other


@given(texts, texts, texts)
def test_a_merge_is_symmetric(base: str, theirs: str, ours: str) -> None:
    assert merge(base, theirs, ours) == merge(base, ours, theirs)


@given(texts, texts)
def test_applying_the_changes_yields_the_other_text(before: str, after: str) -> None:
    at = 0
    made: list[str] = []
    for change in changes(before, after):
        made += [before[at : change.start], after[change.new_start : change.new_end]]
        at = change.end
    assert "".join([*made, before[at:]]) == after


@given(st.lists(texts, min_size=1, max_size=8))
def test_every_version_is_restored_exactly(versions: list[str]) -> None:
    bodies = [packed(versions[0])]
    bodies += [packed_changes(before, after) for before, after in pairwise(versions)]
    for count, version in enumerate(versions, 1):
        assert unpacked(bodies[:count]) == version


@pytest.mark.skipif(shutil.which("patch") is None, reason="the program patch is not installed")
@given(lines=st.lists(st.sampled_from(["a", "b", "c", "", "d e"]), max_size=12), data=st.data())
def test_the_diff_can_be_applied_by_patch(
    lines: list[str], data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    others = data.draw(st.lists(st.sampled_from(["a", "b", "x", "", "d e"]), max_size=12))
    ends = data.draw(st.tuples(st.sampled_from(["", "\n"]), st.sampled_from(["", "\n"])))
    before, after = "\n".join(lines) + ends[0], "\n".join(others) + ends[1]
    unified = diff(before, after)
    assert bool(unified) == (before != after)
    folder: Path = tmp_path_factory.mktemp("diff")
    (folder / "text").write_text(before)
    if unified:
        subprocess.run(
            ["patch", "--silent", "text"], input="--- text\n+++ text\n" + unified, text=True, check=True, cwd=folder
        )
    after_patch = (folder / "text").read_text() if (folder / "text").exists() else ""
    assert after_patch == after


def test_a_diff_shows_three_lines_of_context() -> None:
    before = "".join(f"line {n}\n" for n in range(20))
    assert diff(before, before.replace("line 9\n", "line nine\n")) == (
        "@@ -7,7 +7,7 @@\n line 6\n line 7\n line 8\n-line 9\n+line nine\n line 10\n line 11\n line 12\n"
    )


def test_entirely_different_and_repetitive_texts_are_compared_quickly() -> None:
    assert diff("a\n" * 100_000, "b\n" * 100_000).count("\n") == 200_001
    assert changes("x\n" * 50_000, "x\n" * 49_000) != []
