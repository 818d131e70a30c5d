"""What of a reStructuredText file is read, and where it stood."""

from __future__ import annotations

import pytest

from ingestion.conversion.restructured.blocks import Block, Kind
from ingestion.conversion.restructured.parsing import UnreadableMarkup
from ingestion.conversion.restructured.reading import read_restructured_text, restructured_document

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


def read(text: str) -> list[Block]:
    return read_restructured_text(text).blocks


def texts(text: str) -> list[str]:
    return [block.text for block in read(text)]


def markdown(text: str) -> str:
    return restructured_document(read(text), "a.rst").export_to_markdown(escape_html=False, escape_underscores=False)


def test_structure_and_lines() -> None:
    found = [(block.kind, block.level, block.text, block.line_start, block.line_end) for block in read(PROPOSAL)]
    assert found == [
        (Kind.text, 0, "PEP: 612\nTitle: Parameter Variables\nAuthor: Mark M <m@example.org>, Guido", 1, 4),
        (Kind.heading, 1, "Abstract", 7, 7),
        (Kind.text, 0, "It extends PEP 484 and typing.cast, see the typing docs.", 9, 9),
        (Kind.heading, 2, "Motivation", 14, 14),
        (Kind.text, 0, "versionadded 3.10 On request.", 16, 17),
        (Kind.item, 1, "one more", 19, 20),
        (Kind.text, 1, "beside it", 22, 22),
        (Kind.item, 2, "nested", 24, 24),
        (Kind.item, 1, "two", 25, 25),
        (Kind.text, 0, "Names:", 27, 27),
        (Kind.code, 0, "def f():\n\n    return 1", 29, 31),
        (Kind.table, 0, "", 33, 37),
    ]
    assert [[cell.text for cell in row] for row in read(PROPOSAL)[-1].cells] == [
        ["Name", "Size"],
        ["a", "1"],
        ["b", "2"],
    ]


def test_header_fields() -> None:
    found = read_restructured_text(PROPOSAL)
    assert found.title == "Parameter Variables"
    assert found.fields["author"] == "Mark M <m@example.org>, Guido"
    below = read_restructured_text("Guide\n=====\n\n:Author: Jane\n:Date: 2024-05-01\n\nText.\n")
    assert (below.title, below.fields) == ("Guide", {"author": "Jane", "date": "2024-05-01"})


def test_a_paragraph_with_colons_is_no_header() -> None:
    assert texts("Note: it is\nnot a header.\n\nMore.\n") == ["Note: it is not a header.", "More."]


def test_the_document_keeps_lists_and_tables() -> None:
    text = markdown(PROPOSAL)
    assert "- one more" in text
    assert "| Name   |   Size |" in text
    assert "```\ndef f():\n\n    return 1\n```" in text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (".. py:function:: open(file, mode)\n   :async:\n\n   Opens it.\n", ["function open(file, mode)", "Opens it."]),
        (".. tab-set::\n\n   .. tab-item:: Linux\n\n      Use apt.\n", ["tab-item Linux", "Use apt."]),
        (".. toctree::\n   :maxdepth: 2\n   :caption: All of it\n\n   intro\n", ["toctree All of it", "intro"]),
        (":ref:`the guide <guide>` and :doc:`index`", ["the guide and index"]),
        (":made:up:`role` and `text`:other:", ["role and text"]),
        ("|undefined| stays", ["|undefined| stays"]),
        (".. raw:: html\n\n   <b>bold</b>\n", [".. raw:: html\n\n   <b>bold</b>"]),
        (".. include:: /etc/hostname\n", [".. include:: /etc/hostname"]),
        (".. math::\n   :label: eq\n\n   a = b\n", [".. math::\n   :label: eq\n\n   a = b"]),
        (".. warning:: Mind the gap.\n", ["Warning: Mind the gap."]),
        ("Term : kind\n   Meaning.\n", ["Term : kind: Meaning."]),
        ("-q, --quiet  Say less.\n", ["`-q, --quiet`: Say less."]),
        ("See [#]_.\n\n.. [#] The note.\n", ["See [1].", "[1] The note."]),
        (
            "`docs <https://example.org>`_ and https://example.org",
            ["[docs](https://example.org) and https://example.org"],
        ),
        ("See docs_.\n\n.. _docs: https://example.org\n", ["See docs.", "docs: https://example.org"]),
        (".. a comment\n\nText.\n", ["Text."]),
        (".. image:: a.png\n   :alt: A ship\n", ["A ship"]),
        ("| one\n| two\n", ["one\ntwo"]),
        ("Text ``with *stars*`` and *more*.", ["Text `with *stars*` and more."]),
    ],
)
def test_nothing_vanishes(text: str, expected: list[str]) -> None:
    assert texts(text) == expected


def test_code_of_sphinx_keeps_its_language() -> None:
    code = read(".. code-block:: python\n   :linenos:\n   :emphasize-lines: 2\n\n   x = 1\n   y = 2\n")[0]
    assert (code.kind, code.text, code.language, code.line_start, code.line_end) == (
        Kind.code,
        "x = 1\ny = 2",
        "python",
        5,
        6,
    )


def test_cells_that_span() -> None:
    table = "+---+---+\n| a | b |\n+   +---+\n|   | c |\n+---+---+\n| wide  |\n+-------+\n"
    cells = read(table)[0].cells
    assert [(cell.text, cell.row, cell.column, cell.rows, cell.columns) for row in cells for cell in row] == [
        ("a", 0, 0, 2, 1),
        ("b", 0, 1, 1, 1),
        ("c", 1, 1, 1, 1),
        ("wide", 2, 0, 1, 2),
    ]


def test_broken_markup_is_still_read() -> None:
    found = texts("Title\n====\n\n* item\nnot indented ``open\n\n+--+\n| broken\n\nEnd.\n")
    assert found[0] == "Title"
    assert found[-1] == "End."
    assert any("| broken" in text for text in found)
    assert any("not indented ``open" in text for text in found)


def test_a_document_leaves_nothing_behind() -> None:
    read(".. role:: pep(emphasis)\n\n:pep:`1` :mine:`x`\n")
    assert texts(":pep:`8`") == ["PEP 8"]


@pytest.mark.parametrize("text", ["a" * 20_000, "- " * 3000 + "deep"])
def test_what_is_no_markup_is_told(text: str) -> None:
    with pytest.raises(UnreadableMarkup):
        read(text)
