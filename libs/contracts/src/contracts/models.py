"""Chat models: what they are used for, which ones a workspace has, and what they took."""

from __future__ import annotations

from typing import Literal, get_args

ModelRole = Literal["router", "answer", "artifact", "summary", "title", "vision"]
MODEL_ROLES: tuple[ModelRole, ...] = get_args(ModelRole)
