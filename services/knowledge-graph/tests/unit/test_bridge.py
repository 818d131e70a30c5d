from uuid import UUID

import pytest

from knowledge_graph.expansion.bridge import (
    ONWARD,
    Mentioned,
    QuestionName,
    bridged,
    favoured,
    joined,
    lifted,
    onward,
    pairs_with,
    starts,
)
from knowledge_graph.expansion.places import Places, Where

DOCUMENT = UUID(int=1)
LOTHAIR = QuestionName("lothair", "Lothair II", 3, 1.0)


def where(entity: str, chunk: str, about: str | None = None) -> Where:
    return Where(entity, chunk, DOCUMENT, about)


def mentioned(
    entity: str, chunk: str, about: str | None = None, mentions: int = 2, entity_type: str = "ENTITY"
) -> Mentioned:
    return Mentioned(chunk, DOCUMENT, entity, about, 0, 9, entity.title(), entity_type, mentions)


def places(*rows: Where, chunks: int = 1000) -> Places:
    return Places(rows, chunks)


ABOUT_LOTHAIR = places(where("lothair", "a", "title"))


def test_a_chunk_about_a_name_is_boosted_more_than_one_that_mentions_it():
    found = lifted([LOTHAIR], places(where("lothair", "a", "title"), where("lothair", "b")))
    assert [one.place[1] for one in found] == ["a", "b"]
    assert found[0].about == 1.0
    assert found[1].about == 0.0


def test_a_rare_name_boosts_more_and_a_name_in_all_chunks_not_at_all():
    everywhere = [where("place", f"c{number}") for number in range(40)]
    found = lifted(
        [LOTHAIR, QuestionName("place", "Place", 40, 1.0)], places(where("lothair", "a"), *everywhere, chunks=40)
    )
    assert [one.place[1] for one in found] == ["a"]


def test_a_bridge_leads_from_a_mention_to_the_chunk_about_it():
    started = starts(
        {(DOCUMENT, "a"): 1.0},
        [mentioned("lothair", "a", "title", 3), mentioned("ermengarde", "a")],
        [LOTHAIR],
        ABOUT_LOTHAIR,
    )
    (end,) = bridged(started, places(where("ermengarde", "a"), where("ermengarde", "b", "title")))
    assert end.place == (DOCUMENT, "b")
    assert (end.start.question_name.name, end.start.mention.name) == ("Lothair II", "Ermengarde")
    assert end.gain == pytest.approx(1.0)


def test_no_bridge_starts_at_a_chunk_without_a_name_from_the_question():
    assert (
        starts({(DOCUMENT, "a"): 1.0}, [mentioned("ermengarde", "a")], [LOTHAIR], places(where("lothair", "b"))) == []
    )


def test_names_a_chunk_is_about_or_alone_mentions_start_no_bridge():
    mentions = [
        mentioned("lothair", "a"),
        mentioned("waldrada", "a", "title"),
        mentioned("aachen", "a", mentions=1),
    ]
    assert starts({(DOCUMENT, "a"): 1.0}, mentions, [LOTHAIR], ABOUT_LOTHAIR) == []


def test_the_best_path_determines_the_score():
    mentions = [
        mentioned("lothair", "a"),
        mentioned("ermengarde", "a"),
        mentioned("lothair", "b", "title"),
        mentioned("ermengarde", "b"),
    ]
    named = places(where("lothair", "a"), where("lothair", "b", "title"))
    (started,) = starts({(DOCUMENT, "a"): 1.0, (DOCUMENT, "b"): 0.9}, mentions, [LOTHAIR], named)
    assert started.mention.chunk_id == "b"
    assert 0.7 < started.weight < 0.9


def test_a_name_mentioned_in_too_many_chunks_is_not_followed():
    hub = [where("france", f"c{number}") for number in range(80)]
    started = starts(
        {(DOCUMENT, "a"): 1.0}, [mentioned("lothair", "a"), mentioned("france", "a")], [LOTHAIR], ABOUT_LOTHAIR
    )
    assert bridged(started, places(*hub)) == []


def test_a_second_bridge_continues_from_the_end_of_the_first():
    named = places(where("ermengarde", "b", "title"), where("tours", "c", "title"), where("tours", "b"))
    first = bridged(
        starts(
            {(DOCUMENT, "a"): 1.0}, [mentioned("lothair", "a"), mentioned("ermengarde", "a")], [LOTHAIR], ABOUT_LOTHAIR
        ),
        named,
    )
    mentions = [mentioned("ermengarde", "b", "title"), mentioned("tours", "b"), mentioned("lothair", "b")]
    (started,) = onward(first, mentions, {"lothair", "ermengarde"})
    assert started.weight == pytest.approx(ONWARD * first[0].gain)
    assert [one.mention.name for one in started.way] == ["Ermengarde", "Tours"]
    assert started.source == ("ermengarde", "Ermengarde")
    (second,) = bridged([started], named)
    assert second.place == (DOCUMENT, "c")
    assert joined(first, [second]) == [*first, second]


def test_for_a_statement_a_mere_mention_of_its_names_starts_no_bridge():
    named = places(where("lothair", "a", "title"), where("lothair", "b"), where("lothair", "c", "subject"))
    assert [one.place[1] for one in lifted([LOTHAIR], named, is_question=False)] == ["a"]
    seeds = {(DOCUMENT, "b"): 1.0}
    mentions = [mentioned("lothair", "b"), mentioned("ermengarde", "b")]
    assert starts(seeds, mentions, [LOTHAIR], named, is_question=False) == []
    defined = places(where("lothair", "a", "definition"), where("lothair", "b", "heading"))
    assert lifted([LOTHAIR], defined, is_question=False) == []
    assert [one.mention.name for one in starts(seeds, mentions, [LOTHAIR], named)] == ["Ermengarde"]


def test_a_title_counts_less_for_a_statement_than_for_a_question():
    (question,), (statement,) = (lifted([LOTHAIR], ABOUT_LOTHAIR, is_question=asks)[:1] for asks in (True, False))
    assert 0 < statement.score < question.score


def test_the_first_subject_of_a_seed_is_followed():
    mentions = [mentioned("lothair", "a", "title", 3), mentioned("ermengarde", "a", "subject")]
    (started,) = starts({(DOCUMENT, "a"): 1.0}, mentions, [LOTHAIR], ABOUT_LOTHAIR)
    assert started.mention.name == "Ermengarde"


def test_a_chunk_with_the_name_in_its_title_is_reached_and_boosted():
    rows = [Where("lothair", "c", DOCUMENT, None, titled=True), where("lothair", "d")]
    named = places(where("lothair", "a", "title"), *rows)
    assert [one.place[1] for one in lifted([LOTHAIR], named)] == ["a", "c", "d"]
    assert [one.place[1] for one in lifted([LOTHAIR], named, is_question=False)] == ["a"]
    shares = named.ends("lothair")
    assert shares[DOCUMENT, "a"] > shares[DOCUMENT, "c"] > 0
    many = places(*(where("lothair", f"m{number}") for number in range(30)), *rows)
    assert list(many.ends("lothair")) == [(DOCUMENT, "c")]


def test_the_full_name_behind_a_partial_name_is_followed():
    named = places(where("kingmongkut", "a"))
    assert not named.has_chunk_about("kingmongkut")
    named.add_part("kingmongkut", [places(where("mongkut", "b", "title")).chunks_about("mongkut")])
    assert 0 < named.ends("kingmongkut")[DOCUMENT, "b"] < 1


def test_relations_matching_the_question_are_followed_first():
    mentions = [mentioned("lothair", "a", "title", 3), mentioned("aachen", "a"), mentioned("ermengarde", "a")]
    started = starts({(DOCUMENT, "a"): 1.0}, mentions, [LOTHAIR], ABOUT_LOTHAIR)
    assert pairs_with(started, mentions) == {
        ("lothair", "aachen", "a"): "aachen",
        ("lothair", "ermengarde", "a"): "ermengarde",
    }
    assert [one.mention.entity_id for one in favoured(started, {"ermengarde"})] == ["ermengarde", "aachen"]


def test_a_concept_is_followed_if_a_chunk_defines_it():
    for about, ends in (("heading", 0), (None, 0), ("definition", 1)):
        mentions = [mentioned("lothair", "a", "title", 3), mentioned("date", "a", entity_type="CONCEPT")]
        started = starts({(DOCUMENT, "a"): 1.0}, mentions, [LOTHAIR], ABOUT_LOTHAIR)
        assert len(bridged(started, places(where("date", "a"), where("date", "b", about)))) == ends
