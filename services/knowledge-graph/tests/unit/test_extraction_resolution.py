"""All names of a thing in a document are one entity, ambiguous ones stay apart. Mostly patterns alone."""

from __future__ import annotations

import pytest

from knowledge_graph.extraction.document import Methods, extract
from knowledge_graph.extraction.english_reader import load_reader
from knowledge_graph.extraction.names import name_key
from knowledge_graph.extraction.records import Extraction, SourceChunk, SourceDocument, Span
from knowledge_graph.extraction.resolution import resolve


def extraction_of(*texts: str, read=None, title=None, methods=None) -> Extraction:
    passages = tuple(SourceChunk(f"c{number}", text) for number, text in enumerate(texts))
    document = SourceDocument("17.txt", title, False, passages)
    return extract(document, read, methods or Methods())


def keys(extraction: Extraction) -> dict[str, str]:
    return {one.surface: one.name_key for one in extraction.mentions}


@pytest.fixture(scope="module")
def read():
    return load_reader()


def resolved(*names: str, entity_type: str = "PERSON") -> dict[str, str]:
    """Returns what each name stands for, if it stands for another one."""
    by_key = {name_key(name): name for name in names}
    resolution = resolve([Span(0, 0, name, entity_type) for name in names])
    found = {name: resolution.key(name) for name in names}
    return {name: by_key[key] for name, key in found.items() if key != name_key(name)}


@pytest.mark.parametrize(
    ("short", "full"),
    [
        ("Strick", "Joseph Strick"),
        ("Guybrush", "Guybrush Threepwood"),
        ("Lothair", "Lothair II"),
        ("King Lothair II", "Lothair II"),
        ("Dr. Keller", "Maria Keller"),
        ("John A. Moore", "John Anderson Moore"),
        ("Peter Ham", "Peter William Ham"),
        ("Menezes", "Fradique de Menezes"),
        ("Mafalda", "Mafalda of Savoy"),
        ("Boso", "Boso the Elder"),
    ],
)
def test_a_person_is_resolved_by_part_of_the_name(short, full):
    assert resolved(short, full, "Anna Berg") == {short: full}


@pytest.mark.parametrize(
    ("short", "full"),
    [
        ("Taito", "Taito Corporation"),
        ("Legislative Council", "Legislative Council of Ceylon"),
        ("OPIC", "Overseas Private Investment Corporation"),
        ("Museum", "Foundling Museum"),
    ],
)
def test_an_organisation_is_resolved_by_its_short_name(short, full):
    assert resolved(short, full, entity_type="ORG") == {short: full}


@pytest.mark.parametrize(
    "names",
    [
        ("Lothair", "Lothair I", "Lothair II"),
        ("Brown", "Bobby Brown", "Anna Brown"),
        ("Anna Brown", "Anna Berg"),
        ("Brown Jr.", "Bobby Brown"),
        ("Adam", "Adams"),
    ],
)
def test_an_ambiguous_short_name_stays_separate(names):
    assert resolved(*names) == {}


def test_a_place_is_not_a_short_name_of_things_named_after_it():
    names = [Span(0, 0, "Liverpool", "GPE"), Span(0, 0, "Liverpool School of Tropical Medicine", "ORG")]
    assert resolve(names).targets == {}
    assert resolved("IBM", "IBM Research", entity_type="ORG") == {}


def test_the_order_of_names_does_not_matter():
    names = [
        Span(0, 0, name, "PERSON") for name in ("Moore", "John A. Moore", "John Anderson Moore", "King Lothair II")
    ]
    assert resolve(names) == resolve(reversed(names))


def test_a_surname_is_resolved_across_chunks(read):
    found = extraction_of("Joseph Strick directed the film.", "Later Strick moved to Paris.", read=read)
    assert keys(found)["Strick"] == name_key("Joseph Strick")
    assert keys(extraction_of("Joseph Strick directed it. Strick left.", read=read, methods=Methods(resolution=False)))[
        "Strick"
    ] == name_key("Strick")


def test_plural_possessive_and_adjective_resolve_to_the_place(read):
    text = (
        "Portugal won the contest. The Portuguese singer Ana Moura thanked Portugal's king. Ana Moura's song was new."
    )
    found = keys(extraction_of(text, read=read))
    assert found["Portuguese"] == "portugal"
    assert set(found.values()) >= {"portugal", "anamoura"}
    assert resolved("Access Token", "Access Tokens", entity_type="CONCEPT") == {"Access Tokens": "Access Token"}


def test_an_adjective_alone_is_not_resolved(read):
    assert (
        keys(extraction_of("A Portuguese singer won the contest in Dublin.", read=read))["Portuguese"] == "portuguese"
    )


@pytest.mark.parametrize(
    ("text", "alias", "target"),
    [
        ("We use Single Sign-On (SSO) everywhere.", "SSO", "Single Sign-On"),
        ("We use single sign-on (SSO) everywhere.", "SSO", "single sign-on"),
        (
            "The OPIC (Overseas Private Investment Corporation) helps.",
            "OPIC",
            "Overseas Private Investment Corporation",
        ),
        ("We call Payment Gateway, also known as PayGate, twice.", "PayGate", "Payment Gateway"),
        ("He met Maria Keller (born Maria Schmidt; 4 May 1960) there.", "Maria Schmidt", "Maria Keller"),
        ("Seymour Kay (born 1923), better known as Sy Kay, wrote it.", "Sy Kay", "Seymour Kay"),
        ("It went to Badfinger, formerly known as The Iveys, in May.", "Iveys", "Badfinger"),
    ],
)
def test_aliases_stated_in_the_text_are_used(text, alias, target):
    found = extraction_of(text)
    ((alias_key, target_key),) = [(one.alias_key, one.target_key) for one in found.aliases]
    assert (alias_key, target_key) == (name_key(alias), name_key(target))
    assert {one.name_key for one in found.mentions if one.end} == {name_key(target)}
    (one,) = found.aliases
    assert alias in text[one.start : one.end]


def test_a_remark_in_brackets_is_not_an_alias():
    assert extraction_of("We met Anna Berg (Team Heron) in Berlin (Germany).").aliases == []


def test_well_known_abbreviations_share_the_entity_of_the_full_name(read):
    found = extraction_of("The USA and the U.S. Navy met. The United States Navy left.", read=read)
    assert keys(found)["USA"] == "unitedstates"
    assert keys(found)["U.S. Navy"] == "unitedstatesnavy"
    assert {(one.alias, one.target) for one in found.aliases} == {("USA", "United States")}


def test_bare_offices_and_generic_nouns_are_not_names(read):
    text = "The Board met. The Executive Vice President of Acme Corporation asked the Board and the Prime Minister."
    assert set(keys(extraction_of(text, read=read)).values()) <= {"acmecorporation", "17txt"}


def test_an_entity_has_the_type_of_most_of_its_mentions(read):
    found = extraction_of(
        "Maria Keller wrote. Maria Keller sang. So did Maria Keller.", read=read, title="Maria Keller"
    )
    assert {one.entity_type for one in found.mentions if one.name_key == "mariakeller"} == {"PERSON"}


def test_the_title_is_recognised_as_a_name_throughout_the_text():
    found = extraction_of("Broadway or Bust is a film. He saw Broadway or Bust twice.", title="Broadway or Bust (film)")
    assert [one.surface for one in found.mentions if one.end] == ["Broadway or Bust", "Broadway or Bust"]
