"""Cancels work when its caller disconnects."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.requests import ClientDisconnect, Request

Result = TypeVar("Result")


async def until(leaving: Coroutine[Any, Any, None], work: Coroutine[Any, Any, Result]) -> Result:
    """Returns the result of the work. If `leaving` returns first, cancels the work and raises ClientDisconnect."""
    left, working = asyncio.create_task(leaving), asyncio.create_task(work)
    try:
        await asyncio.wait((left, working), return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return await working
        raise ClientDisconnect
    finally:
        left.cancel()
        working.cancel()
        await asyncio.gather(left, working, return_exceptions=True)


async def unless_left(request: Request, work: Coroutine[Any, Any, Result]) -> Result:
    """Returns the work's result for a request whose body was read. Raises ClientDisconnect if the caller leaves."""

    async def left() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    return await until(left(), work)
