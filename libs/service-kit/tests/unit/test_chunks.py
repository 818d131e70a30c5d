from uuid import UUID

import pytest

from contracts.ingestion import Chunk
from service_kit.chunks import read_chunks, read_lines

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
