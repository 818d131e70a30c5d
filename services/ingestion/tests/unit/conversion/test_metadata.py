"""Metadata that documents declare."""

from __future__ import annotations

import zipfile
from datetime import UTC, date, datetime
from io import BytesIO

import pytest
from docling_core.types.doc.document import DoclingDocument
from docling_core.types.doc.labels import DocItemLabel
from hypothesis import given, settings
from hypothesis import strategies as st

from ingestion.conversion.dates import point_in_time
from ingestion.conversion.declared_markup import READERS
from ingestion.conversion.declared_text import front_matter, header
from ingestion.conversion.language import LanguageDetector
from ingestion.conversion.metadata import Declared, authors, describe, tag_lines, tags

ENGLISH = "The ducks on the lake are fed every morning by the keeper of the park, who knows each of them."


@pytest.fixture(scope="module")
def languages() -> LanguageDetector:
    return LanguageDetector()


@pytest.mark.parametrize(
    ("written", "moment"),
    [
        ("2024-03-05", datetime(2024, 3, 5, tzinfo=UTC)),
        ("2024-03-05T10:00:00+02:00", datetime(2024, 3, 5, 8, tzinfo=UTC)),
        ("13-Jun-2000", datetime(2000, 6, 13, tzinfo=UTC)),
        ("June 13, 2000", datetime(2000, 6, 13, tzinfo=UTC)),
        ("Thu, 05 Mar 2015 12:30:00 +0100", datetime(2015, 3, 5, 11, 30, tzinfo=UTC)),
        ("D:20171211093519-06'00'", datetime(2017, 12, 11, 15, 35, 19, tzinfo=UTC)),
        ("D:20260109", datetime(2026, 1, 9, tzinfo=UTC)),
        (date(2024, 3, 5), datetime(2024, 3, 5, tzinfo=UTC)),
        ("2024", None),
        ("$Date$", None),
        ("D:2024", None),
        ("D:20241399", None),
        ("0001-01-01T00:00:00+10:00", None),
        (None, None),
        (["2024-03-05"], None),
    ],
)
def test_dates_are_parsed(written: object, moment: datetime | None) -> None:
    assert point_in_time(written) == moment


@given(text=st.text(max_size=80))
@settings(max_examples=200, deadline=None)
def test_any_metadata_is_read_without_an_error(text: str) -> None:
    moment = point_in_time(text)
    assert moment is None or moment.tzinfo is not None
    found = tags([text, [text, {"a": text}]])
    assert len(found) <= 50
    assert all(0 < len(each) <= 100 for each in found)
    assert all(len(each) <= 200 for each in authors([text]))
    header(text)
    front_matter(f"---\n{text}\n---\n")
    for reader in READERS.values():
        reader(text.encode())


def test_tags_come_from_lists_texts_and_hashtags_without_duplicates() -> None:
    assert tags(["Tag one, tag2; 'three'", ["TAG ONE", 4], "#five #six", None]) == (
        "Tag one", "tag2", "three", "4", "five", "six",
    )  # fmt: skip
    assert len(tags([[f"tag {number}" for number in range(500)]])) == 50
    assert tags(["x" * 101]) == ()
    assert tags(["a\x00b"]) == ("ab",)


def test_tags_inside_code_are_ignored() -> None:
    text = "# Title\ntags: first, second\n\n```yaml\ntags: code\n```\n\n    tags: in\n\n**Tags:** third\nmetatags: no\n"
    assert list(tag_lines(text)) == ["first, second", "third"]
    assert tags(tag_lines(":Tags: a\n~~~\ntags: b\n```\ntags: c\n~~~\nTAGS:d")) == ("a", "d")


def test_authors_are_parsed_as_names() -> None:
    assert authors(["Barry Warsaw, Jeremy Hylton <jeremy@example.org>,\n Guido van Rossum"]) == (
        "Barry Warsaw", "Jeremy Hylton", "Guido van Rossum",
    )  # fmt: skip
    assert authors(["guido@python.org (Guido van Rossum)"]) == ("Guido van Rossum",)
    assert authors(["Smith, John; Doe, Jane"]) == ("Smith, John", "Doe, Jane")
    assert authors(["Doe, Jane"]) == ("Doe, Jane",)
    assert authors([{"name": "Ann Other", "url": "https://x"}, ["Bo"]]) == ("Ann Other", "Bo")
    assert authors(["someone@example.org"]) == ("someone@example.org",)
    assert authors(["The core team and community", "Ann and Bo", "openpyxl"]) == (
        "The core team and community", "Ann", "Bo",
    )  # fmt: skip
    assert authors(["https://example.org/ann", "", None]) == ()


def test_front_matter_is_read() -> None:
    declared, rest = front_matter(
        "---\ntags: [one, Two]\nkeywords: three, four\nauthor: Ann Other\nlang: de-AT\n"
        "date: 2024-03-05\nlastmod: 2024-04-01 10:00:00\n---\n# Title\n"
    )
    assert rest == "# Title\n"
    assert tags(declared.tags) == ("one", "Two", "three", "four")
    assert authors(declared.authors) == ("Ann Other",)
    assert declared.language == "de-AT"
    assert declared.written_at == datetime(2024, 3, 5, tzinfo=UTC)
    assert declared.modified_at == datetime(2024, 4, 1, 10, tzinfo=UTC)
    declared, rest = front_matter(
        "---\nstatus: superseded\nsuperseded_by: ADR-9\nowner: [A, B]\nlayout: post\n---\n# ADR-7\n\nText.\n"
    )
    assert rest == "# ADR-7\n\n- Status: superseded\n- Superseded by: ADR-9\n- Owner: A, B\n\n\nText.\n"
    assert front_matter("---\nstatus: draft\n---\nText.\n")[1] == "\n- Status: draft\n\nText.\n"
    prose = "---\nProse: between: breaks\n---\n"
    assert front_matter(prose) == (Declared(), prose)
    assert front_matter("---\ndate: 2024-13-45\n---\n")[0].written_at is None


def test_headers_of_proposals_and_documents_are_read() -> None:
    proposal = header(
        "PEP: 1\nTitle: PEP Purpose\nAuthor: Barry Warsaw,\n        Jeremy Hylton\nCreated: 13-Jun-2000\n"
        "Post-History: 21-Mar-2001\n\nIntroduction\n============\n"
    )
    assert authors(proposal.authors) == ("Barry Warsaw", "Jeremy Hylton")
    assert proposal.written_at == datetime(2000, 6, 13, tzinfo=UTC)
    document = header("=====\nTitle\n=====\n\n:Author: Ann Other\n:Date: 2020-01-02\n\nText.\n")
    assert authors(document.authors) == ("Ann Other",)
    assert header("Author: says who\nand then prose goes on.\n") == Declared()


def test_the_html_head_is_read() -> None:
    declared = READERS["html"](
        b'<html lang="fr"><head><meta name="keywords" content="a, b"><meta NAME=author content="Ann Other">'
        b'<meta property="article:published_time" content="2024-03-05T10:00:00Z">'
        b'<meta name="DC.Date.modified" content="x"></head><body><meta name=keywords content=no></body></html>'
    )
    assert (tags(declared.tags), authors(declared.authors), declared.language) == (("a", "b"), ("Ann Other",), "fr")
    assert declared.written_at == datetime(2024, 3, 5, 10, tzinfo=UTC)


CORE = """<cp:coreProperties xmlns:cp="urn:cp" xmlns:dc="http://purl.org/dc/elements/1.1/"
 xmlns:dcterms="http://purl.org/dc/terms/"><dc:creator>Ann Other;Bo Else</dc:creator><dc:subject>A text.</dc:subject>
<cp:keywords>red; green</cp:keywords><dcterms:created>2020-01-02T03:04:05Z</dcterms:created>
<dcterms:modified>2021-01-02T03:04:05Z</dcterms:modified></cp:coreProperties>"""


def archive(**parts: str) -> bytes:
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w") as opened:
        for name, text in parts.items():
            opened.writestr(name.replace("__", "/").replace("_xml", ".xml"), text)
    return buffer.getvalue()


def test_office_properties_are_read() -> None:
    declared = READERS["docx"](archive(docProps__core_xml=CORE))
    assert tags(declared.tags) == ("red", "green")
    assert authors(declared.authors) == ("Ann Other", "Bo Else")
    assert declared.written_at == datetime(2020, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert declared.modified_at == datetime(2021, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert READERS["docx"](archive(other="x")) == Declared()


def test_asciidoc_and_latex_headers_are_read() -> None:
    asciidoc = READERS["asciidoc"](b"= Title\nAnn Other\n:keywords: a, b\n:revdate: 2020-01-02\n\n:keywords: c\n")
    assert (tags(asciidoc.tags), asciidoc.modified_at) == (("a", "b"), datetime(2020, 1, 2, tzinfo=UTC))
    latex = READERS["latex"](rb"\author{Ann Other \\ Harbour \and Bo Else}\date{June 13, 2000}\begin{document}")
    assert authors(latex.authors) == ("Ann Other", "Bo Else")
    assert latex.written_at == datetime(2000, 6, 13, tzinfo=UTC)


def test_mail_headers_are_read() -> None:
    declared = READERS["email"](b"From: =?utf-8?q?J=C3=B6rg?= M <j@x.org>\nDate: Thu, 5 Mar 2015 12:30:00 +0100\n\nHi")
    assert authors(declared.authors) == ("Jörg M",)
    assert declared.written_at == datetime(2015, 3, 5, 11, 30, tzinfo=UTC)


def test_jats_metadata_is_read() -> None:
    declared = READERS["jats"](
        b'<article xml:lang="en"><front><article-meta><contrib-group><contrib contrib-type="author"><name>'
        b"<surname>Other</surname><given-names>Ann</given-names></name></contrib></contrib-group><pub-date><day>2</day>"
        b"<month>1</month><year>2020</year></pub-date><kwd-group><kwd>ducks</kwd></kwd-group></article-meta></front></article>"
    )
    assert (tags(declared.tags), authors(declared.authors), declared.language) == (("ducks",), ("Ann Other",), "en")
    assert declared.written_at == datetime(2020, 1, 2, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "declared", "language"),
    [
        (ENGLISH, None, "en"),
        (ENGLISH, "de", "en"),
        ("Die Enten auf dem See werden jeden Morgen vom Parkwächter gefüttert.", None, "de"),
        ("本文介绍数据库系统的设计与实现方法。", None, "zh"),
        ("12345 67", "pt-BR", "pt"),
        ("12345 67", "klingon", None),
        ("12345 67", None, None),
        ("", None, None),
    ],
)
def test_the_language_is_detected(
    languages: LanguageDetector, text: str, declared: str | None, language: str | None
) -> None:
    assert languages.language([text], declared) == language


def test_all_metadata_of_a_document_is_combined(languages: LanguageDetector) -> None:
    document = DoclingDocument(name="a")
    document.add_title("The\nTitle")
    for number in range(300):
        document.add_heading(f"Part {number}")
    document.add_text(DocItemLabel.TEXT, ENGLISH)
    document.add_text(DocItemLabel.TEXT, "Tags: one, two")
    document.add_code("tags: three")
    found = describe(document, None, Declared(tags=["zero"]), languages)
    assert found["headings"][:2] == ("The Title", "Part 0")
    assert len(found["headings"]) == 200
    assert (found["tags"], found["language"]) == (("zero", "one", "two"), "en")
