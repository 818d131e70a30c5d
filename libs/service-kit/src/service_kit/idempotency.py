"""Makes creation idempotent: an Idempotency-Key determines the id of what is created.

The second request of the same caller finds the row that the first one wrote, even while the first is under way: insert
with `ON CONFLICT DO NOTHING`, read the row, and compare it with the body.
"""

from __future__ import annotations

from uuid import UUID, uuid4, uuid5

from service_kit.problems import Conflict


class IdempotencyKeyReused(Conflict):
    type, title = "idempotency-key-reused", "This Idempotency-Key was already used for a different request"


def creation_id(scope: UUID, idempotency_key: str | None, kind: str = "") -> UUID:
    """Returns the id of a new resource: the same for the same key, scope and kind; random without a key.

    `scope` is what the key belongs to: a user, a workspace or an API key.
    """
    return uuid4() if idempotency_key is None else uuid5(scope, kind + idempotency_key)
