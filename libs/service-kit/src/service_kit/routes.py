"""What routes need: to be added to an application, and what it keeps in its state."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import APIRouter, FastAPI, Request


def add_routes(app: FastAPI, router: APIRouter) -> None:
    """Adds the router's routes as they are.

    `include_router` rebuilds every route at an application's first request and matches twice at each request, to
    support prefixes, dependencies and the like, which are not needed here.
    """
    app.router.routes.extend(router.routes)


def from_state(name: str) -> Callable[[Request], Awaitable[Any]]:
    """Returns a dependency: the object that the composition root has put into the application's state.

    It is a coroutine because FastAPI runs other functions in a thread, which takes longer than this.
    """

    async def read(request: Request) -> Any:
        return getattr(request.app.state, name)

    return read
