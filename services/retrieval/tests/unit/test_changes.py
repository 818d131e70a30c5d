"""What a new version keeps of the old."""

from __future__ import annotations

from uuid import uuid4

from contracts.ingestion import Chunk
from retrieval.index.changes import ChunkChanges, Naming, StoredChunk, compare

DOCUMENT = uuid4()
CALLED = Naming("a.md", "Title")


def chunks(*ids: str, headings: list[str] | None = None) -> list[Chunk]:
    return [
        Chunk(chunk_id=one, document_id=DOCUMENT, chunk_index=index, content=one, token_count=1,
              heading_path=headings or [])
        for index, one in enumerate(ids)
    ]  # fmt: skip


def stored(*ids: str, embedded: bool = True) -> list[StoredChunk]:
    return [StoredChunk(100 + index, one, index, [], 3, 2, embedded) for index, one in enumerate(ids)]


def test_all_chunks_of_a_new_document_are_new() -> None:
    assert compare([], None, chunks("a", "b"), CALLED) == ChunkChanges({}, [0, 1], [0, 1], [0, 1], [], [])


def test_reindexing_the_same_content_only_adds_missing_vectors() -> None:
    assert compare(stored("a", "b"), CALLED, chunks("a", "b"), CALLED) == ChunkChanges(
        {0: 100, 1: 101}, [], [], [], [], []
    )
    late = compare(stored("a", "b", embedded=False), CALLED, chunks("a", "b"), CALLED)
    assert late == ChunkChanges({0: 100, 1: 101}, [], [], [0, 1], [], [])


def test_a_chunk_that_moved_keeps_its_number() -> None:
    changes = compare(stored("a", "b", "c"), CALLED, chunks("x", "b", "c"), CALLED)
    assert changes == ChunkChanges({1: 101, 2: 102}, [0], [0], [0], [], [100])


def test_the_first_chunk_is_also_found_by_the_file_name() -> None:
    changes = compare(stored("a", "b"), CALLED, chunks("b"), CALLED)
    assert changes == ChunkChanges({0: 101}, [], [0], [], [101], [100])


def test_a_new_title_changes_the_terms_of_every_chunk_and_no_vector() -> None:
    changes = compare(stored("a", "b"), CALLED, chunks("a", "b"), Naming("a.md", "Other"))
    assert changes == ChunkChanges({0: 100, 1: 101}, [], [0, 1], [], [100, 101], [])
    renamed = compare(stored("a", "b"), CALLED, chunks("a", "b"), Naming("b.md", "Title"))
    assert renamed == ChunkChanges({0: 100, 1: 101}, [], [0], [], [100], [])


def test_another_language_changes_the_terms_of_every_chunk() -> None:
    changes = compare(stored("a", "b"), CALLED, chunks("a", "b"), Naming("a.md", "Title", "german"))
    assert changes == ChunkChanges({0: 100, 1: 101}, [], [0, 1], [], [100, 101], [])


def test_a_chunk_under_different_headings_is_a_different_chunk() -> None:
    changes = compare(stored("a"), CALLED, chunks("a", headings=["New"]), CALLED)
    assert changes == ChunkChanges({}, [0], [0], [0], [], [100])


def test_a_duplicate_id_is_stored_once() -> None:
    changes = compare(stored("a", "a"), CALLED, chunks("a", "a"), CALLED)
    assert (changes.kept, changes.new, changes.removed) == ({0: 101}, [1], [100])
