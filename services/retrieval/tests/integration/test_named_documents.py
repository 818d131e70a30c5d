"""A question that calls a document by its designator (PEP 589) is answered from that document."""

from __future__ import annotations

from uuid import uuid4

import pytest

from contracts.events import DocumentIndexed
from retrieval.named.leg import MOST_DOCUMENTS

# The other document has more words of the question than the one that is asked about.
MENTIONS = [
    "This adds to annotations what PEP 589 and PEP 484 added.",
    "As in PEP 589, which types are allowed is open.",
]
OWN = ["Author: somebody", "A dictionary with a fixed set of keys gets a type.", "Keys may be required or not."]


@pytest.fixture
def stored(ingestion, converted):
    """await stored(name, texts, **more): indexes a document and returns its id as text."""
    count = 0

    async def store(name: str, texts: list[str], **more):
        nonlocal count
        count += 1
        document = await ingestion.embedded(converted(texts, name=name, **more))
        await ingestion.convert(document)
        await ingestion.wait_for(DocumentIndexed, count)
        return str(document.data.document_id)

    return store


def documents(answer) -> list[str]:
    return [hit["document_id"] for hit in answer["hits"]]


async def test_the_named_document_ranks_before_others_that_mention_it(stored, search):
    await stored("pep-0649.rst", MENTIONS)
    own = await stored("pep-0589.rst", OWN)
    answer = await search("Which types does PEP 589 add?", explain=True)
    assert documents(answer)[0] == own
    assert answer["hits"][0]["explanation"]["features"]["named"] == 1.0
    assert answer["hits"][0]["explanation"]["legs"]["named"]["rank"] is not None
    without = await search("Which keys are there?", explain=True)
    assert "named" not in {leg["leg"] for leg in without["legs"]}


async def test_a_question_for_an_overview_matches_the_beginning_of_the_document(stored, search):
    await stored("pep-0649.rst", MENTIONS)
    own = await stored("pep-0589.rst", OWN)
    answer = await search("What is pep-589 about?")
    assert [hit["chunk_index"] for hit in answer["hits"] if hit["document_id"] == own] == [0, 1, 2]
    assert answer["good_match"]


async def test_a_document_is_named_by_the_first_words_of_its_title(stored, search):
    titled = await stored("decision.md", OWN, title="ADR-011: keys are fixed")
    later = await stored("other.md", MENTIONS, title="Keys after ADR-011")
    found = documents(await search("Why ADR 11?"))
    assert found.index(titled) < found.index(later)


async def test_a_designator_shared_by_many_documents_names_none(stored, search):
    for number in range(MOST_DOCUMENTS + 1):
        await stored(f"release-3-part-{number}-x.md", [f"Part {number}."])
    answer = await search("What is in release 3?", explain=True)
    [leg] = [leg for leg in answer["legs"] if leg["leg"] == "named"]
    assert leg["method"] == "no document has such a name"


async def test_a_named_document_outside_the_filter_or_the_workspace_is_not_found(stored, search):
    await stored("pep-0589.rst", OWN)
    other = await stored("pep-0649.rst", MENTIONS)
    assert set(documents(await search("What does PEP 589 add?", document_ids=[other]))) == {other}
    assert documents(await search("What does PEP 589 add?", workspace_id=uuid4())) == []
