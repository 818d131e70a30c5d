"""The vectors of candidates, for comparing them with each other."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from inference.embedders import SpaceKey
from retrieval.search.reader import QUERIES
from service_kit.postgres import Connection

HEADER = 4  # bytes before the numbers


async def vectors_of(
    connection: Connection, workspace_id: UUID, chunks: Sequence[int], space: SpaceKey
) -> dict[int, NDArray[np.float32]]:
    """By chunk, of about unit length (they are stored as halves); those without one in this space are left out."""
    values = {"workspace_id": workspace_id, "model": space[0], "dims": space[1], "chunks": list(chunks)}
    rows = await (await connection.execute(QUERIES["candidate_vectors"], values)).fetchall()
    return {chunk: np.frombuffer(sent, ">f2", offset=HEADER).astype(np.float32) for chunk, sent in rows}
