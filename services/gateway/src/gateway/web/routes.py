"""The pages of the web UI and their files. They load nothing from other hosts."""

from __future__ import annotations

import secrets

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.responses import FileResponse, HTMLResponse
from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp, Receive, Scope, Send

from gateway.web.files import WebFiles

# The paths of the web UI's pages
PAGES = (
    "/",
    "/admin",
    "/admin/{part}",
    "/c/{session_id}",
    "/documents",
    "/documents/sources",
    "/graph",
    "/join",
    "/memory",
    "/memory/world",
    "/search",
    "/shared",
)
NONCE = "CSP_NONCE"
# Nothing inline; styles that a script adds carry the nonce. pdf.js decodes images with WebAssembly.
POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; "
    f"style-src 'self' 'nonce-{NONCE}'; img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types default"
)
IMMUTABLE = "public, max-age=31536000, immutable"
ABSENT = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Attractor</title><meta http-equiv="refresh" content="10"></head>
<body>
<h1>Attractor</h1>
<p>The web UI is not installed, or still being built. <code>make run</code> builds it while Attractor starts,
and says so if it cannot. This page looks again every ten seconds.</p>
<p>Everything else works: <a href="/docs">the API and its documentation</a>.</p>
</body>
</html>
"""


def routes(files: WebFiles) -> APIRouter:
    """Returns the routes of the pages, which are open to everyone, as all data comes from the API."""
    router = APIRouter(include_in_schema=False)

    def page(request: Request) -> Response:
        if request.headers.get("sec-fetch-mode", "navigate") != "navigate":
            raise HTTPException(404)
        return _index(request, files)

    for path in PAGES:
        router.get(path)(page)

    @router.get("/favicon.svg")
    def icon(request: Request) -> Response:
        return _send(request, files, "favicon.svg", "public, max-age=3600")

    @router.get("/assets/{name:path}")
    def asset(request: Request, name: str) -> Response:
        """A file whose address changes with its content."""
        return _send(request, files, f"assets/{name}", IMMUTABLE)

    return router


def not_found(files: WebFiles, otherwise: ASGIApp) -> ASGIApp:
    """Returns what responds at an address that has no route.

    A browser that navigates there gets the web UI with status 404, which then shows its own "not found"; everyone else,
    and everyone below `/v1/`, gets `otherwise`.
    """

    async def respond(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and _is_navigation(request := Request(scope)):
            response = await run_in_threadpool(_index, request, files, 404)
            await response(scope, receive, send)
        else:
            await otherwise(scope, receive, send)

    return respond


def _is_navigation(request: Request) -> bool:
    mode = request.headers.get("sec-fetch-mode")
    # Without TLS, browsers send the mode only to this machine
    navigates = mode == "navigate" if mode else "text/html" in request.headers.get("accept", "")
    return navigates and request.method == "GET" and not request.url.path.startswith("/v1/")


def _index(request: Request, files: WebFiles, status: int = 200) -> Response:
    nonce = secrets.token_urlsafe(18)
    request.state.response_headers = {"content-security-policy": POLICY.replace(NONCE, nonce)}
    return HTMLResponse((files.index() or ABSENT).replace(NONCE, nonce), status)


def _send(request: Request, files: WebFiles, name: str, kept: str) -> Response:
    found = files.find(name, request.headers.get("accept-encoding", ""))
    if found is None:
        raise HTTPException(404)
    # A worker is subject to the policy of its own file
    request.state.response_headers = {"content-security-policy": POLICY.replace(f" 'nonce-{NONCE}'", "")}
    headers = {"cache-control": kept, "vary": "accept-encoding"}
    if found.encoding:
        headers["content-encoding"] = found.encoding
    return FileResponse(found.path, headers=headers, media_type=found.media_type)
