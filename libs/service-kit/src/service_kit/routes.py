"""Adds a router's routes to an application."""

from __future__ import annotations

from fastapi import APIRouter, FastAPI


def add_routes(app: FastAPI, router: APIRouter) -> None:
    """Adds the router's routes as they are.

    `include_router` rebuilds every route at an application's first request and matches twice at each request, to
    support prefixes, dependencies and the like, which are not needed here.
    """
    app.router.routes.extend(router.routes)
