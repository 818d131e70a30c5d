"""How long texts go into a prompt."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from inference.estimate import estimated_tokens
from orchestrator.artifacts.outline import headings, outlined

CODE = "".join(f"def f{n}(x):\n    y = {n}\n\n    return x + y\n\n\n" for n in range(400))


def test_a_text_that_fits_is_shown_whole() -> None:
    assert outlined("# A\r\n\r\nb\r\n", 10, "b").text == "# A\r\n\r\nb\r\n"


def test_code_is_split_between_its_functions() -> None:
    found = outlined(CODE, 1_000, "f250 is wrong")
    assert "def f250(x):\n    y = 250\n\n    return x + y\n" in found.text
    assert 0 < found.whole < found.parts
    after = [part.partition("]\n")[2] for part in found.text.split("[…")[1:]]
    assert all(part.startswith("def ") for part in after if part)


def test_a_heading_in_a_code_block_does_not_count() -> None:
    text = "# A\n\n```sh\n# not a heading\n```\n\n## B\n\nend\n"
    assert headings(text, 100) == "# A\n## B\n[… 7 lines that are not shown]\n"


def test_only_the_highest_of_many_headings_are_shown() -> None:
    text = "".join(f"# Part {n}\n\n## Section {n}\n\ntext\n\n" for n in range(30))
    shown = headings(text, 110)
    assert "# Part 29\n" in shown
    assert "## Section" not in shown


def test_an_outline_without_headings_or_text_is_empty() -> None:
    assert headings("", 100) == ""
    assert headings("one\ntwo\n", 100) == "[… 2 lines that are not shown]\n"


@given(st.text(max_size=3_000), st.integers(0, 400), st.text(max_size=40))
def test_an_outline_fits_its_budget_and_states_what_is_omitted(text: str, tokens: int, wish: str) -> None:
    found = outlined(text, tokens, wish)
    if estimated_tokens(text) <= tokens:
        assert found.text == text
    else:
        assert estimated_tokens(found.text) <= max(tokens, 0) + 16
        assert "lines that are not shown]" in found.text
