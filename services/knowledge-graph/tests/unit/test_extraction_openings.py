"""What the first sentence of a text defines, if no title does."""

from __future__ import annotations

import pytest

from knowledge_graph.extraction.definitions import opening
from knowledge_graph.extraction.document import extract
from knowledge_graph.extraction.english_reader import load_reader
from knowledge_graph.extraction.records import Extraction, SourceChunk, SourceDocument, Span


@pytest.fixture(scope="module")
def read():
    return load_reader()


def extraction_of(*texts: str, read=None) -> Extraction:
    passages = tuple(SourceChunk(f"c{number}", text) for number, text in enumerate(texts))
    return extract(SourceDocument("17.txt", None, False, passages), read)


def about(extraction: Extraction, chunk: str = "c0") -> set[tuple[str, str]]:
    return {
        (one.surface, one.about)
        for one in extraction.mentions
        if one.chunk_id == chunk and one.about not in {None, "name"}
    }


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("The Guns and the Fury is a 1981 film starring Peter Graves.", "The Guns and the Fury"),
        ("Lost in the Stratosphere is a 1934 American drama film.", "Lost in the Stratosphere"),
        ("Wrong Turn 3: Left for Dead is a 2009 horror film.", "Wrong Turn 3: Left for Dead"),
        ('"Dance with Me" is a song by Kelly Clarkson.', "Dance with Me"),
        ("Love, Honor and Behave is a 1920 silent comedy film.", "Love, Honor and Behave"),
        ("Estonian Theatre and Music Museum is a museum in Tallinn.", "Estonian Theatre and Music Museum"),
        ("The Margraviate of Austria was a march of the Empire.", "Margraviate of Austria"),
        ("Edward J. Yates (September 16, 1918 – June 2, 2006) directed films.", "Edward J. Yates"),
        ("William Pett Ridge( 1859–1930), English author, was born at Chartham.", "William Pett Ridge"),
        ("Albert- Édouard Janssen was a Belgian politician.", "Albert- Édouard Janssen"),
        ("Radzice is part of the name of two villages.", "Radzice"),
        ("Personal Computer World (PCW) (February 1978 – June 2009) was a magazine.", "Personal Computer World"),
        ("Charles Buls or Karel Buls (1837 – 1914) was a Belgian politician.", "Charles Buls"),
        ("Mr. Flip is a 1909 silent comedy film.", "Mr. Flip"),
        ("Altamont Pass wind farm is one of the earliest of its kind.", "Altamont Pass wind farm"),
    ],
)
def test_the_full_name_is_defined(text, name):
    found = opening(text, [])
    assert found is not None
    assert (found.name.surface, text[found.name.start : found.name.end]) == (name, name)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "It is a test.",
        "This is the best of AuthService.",
        "She was born in Oslo in 1950.",
        "Born in Salt Lake City, Utah, Taylor was the son of Thomas.",
        "In 1999, Ann was a singer.",
        "After Kim Jong Il (1941–2011), the ruler, died, others followed.",
        "Relaxed zoning rules are a privilege.",
        "The board (which met in 1950) decided it.",
        "Seattle receives some snowfall.",
        "President is an office.",
        "\x00(((((",
    ],
)
def test_an_opening_without_a_definition_defines_nothing(text):
    assert opening(text, []) is None


@pytest.mark.parametrize(
    ("text", "kind", "others"),
    [
        ("Janis Lyn Joplin (January 19, 1943 – October 4, 1970) was a singer.", "PERSON", {"Janis Joplin"}),
        ("Walram II of Nassau (died 1276) was Count of Nassau.", "PERSON", {"Walram II"}),
        ("Pieter van Vollenhoven Jr. (born April 30, 1939) is the husband.", "PERSON", {"Pieter van Vollenhoven"}),
        ('Gian-Carla "Gia" Coppola (born 1987) is a director.', "PERSON", {"Gian-Carla Coppola", "Gia Coppola"}),
        ("Air Georgian Limited is a privately owned airline.", "ORG", {"Air Georgian"}),
        ("Charles Buls or Karel Buls (1837 – 1914) was a politician.", "GPE", {"Karel Buls"}),
        ("Alexander Hamilton Institute is an institute.", "ORG", set()),
    ],
)
def test_alternative_names_are_aliases(text, kind, others):
    found = opening(text, [Span(0, 200, text, kind)])
    assert found is not None
    assert set(found.others) == others


def test_the_chunk_is_about_all_names_in_its_opening(read):
    found = extraction_of("Janis Lyn Joplin (January 19, 1943 – October 4, 1970) was an American singer.", read=read)
    assert about(found) == {("Janis Lyn Joplin", "definition"), ("Janis Joplin", "definition")}


def test_a_defined_name_is_found_in_later_chunks(read):
    found = extraction_of("The Guns and the Fury is a 1981 film.", "We saw Guns and the Fury twice.", read=read)
    assert [one.name_key for one in found.mentions if one.chunk_id == "c1" and one.end] == ["gunsandthefury"]


@pytest.mark.parametrize(
    "text", ["A" * 100_000, "A b " * 30_000, "A (" * 30_000, "A, " * 30_000, "Ab (1" + "()" * 30_000]
)
def test_hostile_text_is_extracted_in_bounded_time(text):
    opening(text, [])


@pytest.mark.parametrize(
    ("first", "second", "name"),
    [
        ("Ann Berg (born 3 May 1950) was a singer.", "She moved to Oslo later.", "Ann Berg"),
        ("The Guns and the Fury is a 1981 film.", "The film was shot in Rome.", "The Guns and the Fury"),
        ("Air Georgian Limited is an airline.", "It has its seat in Toronto.", "Air Georgian Limited"),
        ("The Guns and the Fury is a 1981 film.", "Its author won a prize.", "The Guns and the Fury"),
    ],
)
def test_a_chunk_that_continues_the_topic_is_about_it(first, second, name, read):
    assert (name, "subject") in about(extraction_of(first, second, read=read), "c1")


@pytest.mark.parametrize("second", ["Rome is a city.", "The weather was bad.", "He stayed at home."])
def test_a_chunk_that_starts_another_topic_is_not_about_it(second, read):
    found = about(extraction_of("The Guns and the Fury is a 1981 film.", second, read=read), "c1")
    assert "The Guns and the Fury" not in {surface for surface, _ in found}
