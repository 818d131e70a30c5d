"""Where the object store keeps what belongs to a document: every key begins with its workspace's id."""

from __future__ import annotations

from uuid import UUID


def original_key(workspace_id: UUID, content_hash: str) -> str:
    """Returns the key of an original: content-addressed within its workspace."""
    return f"{workspace_id}/originals/{content_hash}"


def derived_prefix(workspace_id: UUID, document_id: UUID) -> str:
    """Returns the prefix of every object made from a document."""
    return f"{workspace_id}/documents/{document_id}/"
