"""A short name that fits several full ones, and names that are spelled nearly alike: by place, else by the encoder."""

from __future__ import annotations

import pytest

from inference.errors import EncoderFailed
from knowledge_graph.extraction.document import extract
from knowledge_graph.extraction.encoder import load_encoder
from knowledge_graph.extraction.english_reader import load_reader
from knowledge_graph.extraction.names import name_key
from knowledge_graph.extraction.records import Extraction, Passage, SourceDocument

ENGINEER = (
    "Maria Keller is an engineer who designs bridges and tunnels. Maria Keller built the longest railway bridge of "
    "Norway in steel and concrete."
)
SINGER = (
    "Anna Keller is an opera singer and composer. Anna Keller sang Mozart and Verdi at the opera house of Vienna and "
    "wrote songs for soprano and piano."
)
TUNNEL = (
    "In 1998 the railway company ordered a second tunnel of reinforced concrete. The drawings of the bridge by Keller "
    "were used again for its steel arches."
)
CONCERT = (
    "The concert at the opera opened with songs for soprano. For the aria of Mozart the composer Keller took over."
)


@pytest.fixture(scope="module")
def read():
    return load_reader()


@pytest.fixture(scope="module")
def encode():
    found = load_encoder()
    assert found is not None
    return found


def extraction_of(*texts: str, read=None, encode=None, title=None) -> Extraction:
    passages = tuple(Passage(f"c{number}", text) for number, text in enumerate(texts))
    return extract(SourceDocument("17.txt", title, False, passages), read, encode=encode)


def meant(extraction: Extraction, surface: str = "Keller") -> dict[str, str]:
    """By chunk, what the surface stands for."""
    return {one.chunk_id: one.name_key for one in extraction.mentions if one.surface == surface}


def test_the_encoder_decides_where_a_chunk_names_neither(read, encode):
    found = extraction_of(ENGINEER, SINGER, TUNNEL, CONCERT, read=read, encode=encode)
    assert meant(found) == {"c2": "mariakeller", "c3": "annakeller"}
    assert found.notes == []


def test_without_an_encoder_it_stays_open_and_the_document_says_so(read):
    found = extraction_of(ENGINEER, SINGER, TUNNEL, CONCERT, read=read)
    assert meant(found) == {"c2": "keller", "c3": "keller"}
    assert found.notes == ["2 ambiguous names were left open: no sentence encoder"]


def test_an_encoder_that_fails_leaves_it_open(read):
    def fails(text: str):
        raise EncoderFailed(text)

    found = extraction_of(ENGINEER, SINGER, TUNNEL, read=read, encode=fails)
    assert meant(found) == {"c2": "keller"}
    assert found.notes == ["1 ambiguous names were left open: no sentence encoder"]


def test_what_the_encoder_cannot_tell_stays_open(read, encode):
    found = extraction_of(ENGINEER, SINGER, "It rained when the mayor Keller came.", read=read, encode=encode)
    assert meant(found) == {"c2": "keller"}
    assert found.notes == []


def test_the_one_that_the_chunk_names_needs_no_encoder(read):
    found = extraction_of(ENGINEER, SINGER + " Later Keller moved to Graz.", read=read)
    assert meant(found) == {"c1": "annakeller"}


def test_whom_the_text_is_about_is_the_subject(read):
    text = "Maria Keller (born 1950) was an engineer and the sister of Anna Keller. Keller studied in Oslo."
    assert meant(extraction_of(text, read=read)) == {"c0": "mariakeller"}
    other = "Maria Keller (born 1950) was a sister of Anna Keller. The name was short for Keller."
    assert meant(extraction_of(other, read=read)) == {"c0": "keller"}


def test_the_same_document_gives_the_same_graph(read, encode):
    texts = (ENGINEER, SINGER, TUNNEL, CONCERT)
    assert extraction_of(*texts, read=read, encode=encode) == extraction_of(*texts, read=read, encode=encode)


def test_many_ties_are_bounded(read):
    asked = []

    def counting(text: str):
        asked.append(text)
        return load_encoder()("the same")

    texts = [f"On day {number} the mayor Keller opened road {number}." for number in range(90)]
    found = extraction_of(ENGINEER, SINGER, *texts, read=read, encode=counting)
    assert len(asked) == len(set(asked)) <= 60
    assert found.notes == ["32 ambiguous names were left open: only 60 texts of a document are encoded"]


SPELLED = "The Centre for Disease Control warned the city. Later the Center for Disease Control lifted its warning."


def test_names_that_differ_by_a_letter(encode):
    found = extraction_of(SPELLED, encode=encode)
    assert {one.name_key for one in found.mentions if one.end} == {name_key("Center for Disease Control")}


@pytest.mark.parametrize(
    "text",
    [
        "The Bank of Austria and the Bank of Austris merged.",
        "The University of Northwest Ohio won. Later the University of Northeast Ohio lost.",
    ],
)
def test_what_differs_stays_apart(text, encode):
    found = extraction_of(text, encode=encode)
    assert len({one.name_key for one in found.mentions if one.end}) == 2


def test_british_and_american_names_are_aliases_in_the_whole_workspace():
    found = extraction_of("We met the Centre for Disease Control in Oslo.")
    assert [(one.alias, one.target, one.method) for one in found.aliases] == [
        ("Centre for Disease Control", "Center for Disease Control", "spelling")
    ]
    assert extraction_of("We met the Labour Party and the Center for Disease Control.").aliases == []
