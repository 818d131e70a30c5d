"""Whatever is sent, the response is a success or a 4xx problem: never a 500, never a stuck document."""

from __future__ import annotations

import json

import httpx2
import pytest
from api_calls import EVALUATION

UNKNOWN = "00000000-0000-4000-8000-000000000000"


@pytest.fixture(scope="module")
def naughty() -> list[str]:
    folder = EVALUATION / "naughty-strings"
    if not folder.exists():
        pytest.skip("the naughty strings are not here (../shared/eval/naughty-strings)")
    [file] = [path for path in folder.glob("*.json") if path.name != "META.json"]
    return json.loads(file.read_text(encoding="utf-8"))


@pytest.mark.timeout(900)  # some 1,500 requests
async def test_naughty_strings_are_treated_as_data(tenant, naughty):
    for text in [*naughty, "a" * 10_000, "\ud800", "a\x00b", "\u202e", "%s %(x)s {0} $1 :x", "' OR 1=1 --"]:
        encoded = json.dumps({"query": text}).encode()
        for path in ("/v1/search", "/v1/graph/expand", "/v1/memories/recall"):
            response = await tenant.http.post(path, content=encoded, headers={"content-type": "application/json"})
            assert response.status_code in {200, 422}, (path, text, response.text)


async def test_naughty_names_and_titles_are_treated_as_data(make_tenant, naughty):
    async with make_tenant("naughty") as tenant:
        for number, text in enumerate(naughty[::5]):
            body = json.dumps({"title": text}).encode()
            response = await tenant.http.post(
                "/v1/sessions", content=body, headers={"content-type": "application/json"}
            )
            assert response.status_code in {201, 422}, (text, response.text)
            name = text.encode("utf-8", "replace").decode()
            files = [("files", (f"{name}.txt", f"Text number {number}.".encode()))]
            response = await tenant.http.post("/v1/documents", files=files)
            assert response.status_code in {202, 400, 422}, (text, response.text)
            response = await tenant.http.get("/v1/documents", params={"cursor": text[:400]})
            assert response.status_code in {200, 422}, (text, response.text)


@pytest.mark.parametrize(
    ("method", "path", "content", "status"),
    [
        ("POST", "/v1/search", b"{", 422),
        ("POST", "/v1/search", b'{"query": 5}', 422),
        ("POST", "/v1/search", b'{"query": "x", "k": 100000}', 422),
        ("POST", "/v1/search", b'{"query": "x", "surprise": 1}', 422),
        ("POST", "/v1/search", b'["query"]', 422),
        ("POST", "/v1/search", b'{"query": "' + b"x" * 5_000_000 + b'"}', 413),
        ("POST", "/v1/documents", b"no form", 415),
        ("GET", f"/v1/documents/{UNKNOWN}", None, 404),
        ("GET", "/v1/documents/not-an-id", None, 422),
        ("DELETE", f"/v1/documents/{UNKNOWN}", None, 404),
        ("GET", f"/v1/sessions/{UNKNOWN}", None, 404),
        ("GET", f"/v1/runs/{UNKNOWN}", None, 404),
        ("GET", f"/v1/runs/{UNKNOWN}/events", None, 404),
        ("POST", f"/v1/sessions/{UNKNOWN}/messages", b'{"content": "x"}', 404),
        ("GET", "/v1/documents?limit=0", None, 422),
        ("GET", "/v1/nothing", None, 404),
        ("GET", "/v1/documents/../../etc/passwd", None, 404),
        ("PUT", "/v1/search", b"{}", 405),
    ],
)
async def test_an_invalid_request_gets_a_problem(tenant, method, path, content, status):
    headers = {"content-type": "application/json"}
    response = await tenant.http.request(method, path, content=content, headers=headers)
    assert response.status_code == status, response.text
    assert response.headers["content-type"].startswith("application/problem+json")
    problem = response.json()
    assert problem["status"] == status
    assert problem["type"]
    assert problem["title"]


async def test_a_missing_or_invalid_key_gets_a_problem(address):
    async with httpx2.AsyncClient(base_url=address[0]) as http:
        for headers in ({}, {"Authorization": "Bearer nonsense"}, {"Authorization": "Basic eDp5"}):
            response = await http.get("/v1/documents", headers=headers)
            assert response.status_code == 401
            assert response.headers["content-type"].startswith("application/problem+json")
