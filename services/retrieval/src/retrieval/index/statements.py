"""The statements that write the index."""

from __future__ import annotations

from typing import LiteralString

from service_kit.statements import Statements


class IndexDocumentSql(Statements, file="documents.sql"):
    """Indexed documents, their chunks and vectors, and the tombstones of deleted ones."""

    find: LiteralString
    deleted: LiteralString
    insert_tombstones: LiteralString
    take_numbers: LiteralString
    put: LiteralString
    set_facts: LiteralString
    remove: LiteralString
    count_remaining: LiteralString
    page: LiteralString
    stored_chunks: LiteralString
    chunks: LiteralString
    insert_chunks: LiteralString
    move_chunks: LiteralString
    reword_chunks: LiteralString
    remove_chunks: LiteralString
    insert_recent: LiteralString
    insert_vectors: LiteralString
    change_stemmings: LiteralString


class PostingRowsSql(Statements, file="postings.sql"):
    """Blocks, groups and recent rows of postings."""

    lock: LiteralString
    try_lock: LiteralString
    insert_blocks: LiteralString
    remove_blocks: LiteralString
    growing_blocks: LiteralString
    small_blocks: LiteralString
    touched_blocks: LiteralString
    overlapping_blocks: LiteralString
    touched_groups: LiteralString
    overlapping_groups: LiteralString
    put_groups: LiteralString
    remove_groups: LiteralString
    recent_of_documents: LiteralString
    oldest_recent: LiteralString
    insert_recents: LiteralString
    remove_recent: LiteralString
    recent_workspaces: LiteralString
    ask_for_compaction: LiteralString
    chunk_texts: LiteralString


class OrphanSql(Statements, file="orphans.sql"):
    """Chunks whose document has no row."""

    indexed_workspaces: LiteralString
    orphan_documents: LiteralString
    orphan_totals: LiteralString
    recount_stemmings: LiteralString
