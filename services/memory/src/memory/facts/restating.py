"""Updates what a fact states when its text is edited."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

from memory.facts.repository import FactRows
from memory.facts.rules import statements
from memory.facts.statements import USER


async def restate(facts: FactRows, user_id: UUID, fact_id: UUID, content: str) -> None:
    """Changes the user's fact to what the text states; if the rules read nothing from it, the text is the object."""
    statement = next(iter(statements(content, datetime.now(UTC), "UTC")), None)
    if statement is None or statement.subject is None:
        await facts.restate(user_id, fact_id, USER, "", content)
    else:
        await facts.restate(user_id, fact_id, statement.subject, statement.predicate, statement.object)
