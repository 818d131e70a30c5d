from uuid import UUID, uuid4

import pytest

from contracts.events import DocumentConverted, Event
from contracts.ingestion import Chunk
from service_kit.chunks import portions, read_chunks, read_lines
from service_kit.outbox import new_event

DOCUMENT = UUID(int=1)


def chunk(index: int) -> Chunk:
    content = f"ü\u2028{index}"
    return Chunk(chunk_id=f"c{index}", document_id=DOCUMENT, chunk_index=index, content=content, token_count=1)


CHUNKS = [chunk(index) for index in range(12)]
OBJECT = "".join(one.model_dump_json() + "\n" for one in CHUNKS).encode()


@pytest.mark.parametrize("size", [1, 7, 1000, len(OBJECT)])
def test_chunks_are_parsed_from_pieces_of_any_size(size: int) -> None:
    pieces = [OBJECT[start : start + size] for start in range(0, len(OBJECT), size)]
    assert list(read_chunks(pieces)) == CHUNKS


def test_only_the_requested_chunks_are_parsed() -> None:
    broken = OBJECT + b"{not json}\n"
    assert [one.chunk_index for one in read_chunks([broken], {"c1", "c7"})] == [1, 7]
    assert list(read_chunks([broken], set())) == []


def test_an_invalid_line_is_an_error() -> None:
    with pytest.raises(ValueError, match="chunk_id"):
        list(read_chunks([b"{}\n"]))


def test_blank_lines_and_a_missing_final_newline_are_accepted() -> None:
    assert list(read_lines([b"a\n\n", b" \nb"])) == [b"a", b"b"]


def converted(chunk_count: int) -> Event:
    data = DocumentConverted(
        document_id=uuid4(),
        version=1,
        name="a.md",
        title=None,
        tags=[],
        source_type="upload",
        media_type="text/markdown",
        language=None,
        chunks_key="",
        chunk_count=chunk_count,
        vectors_key=None,
        embedding_model=None,
        embedding_dims=None,
    )
    return new_event("ingestion", uuid4(), data, str(data.document_id))


def test_documents_with_few_chunks_are_read_together_and_a_large_one_alone():
    counts = [3, 100, 97, 1, 5_000, 0, 2]
    found = [[data.chunk_count for _, data in portion] for portion in portions([converted(one) for one in counts])]
    assert found == [[3, 100, 97], [1], [5_000], [0, 2]]
    assert list(portions([])) == []
