"""The API's documentation for machines and people; it loads nothing from other hosts."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from importlib import resources

from fastapi import APIRouter, Request, Response

from gateway.access.response_headers import DOCS_POLICY

FILES = {
    "": ("gateway.api", "static/docs.html", "text/html; charset=utf-8"),
    "start.js": ("gateway.api", "static/start.js", "text/javascript; charset=utf-8"),
    "swagger-ui-bundle.js": ("fastapi_swagger", "resources/swagger-ui-bundle.js", "text/javascript; charset=utf-8"),
    "swagger-ui.css": ("fastapi_swagger", "resources/swagger-ui.css", "text/css; charset=utf-8"),
    "favicon-32x32.png": ("fastapi_swagger", "resources/favicon-32x32.png", "image/png"),
}
CACHED = "public, max-age=3600"


def routes() -> APIRouter:
    """Returns the routes of /openapi.json and /docs, open to everyone."""
    router = APIRouter(include_in_schema=False)
    document = resources.files("contracts").joinpath("api/attractor.openapi.json").read_bytes()
    headers = {"ETag": f'"{hashlib.sha256(document).hexdigest()[:32]}"', "Cache-Control": "no-cache"}

    @router.get("/openapi.json")
    async def openapi(request: Request) -> Response:
        if request.headers.get("if-none-match") == headers["ETag"]:
            return Response(status_code=304, headers=headers)
        return Response(document, headers=headers, media_type="application/json")

    for name, (package, path, media_type) in FILES.items():
        router.get(f"/docs/{name}" if name else "/docs")(_file(package, path, media_type))

    return router


def _file(package: str, path: str, media_type: str) -> Callable[[Request], Awaitable[Response]]:
    content = resources.files(package).joinpath(path).read_bytes()

    async def respond(request: Request) -> Response:
        request.state.response_headers = {"content-security-policy": DOCS_POLICY}
        return Response(content, headers={"Cache-Control": CACHED}, media_type=media_type)

    return respond
