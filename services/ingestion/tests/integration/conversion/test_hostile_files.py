"""Hostile files: each becomes a document or fails with a reason, within its limits."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import odfdo
import pytest

from ingestion.conversion import ConversionError, CorruptFile, EmptyDocument, Limits, MemoryLimitExceeded, WorkerDied

Convert = Callable[..., Any]
ENTITIES = "".join(f'<!ENTITY {chr(98 + level)} "{f"&{chr(97 + level)};" * 20}">' for level in range(9))
BILLION = f'<!DOCTYPE bomb [<!ENTITY a "{"a" * 32}">{ENTITIES}]>'
ARTICLE = '<article article-type="x"><front/><body><sec><title>A</title><p>Words &j;</p></sec></body></article>'


def open_text(change: Callable[[str], str]) -> bytes:
    """Returns an OpenDocument text with changed content."""
    plain, changed = io.BytesIO(), io.BytesIO()
    odfdo.Document("odt").save(plain)
    with zipfile.ZipFile(plain) as source, zipfile.ZipFile(changed, "w", zipfile.ZIP_DEFLATED) as target:
        for name in source.namelist():
            data = source.read(name)
            target.writestr(name, change(data.decode()) if name == "content.xml" else data)
    return changed.getvalue()


def with_text(inner: str) -> Callable[[str], str]:
    return lambda content: content.replace("<office:text>", f"<office:text>{inner}")


def with_entities(content: str) -> str:
    body = content[content.index("<office:document-content") :]
    return BILLION.replace("DOCTYPE bomb", "DOCTYPE office:document-content") + with_text("<text:p>&j;</text:p>")(body)


def book(package: str, page: str = "<html><body><p>Words</p></body></html>") -> bytes:
    container = (
        '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="a.opf"/></rootfiles></container>'
    )
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in [
            ("mimetype", "application/epub+zip"),
            ("META-INF/container.xml", container),
            ("a.opf", package),
            ("a.xhtml", page),
        ]:
            archive.writestr(name, content)
    return buffer.getvalue()


def package(page: str) -> str:
    return (
        f'<package xmlns="http://www.idpf.org/2007/opf"><manifest><item id="a" href="{page}"/></manifest>'
        '<spine><itemref idref="a"/></spine></package>'
    )


def nested_mail(levels: int) -> str:
    head = "From: a@example.org\nTo: b@example.org\nSubject: s\nMIME-Version: 1.0\n"
    return f"{head}Content-Type: message/rfc822\n\n" * levels + f"{head}\nInnermost words.\n"


@pytest.mark.parametrize(
    ("content", "name", "error"),
    [
        (open_text(with_entities), "entities.odt", CorruptFile),
        (open_text(lambda _: "no XML"), "broken.odt", CorruptFile),
        (open_text(with_text('<text:section text:name="a">' * 3000)), "deep.odt", CorruptFile),
        (book(BILLION.replace("bomb", "package") + package("a.xhtml")), "entities.epub", CorruptFile),
        (book(package("a.xhtml"), "0" * (20 << 20)), "large.epub", CorruptFile),
        (book(package("../../../../etc/passwd")), "outside.epub", EmptyDocument),
        (book("<package/>"), "empty.epub", CorruptFile),
        (f"{BILLION.replace('bomb', 'article')[:-2]} <!-- JATS -->]>{ARTICLE}", "entities.nxml", None),
        (nested_mail(5), "nested.eml", None),
        (nested_mail(2000), "deep.eml", ConversionError),
        ('{"doc":{"type":"doc","content":[', "cut.boxnote", CorruptFile),
        ('{"doc":{"type":"doc","content":' + '[{"type":"paragraph","content":' * 3000, "deep.boxnote", ConversionError),
        ("WEBVTT\n\nnot a time\n", "a.vtt", EmptyDocument),
        ("\\documentclass{a}\\begin{document}" + "{" * 5000 + "words", "deep.tex", None),
        ("\\documentclass{a}\\newcommand{\\b}{\\b\\b}\\begin{document}Words \\b", "macro.tex", None),
        ("|a| words\n\n.. |a| replace:: |b| |b|\n.. |b| replace:: |a| |a|\n", "loop.rst", None),
        ("**a " * 2400 + "\n\n" + "`" * 9000 + "\n", "markup.rst", None),
    ],
)
def test_a_hostile_file_is_handled_within_the_limits(
    convert: Convert, limits: Limits, content: bytes | str, name: str, error: type[ConversionError] | None
) -> None:
    if error is None:
        assert convert(content, name, replace(limits, seconds=30)).chunks
        return
    with pytest.raises(error) as caught:
        convert(content, name, replace(limits, seconds=30))
    assert not isinstance(caught.value, WorkerDied)
    assert str(caught.value).endswith(".")


def test_two_billion_spaces_are_handled(convert: Convert, limits: Limits) -> None:
    spaces = open_text(with_text('<text:p>a<text:s text:c="2000000000"/>b</text:p>'))
    with pytest.raises(MemoryLimitExceeded):
        convert(spaces, "spaces.odt", replace(limits, memory_bytes=600 << 20))
