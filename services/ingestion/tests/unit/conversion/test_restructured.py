"""Reading reStructuredText."""

from __future__ import annotations

import pytest
from docling_core.types.doc.document import DoclingDocument
from docling_core.types.doc.items.code import CodeItem
from docling_core.types.doc.items.text import SectionHeaderItem
from docling_core.types.doc.labels import CodeLanguageLabel

from ingestion.conversion import docling_formats
from ingestion.conversion.declared_text import header
from ingestion.conversion.file_format import Format
from ingestion.conversion.pdf.models import PdfModels
from ingestion.conversion.restructured.html import restructured_html
from ingestion.conversion.restructured.parsing import UnreadableMarkup
from ingestion.conversion.values import PdfOptions

PROPOSAL = """PEP: 612
Title: Parameter Variables
Author: Mark M <m@example.org>,
        Guido

Abstract
========

It extends :pep:`484` and :func:`~typing.cast`, see |name|.

.. |name| replace:: the *typing* docs

Motivation
----------

.. versionadded:: 3.10
   On request.

- one
  more

  beside it

  #. nested
- two

Names::

    def f():

        return 1

=====  =====
Name   Size
=====  =====
a      1
b      2
=====  =====
"""


def read(text: str) -> DoclingDocument:
    page = restructured_html(text).encode()
    models = PdfModels(PdfOptions(), threads=1)
    return docling_formats.read(page, "a.rst", Format.restructured_text, 100, models, lambda *_: None)[0]


def markdown(text: str) -> str:
    return read(text).export_to_markdown(escape_html=False, escape_underscores=False)


def test_structure_is_converted() -> None:
    assert markdown(PROPOSAL).split("\n\n") == [
        "PEP: 612  \nTitle: Parameter Variables  \nAuthor: Mark M <m@example.org>, Guido",
        "## Abstract",
        "It extends PEP 484 and typing.cast, see the typing docs.",
        "### Motivation",
        "versionadded 3.10 On request.",
        "- one more",
        "beside it",
        "1. nested",
        "- two",
        "Names:",
        "```\ndef f():",
        "    return 1\n```",
        "| Name   |   Size |\n|--------|--------|\n| a      |      1 |\n| b      |      2 |",
    ]
    headings = [(item.text, item.level) for item in read(PROPOSAL).texts if isinstance(item, SectionHeaderItem)]
    assert headings == [("Abstract", 1), ("Motivation", 2)]


def test_header_fields_are_converted() -> None:
    declared = header(PROPOSAL)
    assert declared.title == "Parameter Variables"
    assert declared.authors == ["Mark M <m@example.org>, Guido"]
    below = header("Guide\n=====\n\n:Author: Jane\n:Date: 2024-05-01\n\nText.\n")
    assert (below.title, below.authors, below.written) == (None, ["Jane"], ["2024-05-01"])


def test_a_paragraph_with_colons_is_not_a_header() -> None:
    assert markdown("Note: it is\nnot a header.\n\nMore.\n") == "Note: it is not a header.\n\nMore."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (".. py:function:: open(file, mode)\n   :async:\n\n   Opens it.\n", ["function open(file, mode)", "Opens it."]),
        (".. tab-set::\n\n   .. tab-item:: Linux\n\n      Use apt.\n", ["tab-item Linux", "Use apt."]),
        (".. toctree::\n   :maxdepth: 2\n   :caption: All of it\n\n   intro\n", ["toctree All of it", "intro"]),
        (":ref:`the guide <guide>` and :doc:`index`", ["the guide and index"]),
        (":made:up:`role` and `text`:other:", ["role and text"]),
        ("|undefined| stays", ["|undefined| stays"]),
        (".. raw:: html\n\n   <b>bold</b>\n", ["```\n.. raw:: html", "   <b>bold</b>\n```"]),
        (".. include:: /etc/hostname\n", ["```\n.. include:: /etc/hostname\n```"]),
        (".. math::\n   :label: eq\n\n   a = b\n", ["```\n.. math::\n   :label: eq", "   a = b\n```"]),
        (".. warning:: Mind the gap.\n", ["Warning: Mind the gap."]),
        ("Term : kind\n   Meaning.\n", ["- Term : kind: Meaning."]),
        ("-q, --quiet  Say less.\n", ["- `-q, --quiet`: Say less."]),
        ("See [#]_.\n\n.. [#] The note.\n", ["See [1].", "[1] The note."]),
        (
            "`docs <https://example.org>`_ and https://example.org",
            ["[docs](https://example.org) and https://example.org"],
        ),
        ("See docs_.\n\n.. _docs: https://example.org\n", ["See docs.", "docs: https://example.org"]),
        (".. a comment\n\nText.\n", ["Text."]),
        (".. image:: a.png\n   :alt: A ship\n", ["A ship"]),
        ("| one\n| two\n", ["one  \ntwo"]),
        ("Text ``with *stars*`` and *more*.", ["Text `with *stars*` and more."]),
    ],
)
def test_no_text_is_lost(text: str, expected: list[str]) -> None:
    assert markdown(text).split("\n\n") == expected


def test_sphinx_code_blocks_keep_their_language() -> None:
    text = ".. code-block:: python\n   :linenos:\n   :emphasize-lines: 2\n\n   x = 1\n   y = 2\n"
    code = next(item for item in read(text).texts if isinstance(item, CodeItem))
    assert (code.text, code.code_language) == ("x = 1\ny = 2", CodeLanguageLabel.PYTHON)


def test_blocks_inside_a_list_item_stay_blocks() -> None:
    text = "- Run this:\n\n  ::\n\n     a = 1\n     b = 2\n\n- Then that.\n"
    assert markdown(text).split("\n\n") == ["- Run this:", "```\na = 1\nb = 2\n```", "- Then that."]


def test_cells_that_span_columns_are_read() -> None:
    table = "+---+---+\n| a | b |\n+   +---+\n|   | c |\n+---+---+\n| wide  |\n+-------+\n"
    found = {
        (cell.text, cell.start_row_offset_idx, cell.start_col_offset_idx, cell.row_span, cell.col_span)
        for cell in read(table).tables[0].data.table_cells
    }
    assert found == {("a", 0, 0, 2, 1), ("b", 0, 1, 1, 1), ("c", 1, 1, 1, 1), ("wide", 2, 0, 1, 2)}


def test_invalid_markup_is_still_read() -> None:
    found = markdown("Title\n====\n\n* item\nnot indented ``open\n\n+--+\n| broken\n\nEnd.\n")
    assert found.startswith("## Title")
    assert found.endswith("End.")
    assert "| broken" in found
    assert "not indented ``open" in found


def test_converting_a_document_leaves_no_state_behind() -> None:
    restructured_html(".. role:: pep(emphasis)\n\n:pep:`1` :mine:`x`\n")
    assert markdown(":pep:`8`") == "PEP 8"


@pytest.mark.parametrize("text", ["a" * 20_000, "- " * 3000 + "deep"])
def test_text_without_markup_is_refused(text: str) -> None:
    with pytest.raises(UnreadableMarkup):
        restructured_html(text)
