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
def test_pieces_of_any_size_give_the_same_chunks(size: int) -> None:
    pieces = [OBJECT[start : start + size] for start in range(0, len(OBJECT), size)]
    assert list(read_chunks(pieces)) == CHUNKS


def test_only_the_wanted_ones_are_parsed() -> None:
    broken = OBJECT + b"{not json}\n"
    assert [one.chunk_index for one in read_chunks([broken], {"c1", "c7"})] == [1, 7]
    assert list(read_chunks([broken], set())) == []


def test_a_line_that_is_no_chunk_is_an_error() -> None:
    with pytest.raises(ValueError, match="chunk_id"):
        list(read_chunks([b"{}\n"]))


def test_blank_lines_and_a_missing_last_line_end_do_no_harm() -> None:
    assert list(read_lines([b"a\n\n", b" \nb"])) == [b"a", b"b"]
