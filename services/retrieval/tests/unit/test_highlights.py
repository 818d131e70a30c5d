from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relevance.analysis import Analyzer
from retrieval.highlights import scoring
from retrieval.highlights.sentences import is_code, spans


@dataclass(frozen=True)
class Passage:
    content: str
    media_type: str = "text/markdown"
    heading_path: tuple[str, ...] = ()
    language: str | None = None


PIECES = st.sampled_from(
    ["Dr. Smith", "e.g. this", "3.14", "v1.2.3", ". ", "! ", "\n", "\n\n", "- item", "| a | b |", "```\n", "# Head\n",
     ":", ":\n- one\n", "word", " ", "U.S. ", "。", "日本", "\t", "?", "etc. ", "(", ")", "*", "1. "]
)  # fmt: skip


def highlighted(text: str, **more: bool) -> list[str]:
    return [text[start:end] for start, end in spans(text, **more)]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("Dr. Smith et al. found 3.14 of it. He left.", ["Dr. Smith et al. found 3.14 of it.", "He left."]),
        ("Use e.g. Python 3.11. It works.", ["Use e.g. Python 3.11.", "It works."]),
        ("In the U.S. Senate. In the U.S. The end.", ["In the U.S. Senate.", "In the U.S.", "The end."]),
        ("It ends at 5 p.m. Then we go, etc. Done", ["It ends at 5 p.m.", "Then we go, etc.", "Done"]),
        ('"Why?" she asked. See Fig. 3 there.', ['"Why?" she asked.', "See Fig. 3 there."]),
        ("Wrapped\nline. Next one.", ["Wrapped\nline.", "Next one."]),
        ("- one. Two.\n- three\n  goes on\n2. four", ["one.", "Two.", "three\n  goes on", "four"]),
        ("| a | b |\n|---|---|\n| c | d |\n| e | |", ["c | d", "e"]),
        ("| a | b |\n| c | d |\nText.", ["a | b", "c | d", "Text."]),
        ("| a | b |\n|---|---|", ["a | b"]),
        ("So. It knows:\n\n- one\n- two\n  more\n\nNext.", ["So.", "It knows:\n\n- one\n- two\n  more", "Next."]),
        (f"It knows:\n1. {'a' * 500}\n2. b", ["a" * 500, "b"]),
        ("It knows this:\nno list.", ["It knows this:\nno list."]),
        ("# Title\nText.\n\nMore", ["# Title", "Text.", "More"]),
        ("```python\nx = 1. \ny = 2\n\nz = 3\n```\nAfter.", ["x = 1. \ny = 2", "z = 3", "After."]),
        ("日本語です。次の文！終わり", ["日本語です。", "次の文！", "終わり"]),
        ("... --- ***", []),
        ("", []),
    ],
)
def test_prose_is_split_into_sentence_spans(text, sentences):
    assert highlighted(text) == sentences


def test_code_is_split_into_block_spans():
    text = "import a\n\n\ndef f():\n    return 1. \n" + "x = 1\n" * 10
    assert highlighted(text, code=True)[:2] == ["import a", "def f():\n    return 1. \n" + "x = 1\n" * 5 + "x = 1"]


def test_code_is_recognised_by_media_type():
    assert is_code("text/x-python")
    assert is_code("application/json")
    assert not is_code("text/markdown")
    assert not is_code("text/plain")


@given(st.lists(PIECES, max_size=40).map("".join), st.booleans())
def test_spans_are_ordered_and_trimmed_and_do_not_overlap(text, code):
    found = spans(text, code=code)
    assert all(start < end for start, end in found)
    assert all(before[1] <= after[0] for before, after in pairwise(found))
    for start, end in found:
        assert text[start:end] == text[start:end].strip()


@given(st.text(max_size=200))
def test_spans_of_any_text_lie_within_it(text):
    assert all(0 <= start < end <= len(text) for start, end in spans(text))


def test_the_answer_is_the_best_highlight():
    content = "The gateway is public. Tokens expire after fifteen minutes. Lunch is at noon."
    weights = {"token": 2.0, "expir": 2.5}
    sentences = scoring.sentences_of(Passage(content), weights, Analyzer())
    found = scoring.best(list(zip(sentences, (0.1, 0.7, 0.05), strict=True)))
    assert content[found[0].start : found[0].end] == "Tokens expire after fifteen minutes."
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    assert all(0 <= one.score <= 1 for one in found)


def test_a_heading_gives_context_to_the_sentences_under_it():
    passage = Passage("It is owned by Payments. It rains.", heading_path=("Services", "BillingRouter"))
    weights = {"own": 2.0, "billingrout": 2.0, "servic": 4.0}
    owned, rain = scoring.sentences_of(passage, weights, Analyzer())
    assert owned.read == "BillingRouter: It is owned by Payments."
    assert owned.share == pytest.approx((2.0 + scoring.CONTEXT_WEIGHT * 2.0) / 8.0)
    assert rain.share == 0.0


def test_document_titles_and_names_in_code_add_no_context():
    titled = Passage("It rains.", heading_path=("Services",))
    code = Passage("x = 1", "text/x-python", ("module", "function"))
    assert scoring.sentences_of(titled, {}, Analyzer())[0].read == "It rains."
    assert scoring.sentences_of(code, {}, Analyzer())[0].read == "x = 1"


def test_words_are_analysed_in_the_language_of_the_document():
    analyzer = Analyzer()
    weights = dict.fromkeys(analyzer.terms("Häuser", "german"), 1.0)
    content = "Die Häuser der Stadt sind alt.\n\nEs regnet."
    german, english = (
        scoring.sentences_of(Passage(content, language=language), weights, analyzer)[0] for language in ("de", "en")
    )
    assert (german.share, english.share) == (1.0, 0.0)
