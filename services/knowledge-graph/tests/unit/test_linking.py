from knowledge_graph.expansion.linking import Linked, Meaning, asks, candidates, longest_known, without_names
from knowledge_graph.extraction.names import entity_id, name_key
from knowledge_graph.graph_store import StoredEntity


def found(text: str, *known: str, entity_type: str = "ENTITY") -> list[Linked]:
    by_key = {
        name_key(name): [Meaning(StoredEntity(entity_id(name_key(name)), "", name, entity_type, 1, 1, []), 1.0)]
        for name in known
    }
    return longest_known(candidates(text), by_key)


def linked(text: str, *known: str, entity_type: str = "ENTITY") -> list[str]:
    return [name.meanings[0].entity.name for name in found(text, *known, entity_type=entity_type)]


def test_names_are_linked_in_any_spelling():
    assert linked("what calls the auth service?", "AuthService") == ["AuthService"]
    assert linked("Is Maria Keller's team using user_db", "Maria Keller", "UserDB") == ["Maria Keller", "UserDB"]


def test_the_longest_name_wins():
    assert linked("the payment gateway team", "Gateway", "Payment Gateway") == ["Payment Gateway"]
    title = "The Girl Who Kicked the Hornets' Nest"
    assert linked(f"who directed {title}?", title, "Girl", "Nest") == [title]


def test_stop_words_and_unknown_names_are_not_linked():
    assert linked("is it the one?", "One", "It") == []
    assert linked("💥", "AuthService") == []


def test_possessives_and_plurals_are_linked():
    assert linked("When did Lothair Ii's mother die?", "Lothair II") == ["Lothair II"]
    assert linked("the hosts’ names in the Hornets' nest", "Hornet") == ["Hornet"]
    assert linked("which Jesuits came", "Jesuit") == ["Jesuit"]


def test_a_single_lower_case_word_is_linked_only_to_a_name_written_that_way():
    assert linked("where do I find the brother of the line", "Brother", "Line") == []
    assert linked("what does numpy need", "numpy", entity_type="IDENTIFIER") == ["numpy"]
    assert linked("laminar flow", "Laminar", entity_type="DOCUMENT") == []
    assert linked("who wrote notes.md", "notes.md", entity_type="DOCUMENT") == ["notes.md"]


def test_separate_lower_case_words_are_not_an_identifier():
    assert linked("how to read a csv file", "csv_file", entity_type="IDENTIFIER") == []
    for written in ("what is in csv_file", "which Csv File is it", "who calls csvFile", "csvfile"):
        assert linked(written, "csv_file", entity_type="IDENTIFIER") == ["csv_file"]
    assert linked("what calls the auth service", "AuthService", entity_type="SERVICE") == ["AuthService"]


def test_a_linked_concept_is_marked_as_one():
    (concept,) = found("flow in a wind tunnel", "wind tunnel", entity_type="CONCEPT")
    assert concept.is_concept
    (name,) = found("who is maria keller", "Maria Keller", entity_type="PERSON")
    assert not name.is_concept


def test_a_defined_term_written_as_a_name_is_marked_as_a_concept():
    text = "Who was in charge of the country Damerjog is located in?"
    assert not found(text, "Damerjog", entity_type="CONCEPT")[0].is_concept
    assert not found("Who was Jump for Glory by?", "Jump for Glory", entity_type="CONCEPT")[0].is_concept
    for text, term in (
        ("Coffee is what?", "Coffee"),
        ("flow in a Wind Tunnel", "wind tunnel"),
        ("big data", "Big Data"),
    ):
        assert found(text, term, entity_type="CONCEPT")[0].is_concept


def test_the_remaining_question_contains_no_names_or_their_endings():
    text = "When did Lothair II's mother die?"
    assert without_names(text, found(text, "Lothair II")) == "When did mother die?"
    assert without_names("Beyoncé's mother", found("Beyoncé's mother", "Beyoncé")) == "mother"


def test_questions_are_distinguished_from_statements():
    assert all(asks(text) for text in ("Which king was it", "mother of Lothair?", "¿Quién fue Lotario", "他是谁？"))
    assert not any(asks(text) for text in ("Lothair II was a king.", "Whoever wins", ""))
