"""What the notes of exported artifacts say, and where Markdown has them."""

from __future__ import annotations

from uuid import UUID

import pytest

from contracts.orchestrator import Citation
from orchestrator.export.document import SafeDocument
from orchestrator.export.notes import note, with_footnotes

BY_NUMBER = {1: "Handbook, page 3", 2: "A *plan*"}


def citation(**more: object) -> Citation:
    made = {
        "number": 1,
        "chunk_id": "c",
        "document_id": UUID(int=1),
        "document_name": "handbook.pdf",
        "document_title": "Handbook",
        "section": None,
        "page": 3,
        "line_start": None,
        "line_end": None,
        "quote": "Tokens expire\nafter fifteen minutes.",
        "start": 0,
        "end": 9,
    }
    return Citation.model_validate(made | more)


def test_a_footnote_names_title_position_and_quote() -> None:
    assert note(citation()) == "Handbook, page 3: “Tokens expire after fifteen minutes.”"
    lines = citation(page=None, document_title=None, line_start=3, line_end=5, section="Tokens", quote="")
    assert note(lines) == "handbook.pdf, Tokens, lines 3-5"
    assert note(citation(quote="word " * 500)).endswith("word …”")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One [1].", "One [^source-1]."),
        ("Both [1, 2].", "Both [^source-1][^source-2]."),
        ("Unknown [3], partly [1, 3].", "Unknown [3], partly [1, 3]."),
        ("`a[1]` and a[1](x) and [1]: y", "`a[1]` and a[1](x) and [1]: y"),
        ("```\na[1]\n```\n", "```\na[1]\n```\n"),
        ("~~~~\n~~~\na[1]\n~~~~\n", "~~~~\n~~~\na[1]\n~~~~\n"),
        ("    a[1]\n", "    a[1]\n"),
    ],
)
def test_markdown_has_a_footnote_for_each_marker_outside_code(text: str, expected: str) -> None:
    written = with_footnotes(text, BY_NUMBER)
    assert written.split("\n\n[^source-")[0] == expected
    assert ("[^source-1]: Handbook, page 3\n" in written) == (expected != text)


def test_footnote_text_is_not_interpreted_as_markup() -> None:
    assert with_footnotes("x [2]", BY_NUMBER).endswith("[^source-2]: A \\*plan\\*\n")


def test_a_text_without_citations_is_byte_identical() -> None:
    text = "a [1]\r\n\r\n\u2028b\n\n\n"
    assert with_footnotes(text, {}) == text


def test_attributes_and_urls_a_converter_would_follow_are_removed() -> None:
    def paragraph(*inlines: object) -> dict[str, object]:
        return {"t": "Para", "c": list(inlines)}

    hostile = ["x", ["c"], [["typst:fill", "#read(1)"]]]
    word = [{"t": "Str", "c": "w"}]
    parsed = {
        "pandoc-api-version": [1, 23],
        "meta": {"header-includes": {"t": "MetaString", "c": "x"}},
        "blocks": [
            {"t": "Div", "c": [hostile, [paragraph({"t": "Span", "c": [hostile, word]})]]},
            {"t": "CodeBlock", "c": [["x", ["py`\n#x"], [["k", "v"]]], "code"]},
            paragraph({"t": "Image", "c": [hostile, [], ["file:///etc/passwd", ""]]}),
            paragraph({"t": "Link", "c": [hostile, word, ["javascript:alert(1)", "t"]]}),
            paragraph({"t": "Link", "c": [hostile, word, ["https://example.org", "t"]]}),
        ],
    }
    nothing: list[object] = ["", [], []]
    cleaned = SafeDocument({}).cleaned(parsed)
    assert cleaned["meta"] == {}
    assert cleaned["blocks"] == [
        paragraph(*word),
        {"t": "CodeBlock", "c": [nothing, "code"]},
        paragraph({"t": "Str", "c": "file:///etc/passwd"}),
        paragraph(*word),
        paragraph({"t": "Link", "c": [nothing, word, ["https://example.org", ""]]}),
    ]
