"""The statements that read postings."""

from __future__ import annotations

from typing import LiteralString

from service_kit.statements import Statements


class PostingSql(Statements, file="postings.sql"):
    """Terms, the rows of their postings, and the texts that conditions are checked in."""

    terms_with_prefix: LiteralString
    similar_terms: LiteralString
    block_headers: LiteralString
    block_payloads: LiteralString
    group_payloads: LiteralString
    groups_between: LiteralString
    recent_payloads: LiteralString
    chunks_to_check: LiteralString
