"""The lexical leg on a real index: the query language, natural languages, unknown words, and arbitrary input."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from uuid import uuid4

import numpy as np
import pytest
from prometheus_client import CollectorRegistry

import retrieval.index.groups
import retrieval.lexical.vocabulary
from contracts.retrieval import SearchRequest
from relevance.analysis import Analyzer
from relevance.bm25 import Parameters
from retrieval.index.compaction import Compaction
from retrieval.lexical.leg import LexicalLeg
from retrieval.ranking.features import Registry, SpaceWeights
from retrieval.ranking.rule import RankingRule
from retrieval.reading.leg import LegQuery, SearchLimits
from retrieval.reading.snapshot import SearchStore
from retrieval.search.filters import Scope
from retrieval.text.query import parse

RULE = RankingRule(Registry([], {}), SpaceWeights({}), {})
NAUGHTY = Path(__file__).parents[5] / "shared/eval/naughty-strings/blns.json"


@dataclass
class Answer:
    """An answer of the leg. `hits`: contents, best first; `features` and `matched` terms of every chunk, by content."""

    leg: LexicalLeg
    hits: list[str]
    features: dict
    matched: dict


@pytest.fixture
def compact(database):
    return Compaction(database, CollectorRegistry()).work_off


@pytest.fixture
def ask(database, workspace_id):
    """await ask(query, documents=numbers, depth=..., strict=...): the answer of the leg alone."""
    store, lexical = SearchStore(database, 100), LexicalLeg(Analyzer(), SearchLimits(30, posting_bytes=1 << 20))

    async def search(
        query: str, documents: list[int] | None = None, depth: int = 100, *, strict: bool = False, **more
    ) -> Answer:
        scope = None if documents is None else Scope(np.array(sorted(documents), np.int64), 0)
        async with store.snapshot(workspace_id, 30) as snapshot:
            request = SearchRequest(query="x")
            parsed = parse(query, strict=strict)
            leg = lexical.begin(LegQuery(snapshot, request, parsed, scope, RULE, None, depth, **more), "lexical")
            await leg.find()
            rows = await snapshot.reader.connection.execute("SELECT number, content FROM chunk ORDER BY number")
            contents = dict(await rows.fetchall())
            columns = await leg.features(list(contents))
            await leg.explain(snapshot.reader, list(contents))
        features = {
            chunk: {name: column[place] for name, column in columns.items()} for place, chunk in enumerate(contents)
        }
        for one in leg.found:
            assert not features[one.chunk]["excluded"]
            assert features[one.chunk]["bm25"] == one.score
        hits = [contents[one.chunk] for one in leg.found]
        matched = {contents[chunk]: leg.explanation(chunk)["matched_terms"] for chunk in contents}
        return Answer(leg, hits, {contents[chunk]: found for chunk, found in features.items()}, matched)

    return search


@pytest.fixture(params=["recent", "in groups", "in many groups", "in blocks", "some of all"])
def write(request, index, converted, compact, monkeypatch):
    """await write(*texts, **facts): makes a document of each, with its postings where the parameter says."""
    if request.param in ("in many groups", "some of all"):
        monkeypatch.setattr(retrieval.index.groups, "_LARGEST", 20)
        monkeypatch.setattr(retrieval.lexical.vocabulary, "_FEW_GROUPS", 0)
    if request.param in ("in blocks", "some of all"):
        monkeypatch.setattr(retrieval.index.groups, "MOST_OF_A_TERM", 0 if request.param == "in blocks" else 1)
        monkeypatch.setattr(retrieval.index.compaction, "SMALL_AT_ONCE", 0)

    async def each(*texts: str, **facts) -> None:
        for number, text in enumerate(texts):
            await index(converted([text], **{"title": "", "name": "_"} | facts))
            if request.param.startswith("in ") or (request.param == "some of all" and number == len(texts) // 2):
                await compact()

    return each


async def test_prefixes_are_matched(write, ask):
    await write("The AuthService signs.", "Authentic leather", "an author", "running fast", "Zürich")
    assert set((await ask("auth*")).hits) == {"The AuthService signs.", "Authentic leather", "an author"}
    assert (await ask("AuthServ*")).hits == ["The AuthService signs."]
    assert (await ask("runnin*")).hits == ["running fast"]  # which is indexed as run
    assert (await ask("ZÜR*")).hits == ["Zürich"]
    assert (await ask("qqq*")).hits == []
    answer = await ask("leath* auth*")
    assert answer.hits[0] == "Authentic leather"
    assert answer.features["Authentic leather"]["all_terms"]
    assert not answer.features["an author"]["all_terms"]
    assert answer.leg.report().prefixes == ["leath", "auth"]


async def test_phrases_rank_first_and_are_required_in_strict_queries(write, ask):
    first = "A pool of connections. The words are apart: connection and, much later in this sentence, pooling."
    second = "Of many other things than these, of which there are a lot, it says that Connection Pooling is on."
    await write(first, second, "connection connection connection pooling pooling", "pooling", title="")
    plain, phrase = await ask("connection pooling"), await ask('"connection pooling"')
    assert plain.hits[-1] == "pooling"
    assert set(phrase.hits) == set(plain.hits)
    assert phrase.hits[:2] == ["connection connection connection pooling pooling", second]
    assert phrase.features[second]["phrases"] == 1
    assert phrase.features[first]["phrases"] == 0
    strict = await ask('"connection pooling"', strict=True)
    assert strict.hits == phrase.hits[:2]
    assert strict.features[first]["excluded"]
    assert (await ask('"pooling connection"', strict=True)).hits == []
    assert (await ask('"pooling the connection"', strict=True)).hits == [first]
    assert (await ask('"the of"', strict=True)).hits == []
    assert set((await ask('"the of" pooling', strict=True)).hits) == set(plain.hits)
    two = await ask('"connection pooling" "many other things"')
    assert two.hits[0] == second
    assert two.features[second]["phrases"] == 1


async def test_only_a_strict_query_excludes_words(write, ask):
    await write("red apple", "green apple", "apple in red and green", "apple pie", "apple tree house")
    assert set((await ask("apple -red", strict=True)).hits) == {"green apple", "apple pie", "apple tree house"}
    strict = await ask('apple -red -green -"tree house"', strict=True)
    assert strict.hits == ["apple pie"]
    assert strict.features["red apple"]["excluded"]
    assert strict.features["apple tree house"]["excluded"]
    assert len((await ask("apple -red")).hits) == 5


async def test_a_section_filter_narrows_the_search(write, ask):
    await write("install it", heading_path=["Guide", "Getting started"])
    await write("install it all", heading_path=["Reference"])
    assert (await ask("section:started install")).hits == ["install it"]
    assert (await ask('section:"getting started"')).hits == ["install it"]
    assert (await ask("section:getting section:reference install")).hits == []
    assert len((await ask("install")).hits) == 2


async def test_an_unknown_word_is_replaced_by_a_similar_one(write, ask):
    await write("the retrieval of passages", "a query planner", "PostgreSQL files", "AuthService", "rust")
    answer = await ask("retreival")
    assert answer.hits == ["the retrieval of passages"]
    assert answer.leg.report().corrected == {"retreiv": ["retriev"]}
    assert 0 < answer.features["the retrieval of passages"]["bm25_share"] < 0.7
    assert (await ask("qurey")).hits == ["a query planner"]
    assert (await ask("pxstgersqqll")).hits == []
    assert (await ask("postgersqll")).hits == ["PostgreSQL files"]
    for query in ("planner", "qqqq", "rsut7", "trust", "rus"):
        assert (await ask(query)).leg.report().corrected == {}, query


async def test_words_are_matched_in_several_languages(write, ask):
    german, english = "Die Häuser der großen Städte", "The houses of the big cities"
    await write(german, language="de")
    await write(english, "War and peace", language="en")
    for query in ("Haus", "häuser", "HÄUSERN", "Stadt städte"):
        assert (await ask(query)).hits == [german], query
    for query in ("house", "city"):
        assert (await ask(query)).hits == [english], query
    assert (await ask("house haus")).matched[german] == ["haus"]
    assert (await ask("war")).hits == ["War and peace"]  # a stop word of German
    assert (await ask("the houses of die")).hits == [english]


async def test_identifiers_and_ideograms_are_matched(write, ask):
    texts = [
        "AuthService.signToken()",
        "see CVE-2021-44228",
        "set snake_case_name",
        "v1.2.3 is out",
        "東京都の検索エンジン",
    ]
    await write(*texts)
    queries = ["authservice", "auth token", "CVE-2021-44228", "snake_case_name", "snake", "v1.2.3", "検索", "東京 検索"]
    expected = [0, 0, 1, 2, 2, 3, 4, 4]
    for query, number in zip(queries, expected, strict=True):
        assert (await ask(query)).hits == [texts[number]], query
    assert (await ask('"auth service"', strict=True)).hits == [texts[0]]


async def test_document_filters_apply_before_the_top_results_are_chosen(
    index, converted, compact, ask, database, workspace_id
):
    for number in range(40):
        await index(converted([f"word number{number} {'word ' * (number % 7)}"], title="", name="_"))
        if number in (10, 25):
            await compact()
    async with database.workspace(workspace_id) as connection:
        rows = await (await connection.execute("SELECT document, content FROM chunk ORDER BY number")).fetchall()
    some = dict(random.Random(2).sample(rows, 5))
    everything = (await ask("word")).hits
    assert (await ask("word", list(some))).hits == [text for text in everything if text in some.values()]
    assert (await ask("word", list(some), depth=2)).hits == [text for text in everything if text in some.values()][:2]
    assert (await ask("word", [])).hits == []
    assert (await ask("word", depth=9)).hits == everything[:9]


async def test_the_parameters_of_bm25_take_effect(write, ask):
    short, repeated = "apple pie", "apple apple apple and a good many other words that make it long as well, very long"
    await write(short, repeated)
    assert (await ask("apple", parameters=Parameters(1.2, 0.75))).hits == [short, repeated]
    assert (await ask("apple", parameters=Parameters(5.0, 0.0))).hits == [repeated, short]
    scores = {one.score for one in (await ask("apple", parameters=Parameters(0.0, 0.5))).leg.found}
    assert len(scores) == 1


async def test_an_empty_workspace_and_queries_without_words_give_no_results(ask, index, converted):
    for query in ("word", "wor*", '"a phrase"', "the", "-", "section:x", ""):
        answer = await ask(query, strict=True)
        assert (answer.hits, answer.leg.error) == ([], None)
    await index(converted(["text"]))
    assert (await ask("the")).hits == []


async def test_any_input_is_answered_quickly(write, ask):
    dice = random.Random(5)
    words = [f"{dice.choice('abcdefgh')}{number:x}word" for number in range(2000)]
    await write(*(" ".join(dice.sample(words, 50)) for _ in range(20)))
    naughty = json.loads(NAUGHTY.read_text("utf-8")) if NAUGHTY.exists() else ["\u202e", "%s", "' OR 1=1 --", "\\"]
    long = [
        " ".join(words)[:10_000], "a" * 10_000,
        '"' * 10_000, "a* " * 3_300, "ab* " * 2_500, "-x " * 3_300, '"a b" ' * 1_600,
        " ".join(f'"{one} {other}"' for one, other in pairwise(words))[:10_000],
        "section:a " * 1_000, "abcdefgh " * 1_100, "東" * 10_000, " ".join(f"{word[:3]}*" for word in words)[:10_000],
        " ".join(f"{word}x" for word in words)[:10_000], " ".join(uuid4().hex for _ in range(300)),
        " ".join("".join(dice.choices("abcdefghij", k=12)) for _ in range(760)),
    ]  # fmt: skip
    for query in [text.replace("\x00", "") for text in (*naughty, *long)]:
        for strict in (False, True):
            answer = await ask(query, strict=strict)
            assert answer.leg.error is None
