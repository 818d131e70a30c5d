"""The routes with which owners see and fix services that fall behind or give events up."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Annotated, TypeVar
from uuid import UUID

from fastapi import APIRouter, Depends, Query
from redis.asyncio import Redis
from redis.exceptions import RedisError

from contracts.base import Page, ProblemBody
from contracts.gateway import Backlogs, DeadLetter, LettersReplay, LettersReplayed, Role
from gateway.access.authenticator import Admitted
from gateway.api.routes import FORBIDDEN
from gateway.errors import NeedsOwner
from gateway.operations.backlogs import read_backlogs
from gateway.operations.dead_letters import DeadLetters
from service_kit.pagination import Cursor, Limit, decode_cursor, page
from service_kit.problems import Unavailable
from service_kit.routes import Responses, from_state

T = TypeVar("T")
REFUSED: Responses = FORBIDDEN | {503: {"model": ProblemBody, "description": "Redis does not answer"}}
router = APIRouter(prefix="/v1", tags=["gateway"])


async def _owner(caller: Admitted) -> None:
    if caller.role is not Role.owner:
        raise NeedsOwner


async def _whose(
    caller: Admitted,
    everywhere: Annotated[bool, Query(description="All workspaces; requires an administrator")] = False,
) -> UUID | None:
    """Returns the workspace to show, or None for all. Raises NeedsOwner and NeedsAdmin."""
    await _owner(caller)
    if everywhere:
        caller.must_be_admin()
    return None if everywhere else caller.workspace.id


UsedDeadLetters = Annotated[DeadLetters, from_state("dead_letters")]
Whose = Annotated[UUID | None, Depends(_whose)]


@router.get("/backlogs", summary="Show how far services are behind", responses=REFUSED, dependencies=[Depends(_owner)])
async def list_backlogs(redis: Annotated[Redis, from_state("redis")]) -> Backlogs:
    """Requires an owner; lists the furthest behind first. Only counts events, across all workspaces."""
    return Backlogs(items=await _answered(read_backlogs(redis)))


@router.get("/dead-letters", summary="List the events that services gave up on", responses=REFUSED)
async def list_dead_letters(
    letters: UsedDeadLetters, workspace_id: Whose, limit: Limit = 50, cursor: Cursor = None
) -> Page[DeadLetter]:
    """Requires an owner; lists the oldest first, since its reason often explains the others."""
    milliseconds, sequence, stream = decode_cursor(cursor, int, int, str)
    after = None
    if milliseconds is not None and sequence is not None and stream is not None:
        after = milliseconds, sequence, stream
    rows = await _answered(letters.list(workspace_id, after, limit + 1))
    return page(rows, limit, _position)


@router.post("/dead-letters/replay", summary="Deliver dead letters again", responses=REFUSED)
async def replay_dead_letters(letters: UsedDeadLetters, workspace_id: Whose, body: LettersReplay) -> LettersReplayed:
    """Requires an owner. Each returns to its stream: the service that gave up tries again, the others skip it."""
    return LettersReplayed(replayed=await _answered(letters.replay(workspace_id, body.ids)))


def _position(letter: DeadLetter) -> tuple[int, int, str]:
    stream, milliseconds, sequence = letter.id.split("-")
    return int(milliseconds), int(sequence), stream


async def _answered(answer: Awaitable[T]) -> T:
    try:
        return await answer
    except (RedisError, OSError) as error:
        raise Unavailable("Redis, which holds the events, does not answer") from error
