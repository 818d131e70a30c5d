"""What a search is limited to: resolved once, to document numbers that all legs use."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import uuid4

import pytest

from contracts.retrieval import Facet, SearchFilters
from relevance.analysis import Analyzer
from retrieval.errors import FilterTooSlow, InvalidMetadataPath
from retrieval.reading.snapshot import SearchStore
from retrieval.search import facets
from retrieval.search.filters import resolve

GIT, WEB = uuid4(), uuid4()
METADATA = {"authors": ["Ada", "Bob"], "pages": 12, "source": {"name": "Handbook", "path": "docs/a.md"}}


def day(number: int) -> datetime:
    return datetime(2025, 1, number, tzinfo=UTC)


@pytest.fixture
async def documents(index, converted):
    """Four documents that differ in everything, by letter."""
    made = {
        "a": converted(
            ["one", "two"],
            name="Alpha.MD",
            title="The Alpha Guide",
            tags=["Red", "big"],
            language="en",
            source_type="git",
            source_ids=[GIT],
            written_at=day(1),
            metadata=METADATA,
        ),
        "b": converted(
            ["three"],
            name="beta.pdf",
            media_type="application/pdf",
            tags=["RED"],
            language="de",
            source_type="web",
            source_ids=[GIT, WEB],
            modified_at=day(5),
            metadata={"pages": 3},
        ),
        "c": converted(["four"], name="gamma.txt", media_type="text/plain", written_at=day(9), modified_at=day(1)),
        "d": converted(["five"], name="delta.md", metadata={"flag": False, "authors": []}),
    }
    for document in made.values():
        await index(document)
    return made


@pytest.fixture
def store(database):
    return SearchStore(database, 100)


@pytest.fixture
def left(store, documents, workspace_id):
    """await left(fields={}, attached=None, **filters): letters of the matching documents; None if nothing limits."""

    async def ask(fields=None, attached=None, **filters):
        async with store.snapshot(workspace_id, 10) as snapshot:
            scope = await resolve(snapshot, Analyzer(), SearchFilters(**filters), fields or {}, attached, 10)
            if scope is None:
                return None
            rows = await (
                await snapshot.reader.connection.execute(
                    "SELECT number, document_id, chunk_count FROM indexed_document"
                )
            ).fetchall()
        letters = {document.data.document_id: letter for letter, document in documents.items()}
        numbers = set(scope.documents.tolist())
        assert scope.documents.tolist() == sorted(numbers)
        assert scope.chunks == sum(count for number, _, count in rows if number in numbers)
        return "".join(sorted(letters[document_id] for number, document_id, _ in rows if number in numbers))

    return ask


async def test_each_filter_keeps_only_matching_documents(left, documents):
    ids = {letter: document.data.document_id for letter, document in documents.items()}
    assert await left() is None
    assert await left(document_ids=[ids["a"], ids["c"], uuid4()]) == "ac"
    assert await left(source_ids=[WEB]) == "b"
    assert await left(source_ids=[GIT, uuid4()]) == "ab"
    assert await left(media_types=["application/pdf", "text/plain"]) == "bc"
    assert await left(source_types=["git", "web"]) == "ab"
    assert await left(tags=["red"]) == "ab"
    assert await left(tags=["BIG", "nothing"]) == "a"
    assert await left(languages=["EN", "fr"]) == "a"


async def test_several_filters_must_all_match_and_an_empty_one_matches_nothing(left):
    assert await left(tags=["red"], languages=["de"]) == "b"
    for name in ("document_ids", "source_ids", "media_types", "source_types", "tags", "languages"):
        assert await left(**{name: []}) == ""


async def test_date_filters_use_the_document_date_or_else_the_last_change(left):
    assert await left(written_from=day(5)) == "bc"
    assert await left(written_to=day(5)) == "ab"
    assert await left(written_from=day(2), written_to=day(8)) == "b"
    assert await left(written_from=day(8), written_to=day(2)) == ""


async def test_the_documents_of_a_session_narrow_the_search_and_never_widen_it(left, documents):
    ids = {letter: document.data.document_id for letter, document in documents.items()}
    assert await left(attached=[]) == ""
    assert await left(attached=[ids["a"], uuid4()]) == "a"
    assert await left(attached=[ids["a"], ids["b"]], document_ids=[ids["b"], ids["c"]]) == "b"


PATHS = [
    (['$.authors[*] ? (@ == "Ada")'], "a"),
    (["$.authors[*]"], "a"),
    (["$.pages"], "ab"),
    (["$.pages > 5"], "a"),
    (["$.pages ? (@ > 2)", '$.source.name ? (@ starts with "Hand")'], "a"),
    (["exists($.flag)"], "d"),
    (["$.flag ? (@ == false)"], "d"),
    (['$.source.path == "docs/a.md" || $.pages == 3'], "ab"),
    (["strict $.authors"], "ad"),
    (['$.authors[*] ? (@ == " like_regex ")'], ""),
    (["$.nothing.at.all"], ""),
    (["$.pages / 0 > 1"], ""),
    (['$.pages ? (@ == "twelve")'], ""),
]


async def test_metadata_is_filtered_by_paths(left):
    for paths, expected in PATHS:
        assert await left(metadata=paths) == expected, paths


BAD_PATHS = ["$.", "authors", "$.a ? (@ ==", "'; DROP TABLE chunk; --", "$[", '$ ? (@ like_regex "(a+)+$")', "(" * 400]


async def test_an_invalid_metadata_path_is_rejected_with_its_position(left):
    for path in BAD_PATHS:
        with pytest.raises(InvalidMetadataPath) as refused:
            await left(metadata=["$.pages", path])
        assert (refused.value.status, refused.value.extra["place"]) == (422, "metadata[1]")


async def test_a_slow_metadata_filter_is_rejected(store, index, converted, workspace_id):
    nested: dict = {"a": 1}
    for _ in range(40):
        nested = {"a": nested, "b": nested if len(str(nested)) < 3000 else 0}
    await index(converted(["x"], metadata=nested))
    async with store.snapshot(workspace_id, 10) as snapshot:
        with pytest.raises(FilterTooSlow):
            await resolve(
                snapshot, Analyzer(), SearchFilters(metadata=["$" + ".**" * 60 + " ? (@ == 17)"]), {}, None, 0.2
            )


FIELDS = [
    ({"title": ["alpha guide"]}, "a"),
    ({"title": ["beta"]}, "b"),
    ({"name": ["ALPHA.md"]}, "a"),
    ({"name": [".md"]}, "ad"),
    ({"title": ["guides"]}, "a"),
    ({"title": ["guide alpha"]}, ""),
    ({"title": ["lph"]}, ""),
    ({"title": ["alph*"], "name": ["md"]}, "a"),
    ({"title": ["gamma"], "type": ["pdf"]}, ""),
    ({"title": ["guide"], "tag": ["red"]}, "a"),
    ({"tag": ["red"]}, "ab"),
    ({"tag": ["red", "BIG"]}, "a"),
    ({"type": ["pdf"]}, "b"),
    ({"type": ["text/plain"]}, "c"),
    ({"type": ["md"]}, "ad"),
    ({"language": ["DE"]}, "b"),
    ({"source": ["git"]}, "a"),
    ({"source": ["handbook"]}, "a"),
    ({"source": [str(WEB)]}, "b"),
    ({"tag": ["red"], "type": ["pdf"]}, "b"),
    ({"title": ["%"]}, ""),
    ({"section": ["guide"]}, None),
]


async def test_fields_in_the_query_filter_too(left):
    for fields, expected in FIELDS:
        assert await left(fields=fields) == expected, fields


async def test_ten_thousand_document_ids_can_be_filtered(left, documents):
    ids = [uuid4() for _ in range(9_999)] + [documents["b"].data.document_id]
    assert await left(document_ids=ids) == "b"


async def test_facets_count_the_filtered_documents(store, documents, workspace_id):
    async with store.snapshot(workspace_id, 10) as snapshot:
        reader = snapshot.reader
        scope = await resolve(snapshot, Analyzer(), SearchFilters(tags=["red"]), {}, None, 10)
        some = await facets.count(reader, [Facet.tag, Facet.media_type, Facet.source, Facet.document], scope)
        every = await facets.count(reader, list(Facet), None)
        empty = await resolve(snapshot, Analyzer(), SearchFilters(tags=[]), {}, None, 10)
        nothing = await facets.count(reader, [Facet.tag], empty)
        assert await facets.count(reader, [], None) == {}

    def plain(counts):
        return [(one.value, one.chunks, one.documents) for one in counts]

    assert plain(some[Facet.tag]) == [("RED", 3, 2), ("big", 2, 1)] or plain(some[Facet.tag])[0][0].lower() == "red"
    assert sorted(plain(some[Facet.media_type])) == [("application/pdf", 1, 1), ("text/markdown", 2, 1)]
    assert plain(some[Facet.source]) == [(str(GIT), 3, 2), (str(WEB), 1, 1)]
    assert plain(some[Facet.document])[0] == (str(documents["a"].data.document_id), 2, 1)
    assert sorted(plain(every[Facet.language])) == [("de", 1, 1), ("en", 2, 1)]
    assert sorted(plain(every[Facet.source_type])) == [("git", 2, 1), ("upload", 2, 2), ("web", 1, 1)]
    assert nothing == {Facet.tag: []}


async def test_a_document_indexed_before_names_were_indexed_is_found_by_its_name(left, database, workspace_id):
    async with database.workspace(workspace_id) as connection:
        await connection.execute("UPDATE indexed_document SET name_terms = NULL")
    for fields, expected in FIELDS:
        assert await left(fields=fields) == expected, fields
