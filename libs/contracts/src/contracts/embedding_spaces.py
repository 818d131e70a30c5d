"""Embedding spaces of a workspace."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from contracts.base import Request, Resource, Text


class SpaceStatus(StrEnum):
    """`available`: the model is configured, but no vectors exist. `ready`: complete, but not in use."""

    available = "available"
    building = "building"
    ready = "ready"
    active = "active"
    failed = "failed"
    dropping = "dropping"


class EmbeddingSpaceCreate(Request):
    """`model` is a configured model. With `activate`, searches switch to it as soon as it is complete."""

    model: Annotated[Text, Field(min_length=1, max_length=300)]
    dims: Annotated[int, Field(gt=0, le=4000)] | None = None
    activate: bool = True


class EmbeddingSpaceState(Resource):
    """An embedding space of the workspace: vectors of one model and dimension, never compared with others.

    `configured` is false when no running model can embed a query for it. It is complete when `vectors` equals `chunks`.
    """

    id: str
    model: str
    dims: int
    status: SpaceStatus
    configured: bool
    activate: bool
    vectors: int
    chunks: int
    seconds_left: float | None
    created_at: datetime | None
    activated_at: datetime | None
    error_class: str | None
    error_message: str | None
