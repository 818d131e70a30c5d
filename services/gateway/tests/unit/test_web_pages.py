"""How a browser gets the web UI: one page for all of its addresses, files by hash, and a policy for both."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest
from fastapi import FastAPI

from gateway.access.response_headers import ResponseHeaders
from gateway.web.files import WebFiles
from gateway.web.routes import NONCE, not_found, routes
from service_kit import problem_handlers

INDEX = '<meta property="csp-nonce" nonce="CSP_NONCE"><script type="module" src="/assets/app-1.js"></script>'
PAGES = [
    "/", "/admin", "/admin/keys", "/c/01990000-0000-7000-8000-000000000000", "/documents", "/graph", "/join",
    "/memory", "/memory/world", "/search", "/shared",
]  # fmt: skip


@pytest.fixture
async def browser() -> AsyncIterator[httpx2.AsyncClient]:
    app = FastAPI()
    files = WebFiles()
    app.include_router(routes(files))
    app.router.default = not_found(files, app.router.default)
    problem_handlers.install(app)
    app.add_middleware(ResponseHeaders, by_tls=False)
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://localhost:8080") as client:
        yield client


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Installs a web UI of three files."""
    dist = tmp_path / "attractor_web" / "dist"
    (dist / "assets").mkdir(parents=True)
    dist.with_name("__init__.py").touch()
    dist.with_name("secret.txt").write_text("not a file of the web UI")
    (dist / "index.html").write_text(INDEX)
    (dist / "assets/app-1.js").write_text("plain")
    (dist / "assets/app-1.js.br").write_bytes(b"packed")
    monkeypatch.syspath_prepend(tmp_path)
    return dist


@pytest.mark.usefixtures("built")
@pytest.mark.parametrize("path", PAGES)
async def test_every_page_has_its_own_nonce_and_a_policy_without_inline(browser, path) -> None:
    first, second = [await browser.get(path, headers={"Sec-Fetch-Mode": "navigate"}) for _ in range(2)]
    policy = dict(part.strip().split(" ", 1) for part in first.headers["content-security-policy"].split(";"))
    nonce = policy["style-src"].partition("'nonce-")[2].rstrip("'")
    assert f'nonce="{nonce}"' in first.text
    assert nonce not in second.text
    assert (policy["default-src"], policy["frame-ancestors"]) == ("'none'", "'none'")
    assert policy["script-src"] == "'self' 'wasm-unsafe-eval'"
    assert policy["require-trusted-types-for"] == "'script'"
    assert "unsafe-inline" not in first.headers["content-security-policy"]
    assert first.headers["cache-control"] == "no-store"


@pytest.mark.usefixtures("built")
async def test_pages_are_served_only_for_navigation_requests(browser) -> None:
    assert (await browser.get("/", headers={"Sec-Fetch-Mode": "cors"})).status_code == 404
    assert (await browser.get("/c/one/two")).status_code == 404


@pytest.mark.usefixtures("built")
@pytest.mark.parametrize("path", ["/settings", "/nothing-here", "/c/one/two", "/docs/nothing"])
@pytest.mark.parametrize(
    "headers",
    [{"Sec-Fetch-Mode": "navigate"}, {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}],
    ids=["current browser", "browser without TLS"],
)
async def test_a_browser_at_an_unknown_address_gets_the_web_ui_with_status_404(browser, path, headers) -> None:
    page = await browser.get(path, headers=headers)
    assert page.status_code == 404
    assert page.headers["content-type"].startswith("text/html")
    nonce = page.text.partition('nonce="')[2].partition('"')[0]
    assert f"'nonce-{nonce}'" in page.headers["content-security-policy"]
    assert NONCE not in page.text
    assert "/assets/app-1.js" in page.text


@pytest.mark.usefixtures("built")
@pytest.mark.parametrize(
    ("method", "path", "headers"),
    [
        ("GET", "/nothing-here", {}),
        ("GET", "/nothing-here", {"Accept": "application/json"}),
        ("GET", "/nothing-here", {"Sec-Fetch-Mode": "cors", "Accept": "text/html"}),
        ("POST", "/nothing-here", {"Sec-Fetch-Mode": "navigate"}),
        ("GET", "/v1/nothing-here", {"Sec-Fetch-Mode": "navigate"}),
        ("GET", "/assets/nothing.js", {"Sec-Fetch-Mode": "navigate"}),
    ],
)
async def test_a_program_that_requests_an_unknown_address_gets_a_problem(browser, method, path, headers) -> None:
    answer = await browser.request(method, path, headers=headers)
    assert (answer.status_code, answer.headers["content-type"]) == (404, "application/problem+json")
    assert answer.json()["type"] == "not-found"
    assert "sandbox" in answer.headers["content-security-policy"]


@pytest.mark.usefixtures("built")
async def test_a_file_is_cacheable_forever_and_served_in_an_encoding_the_browser_accepts(browser) -> None:
    packed = await browser.get("/assets/app-1.js", headers={"Accept-Encoding": "gzip, br;q=1"}, follow_redirects=False)
    plain = await browser.get("/assets/app-1.js", headers={"Accept-Encoding": "gzip"})
    assert packed.headers["content-encoding"] == "br"
    assert (plain.text, plain.headers.get("content-encoding")) == ("plain", None)
    for answer in packed, plain:
        assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert answer.headers["content-type"].startswith("text/javascript")
        assert answer.headers["vary"] == "accept-encoding"
        assert "default-src 'none'" in answer.headers["content-security-policy"]


@pytest.mark.usefixtures("built")
@pytest.mark.parametrize("name", ["../secret.txt", "%2e%2e/%2e%2e/secret.txt", "..%2f..%2fsecret.txt", "app-2.js", ""])
async def test_files_outside_the_web_ui_cannot_be_read(browser, name) -> None:
    assert (await browser.get(f"/assets/{name}")).status_code == 404


async def test_without_the_web_ui_the_front_page_links_to_the_api(browser, monkeypatch) -> None:
    monkeypatch.setattr("gateway.web.files.find_spec", lambda _: None)
    page = await browser.get("/")
    assert "not installed, or still being built" in page.text
    assert 'href="/docs"' in page.text
    assert (await browser.get("/assets/app-1.js")).status_code == 404


async def test_a_web_ui_built_later_is_served_without_a_restart(browser, tmp_path, monkeypatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    dist = tmp_path / "attractor_web" / "dist"
    with monkeypatch.context() as absent:
        absent.setattr("gateway.web.files.find_spec", lambda _: None)
        assert 'href="/docs"' in (await browser.get("/")).text
    dist.mkdir(parents=True)
    dist.with_name("__init__.py").touch()
    (dist / "index.html").write_text(INDEX)
    assert "/assets/app-1.js" in (await browser.get("/")).text
