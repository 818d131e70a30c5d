"""Adds routes to an application, and gives them what its lifespan has built."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, FastAPI, Request

from service_kit.postgres import Database

Responses = dict[int | str, dict[str, Any]]  # what a route documents besides its result


def add_routes(app: FastAPI, router: APIRouter) -> None:
    """Adds the router's routes as they are.

    `include_router` rebuilds every route at an application's first request and matches twice at each request, to
    support prefixes, dependencies and the like, which are not needed here.
    """
    app.router.routes.extend(router.routes)


def from_state(name: str) -> Any:
    """Returns a dependency on what `app.state` has under this name: `Annotated[Accounts, from_state("accounts")]`."""

    # A coroutine, because a plain function would run in another thread, which costs more than its work.
    async def provide(request: Request) -> Any:
        return getattr(request.app.state, name)

    return Depends(provide)


UsedDatabase = Annotated[Database, from_state("database")]
