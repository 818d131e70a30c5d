"""How an application takes in the routes of a router."""

from __future__ import annotations

from fastapi import APIRouter, FastAPI


def add_routes(app: FastAPI, router: APIRouter) -> None:
    """Adds the router's routes as they are.

    `include_router` makes every route anew at the first request of each application, and looks for the one that
    matches twice at each request, so that a prefix, dependencies and the like may be added; here nothing is.
    """
    app.router.routes.extend(router.routes)
