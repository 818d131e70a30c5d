import pytest

from knowledge_graph.expansion.linking import candidates
from knowledge_graph.expansion.near_names import SHARE, Near, nearest, unlinked
from knowledge_graph.extraction.names import entity_id, name_key


def near(name: str, key: str, similarity: float) -> Near:
    return Near(entity_id(name_key(name)), name_key(name), name, "ENTITY", 2, 1, [], key, similarity)


def linked(text: str, *known: Near) -> list[tuple[str, list[str]]]:
    by_key: dict[str, list[Near]] = {}
    for one in known:
        by_key.setdefault(one.key, []).append(one)
    runs = unlinked(text, candidates(text), [])
    return [
        (text[one.start : one.end], [each.entity.name for each in one.meanings]) for one in nearest(text, runs, by_key)
    ]


def test_word_sequences_that_look_like_names_are_looked_up_longest_first():
    text = "Where does the Philbrook Museum lie, and who founded it?"
    assert [one.key for one in unlinked(text, candidates(text), [])] == ["philbrookmuseum", "philbrook", "museum"]
    assert unlinked("where does the museum lie?", candidates("where does the museum lie?"), []) == []
    assert unlinked("Where is it?", candidates("Where is it?"), []) == []


def test_linked_words_are_not_looked_up():
    text = "Who is the mother of Lothair II?"
    (run,) = (one for one in candidates(text) if one.key == name_key("Lothair II"))
    known = nearest(text, [run], {run.key: [near("Lothair II", run.key, 1.0)]})
    assert unlinked(text, candidates(text), known) == []


def test_a_partial_or_misspelled_name_is_found():
    text = "In what city is the Philbrook Museum?"
    found = near("Philbrook Museum of Art", "philbrookmuseum", 0.45)
    other = near("Philbrick Museums", "philbrookmuseum", 0.6)
    assert linked(text, other, found) == [("Philbrook Museum", ["Philbrook Museum of Art"])]
    wrong = near("Maurice Elvey", "mauriceevley", 0.55)
    assert linked("When did Maurice Evley die?", wrong) == [("Maurice Evley", ["Maurice Elvey"])]
    assert linked("When did Maurice Evley die?", near("Maurice Ravel", "mauriceevley", 0.45)) == []


def test_equally_similar_names_share_the_match():
    text = "Who played in Walk Line?"
    both = [near("Walk the Line", "walkline", 0.6), near("Line Walk", "walkline", 0.5)]
    runs = unlinked(text, candidates(text), [])
    (one,) = nearest(text, runs, {"walkline": both})
    assert [each.share for each in one.meanings] == pytest.approx([SHARE / 2, SHARE / 2])
