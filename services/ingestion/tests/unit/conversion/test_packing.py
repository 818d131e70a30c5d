"""Passages of unstructured text fit the budget, cover the text and know their lines."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ingestion.conversion.declared_text import header
from ingestion.conversion.packing import pack
from ingestion.conversion.passages import TokenBudget, token_budget
from ingestion.conversion.plain_text import first_title, sections, text_passages
from ingestion.conversion.source_code import code_passages
from ingestion.conversion.values import ChunkOptions


@pytest.fixture(scope="module")
def budget() -> TokenBudget:
    return token_budget(ChunkOptions())


def words(text: str) -> str:
    return re.sub(r"\s+", "", text)


def test_paragraphs_are_packed_up_to_the_limit(budget: TokenBudget) -> None:
    text = "\n\n".join(f"Paragraph {number} says something short about ducks." for number in range(100))
    passages = pack(text, budget, first_line=1)
    assert all(budget.tokens(passage.content) <= budget.limit for passage in passages)
    assert len(passages) <= budget.tokens(text) // (budget.limit - 30) + 1
    assert words("".join(passage.content for passage in passages)) == words(text)
    lines = text.split("\n")
    for passage in passages:
        assert passage.line_start is not None
        assert "\n".join(lines[passage.line_start - 1 : passage.line_end]) == passage.content


@pytest.mark.parametrize(
    "text",
    [
        "word " * 3000,
        "x" * 100_000,
        "字" * 3000,
        "Sentence here. " * 800,
        "ab" * 50 + " " + "c" * 20_000,
        "\n" * 50 + "a",
    ],
    ids=["words", "one endless word", "no spaces", "sentences", "long word", "blank lines"],
)
def test_text_of_any_shape_is_covered_by_chunks_that_fit(budget: TokenBudget, text: str) -> None:
    passages = pack(text, budget, ("A heading",))
    assert all(budget.fits(passage) for passage in passages)
    assert words("".join(passage.content for passage in passages)) == words(text)


@given(text=st.text(max_size=3000))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_is_packed_without_loss_or_oversized_chunks(budget: TokenBudget, text: str) -> None:
    text = text.replace("\x00", "")
    passages = pack(text, budget)
    assert all(budget.fits(passage) for passage in passages)
    assert words("".join(passage.content for passage in passages)) == words(text)


def test_very_long_headings_leave_room_for_text(budget: TokenBudget) -> None:
    path = budget.capped([f"Chapter {number} " + "of a long book " * 5 for number in range(20)] + ["The innermost"])
    assert path[-1] == "The innermost"
    assert budget.room(path) > budget.limit // 2
    assert budget.room(budget.capped(["endless " * 5000])) > budget.limit // 2
    assert budget.room(budget.capped(["x" * 50_000])) > budget.limit // 2


RST = """PEP: 1
Title: PEP Purpose
Author: Someone

Introduction
============

First words.

Details
-------

More words.

Conclusion
==========

Last words.
"""


def test_underlined_titles_become_heading_paths(budget: TokenBudget) -> None:
    found = {passage.content: passage for passage in text_passages(RST, budget)}
    assert found["More words."].heading_path == ("Introduction", "Details")
    assert found["Last words."].heading_path == ("Conclusion",)
    assert (found["More words."].line_start, found["More words."].line_end) == (13, 13)
    assert header(RST).title == "PEP Purpose"


def test_overlined_titles_are_distinguished_from_tables() -> None:
    text = "=====\nTitle\n=====\n\n===== =====\nA     B\n===== =====\n1     2\n===== =====\n\nPart\n====\n\nText"
    assert [section.title for section in sections(text)] == [None, "Title", "Part"]
    assert first_title(text) == "Title"


def test_prose_is_not_taken_for_a_title() -> None:
    assert first_title("Just a line.\n\nAnother line.\n-- \nsignature") is None


PYTHON = '''"""A module."""

import os


# Opens things.
@decorated
class Door:
    """A door."""

    def open(self) -> None:
        {body}

    def close(self) -> None:
        {body}


def knock(times: int) -> None:
    print(times)
'''


def test_code_is_split_at_its_definitions(budget: TokenBudget) -> None:
    text = PYTHON.replace("{body}", "\n        ".join(f"self.value_{number} = {number}" for number in range(25)))
    passages = code_passages(text, "py", budget)
    paths = {passage.heading_path for passage in passages}
    assert {("Door", "open"), ("Door", "close"), ("knock",)} <= paths
    knock = next(passage for passage in passages if passage.heading_path == ("knock",))
    assert knock.content.startswith("def knock")
    assert text.split("\n")[(knock.line_start or 0) - 1].startswith("def knock")
    assert words("".join(passage.content for passage in passages)) == words(text)
    assert all(budget.fits(passage) for passage in passages)


@pytest.mark.parametrize(
    ("extension", "text", "name"),
    [
        ("js", "export const add = (a, b) => a + b;\n\nfunction sub(a, b) { return a - b }\n", "sub"),
        ("ts", "export interface Shape {\n  area(): number\n}\n", "Shape"),
        ("tsx", "export function App(): JSX.Element {\n  return <b>hi</b>\n}\n", "App"),
        ("c", "#include <a.h>\n\nstatic int *main_loop(int argc) {\n  return 0;\n}\n", "main_loop"),
    ],
)
def test_definitions_are_named_in_many_programming_languages(
    budget: TokenBudget, extension: str, text: str, name: str
) -> None:
    passages = code_passages(text, extension, budget)
    assert (name,) in {passage.heading_path for passage in passages}
    assert words("".join(passage.content for passage in passages)) == words(text)


def test_a_closing_brace_is_not_a_chunk_of_its_own(budget: TokenBudget) -> None:
    methods = "\n".join(
        f"  method{number}() {{\n" + "\n".join(f"    this.value{line} = {line};" for line in range(20)) + "\n  }"
        for number in range(12)
    )
    text = f"class Router {{\n{methods}\n}}\n\nfunction last() {{}}\n"
    passages = code_passages(text, "js", budget)
    assert ("Router", "method11") in {passage.heading_path for passage in passages}
    assert all(re.search(r"\w", passage.content) for passage in passages)
    assert words("".join(passage.content for passage in passages)) == words(text)


def test_code_without_a_grammar_or_with_errors_is_still_covered(budget: TokenBudget) -> None:
    for extension, text in [
        ("kt", "package a\n\nfun a() {}\n"),
        ("py", "def broken(:\n  }{\nclass"),
        ("js", "a;" * 4000),
    ]:
        passages = code_passages(text, extension, budget)
        assert words("".join(passage.content for passage in passages)) == words(text)
        assert all(budget.fits(passage) for passage in passages)


def test_chunks_overlap_only_inside_a_split_text_and_line_numbers_stay_correct() -> None:
    budget = token_budget(ChunkOptions(max_tokens=96, overlap_tokens=24))
    text = "\n".join(f"Line {number} says something short about ducks and geese." for number in range(60))
    passages = pack(text, budget, ("Birds",), first_line=1)
    lines = text.split("\n")
    assert len(passages) > 5
    for passage in passages:
        assert budget.fits(passage)
        assert passage.content in text
        assert passage.line_start is not None
        assert passage.line_end is not None
        assert passage.content in "\n".join(lines[passage.line_start - 1 : passage.line_end])
        assert passage.content.split()[0] in lines[passage.line_start - 1]
    for before, after in pairwise(passages):
        repeated = next(
            size for size in range(len(after.content), -1, -1) if before.content.endswith(after.content[:size])
        )
        assert 0 < budget.tokens(after.content[:repeated]) <= 24
    assert pack("Short.", budget) == pack("Short.", token_budget(ChunkOptions(max_tokens=96)))


@given(text=st.text(max_size=2000), overlap=st.integers(0, 20))
@settings(max_examples=60, deadline=None)
def test_overlapping_chunks_fit_and_are_parts_of_the_text(text: str, overlap: int) -> None:
    budget = token_budget(ChunkOptions(max_tokens=40, overlap_tokens=overlap))
    text = text.replace("\x00", "")
    for passage in pack(text, budget):
        assert budget.fits(passage)
        assert passage.content in text


@pytest.mark.parametrize(
    ("options", "setting"),
    [
        ({"max_tokens": 512}, "CHUNK_TOKENS is 512, but the embedding model reads no more than 256"),
        ({"max_tokens": 8}, "CHUNK_TOKENS is 8"),
        ({"max_tokens": 100, "overlap_tokens": 100}, "CHUNK_OVERLAP_TOKENS is 100"),
        ({"overlap_tokens": -1}, "CHUNK_OVERLAP_TOKENS is -1"),
    ],
)
def test_inconsistent_options_are_refused(options: dict[str, int], setting: str) -> None:
    with pytest.raises(ValueError, match=setting):
        ChunkOptions(**options)


@pytest.mark.parametrize(
    "text", ["some words of English " * 200, "ein Straßenfluß " * 200, "слово " * 300, "字" * 900, "QUJD" * 400]
)
def test_tokens_of_another_model_are_not_underestimated(budget: TokenBudget, text: str) -> None:
    estimated = token_budget(ChunkOptions(estimated=True))
    assert estimated.tokens(text) >= budget.tokens(text)
    assert estimated.tokens(text) >= len(text.encode()) // 6  # byte-level tokenizers: some 4 bytes of English a token
    assert all(estimated.fits(passage) for passage in pack(text, estimated))
