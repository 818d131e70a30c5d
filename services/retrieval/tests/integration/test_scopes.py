"""Scopes and the graph leg, through the service's own routes; the other services are small HTTP servers."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID, uuid4

import pytest
from deployment_keys import DELEGATED
from served_apps import serving
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from contracts.gateway import Role
from retrieval.search.scoped_search import MOST_WORKSPACES
from service_kit.auth import Principal
from service_kit.tokens import Tokens

EMBEDDED_FOR_QUERIES = 'attractor_embedded_texts_total{model="all-MiniLM-L6-v2-onnx-int8",use="query"}'


@dataclass
class Others:
    """Scripted responses of the orchestrator and the knowledge graph, and their callers."""

    orchestrator: Tokens
    graph: Tokens
    url: str = ""
    status: int = 200
    documents: list[UUID] = field(default_factory=list)
    page: int = 2
    expanded: dict[str, Any] = field(default_factory=lambda: {"entities": [], "chunks": [], "store": "postgres"})
    crossed: dict[str, Any] | None = None
    generation: str = "1"
    open: asyncio.Event = field(default_factory=asyncio.Event)
    callers: list[Principal] = field(default_factory=list)
    expansions: list[dict[str, Any]] = field(default_factory=list)
    states: int = 0

    def _caller(self, request: Request, asked: Tokens) -> None:
        self.callers.append(asked.verify(request.headers["authorization"].removeprefix("Bearer ")))

    async def session(self, request: Request) -> JSONResponse:
        self._caller(request, self.orchestrator)
        first = int(request.query_params.get("cursor", 0))
        items = [{"document_id": str(one), "attached_at": "2025-01-01T00:00:00Z"} for one in self.documents]
        following = str(first + self.page) if first + self.page < len(items) else None
        return JSONResponse({"items": items[first : first + self.page], "next_cursor": following}, self.status)

    async def state(self, request: Request) -> JSONResponse:
        self._caller(request, self.graph)
        self.states += 1
        return JSONResponse({"generation": self.generation}, self.status)

    async def expand(self, request: Request) -> JSONResponse:
        self._caller(request, self.graph)
        self.expansions.append(await request.json())
        await self.open.wait()
        generation = {"generation": self.generation}
        if self.expansions[-1]["seeds"]:
            return JSONResponse(generation | (self.crossed or {}), self.status if self.crossed else 500)
        return JSONResponse(generation | self.expanded, self.status)


@pytest.fixture
async def others(token_keys):
    found = Others(token_keys.tokens("orchestrator"), token_keys.tokens("knowledge-graph"))
    found.open.set()
    routes = [
        Route("/v1/sessions/{session}/documents", found.session),
        Route("/v1/graph/expand", found.expand, methods=["POST"]),
        Route("/v1/graph/generation", found.state),
    ]
    async with serving(Starlette(routes=routes)) as found.url:
        yield found
        found.open.set()


@pytest.fixture
def search_cache() -> bool:
    """Returns False: no answer comes from the cache, unless a test says otherwise."""
    return False


@pytest.fixture
def graph_deadline() -> float:
    """Seconds."""
    return 60.0


@pytest.fixture
def settings(make_settings, others, search_cache, graph_deadline):
    urls = {"knowledge_graph_url": others.url, "orchestrator_url": others.url}
    return make_settings(**urls, graph_deadline_seconds=graph_deadline, search_cache=search_cache)


@pytest.fixture
def ask(client, principal, tokens):
    """await ask(query, status=200, as_who=principal, **request): the body of the answer."""

    async def post(query: str, status: int = 200, as_who: Principal = principal, **request: Any) -> dict[str, Any]:
        caller = replace(as_who, delegation=tokens.delegate(as_who, ["retrieval"], DELEGATED))
        headers = {"Authorization": f"Bearer {tokens.sign(caller, 'retrieval')}"}
        response = await client.post("/v1/search", json={"query": query, **request}, headers=headers)
        assert response.status_code == status, response.text
        return response.json()

    return post


def found(answer: dict[str, Any]) -> set[str]:
    return {hit["content"] for hit in answer["hits"]}


def leg(answer: dict[str, Any], name: str) -> dict[str, Any] | None:
    return next((one for one in answer["legs"] if one["leg"] == name), None)


async def test_a_session_search_covers_the_attached_documents(ask, index, converted, others, principal):
    documents = [converted([f"walrus number {number}"]) for number in range(6)]
    for document in documents:
        await index(document)
    others.documents = [one.data.document_id for one in documents[:5]] + [uuid4()]
    session = {"scope": "session", "session_id": str(uuid4())}
    assert found(await ask("walrus", **session)) == {f"walrus number {number}" for number in range(5)}
    assert others.callers[-1] == replace(principal, role=Role.viewer)
    two = [str(one.data.document_id) for one in documents[4:]]
    assert found(await ask("walrus", **session, document_ids=two)) == {"walrus number 4"}
    for mode in ("lexical", "dense", "rrf", "convex"):
        assert len((await ask("walrus", **session, mode=mode))["hits"]) == 5
    others.documents = []
    assert found(await ask("walrus", **session)) == set()
    assert len(found(await ask("walrus"))) == 6


async def test_an_incomplete_scope_is_rejected_and_never_widened(ask, index, converted, others):
    await index(converted(["walrus"]))
    assert (await ask("walrus", 422, scope="session"))["type"] == "scope-needs-session"
    assert (await ask("walrus", 403, scope="global"))["type"] == "global-needs-key"
    others.status = 404
    assert (await ask("walrus", 404, scope="session", session_id=str(uuid4())))["type"] == "session-not-found"
    others.status = 500
    assert (await ask("walrus", 503, scope="session", session_id=str(uuid4())))["type"] == "sessions-unavailable"
    bad = await ask("walrus", 422, metadata=["$.authors ? ("])
    assert (bad["type"], bad["place"]) == ("invalid-metadata-path", "metadata[0]")


async def test_a_context_request_has_scopes_too(client, index, converted, others, auth_headers):
    documents = [converted([f"walrus number {number}"]) for number in range(2)]
    for document in documents:
        await index(document)
    others.documents = [documents[0].data.document_id]
    body = {"queries": ["walrus number"], "scope": "session", "session_id": str(uuid4())}
    packed = (await client.post("/v1/context", json=body, headers=auth_headers())).json()
    assert [one["document_id"] for one in packed["evidence"]] == [str(documents[0].data.document_id)]
    refused = await client.post("/v1/context", json={"queries": ["x"], "scope": "session"}, headers=auth_headers())
    assert (refused.status_code, refused.json()["type"]) == (422, "scope-needs-session")


async def test_every_readable_workspace_and_no_other_is_searched(ask, index, converted, principal, others):
    second, foreign, empty = uuid4(), uuid4(), uuid4()
    await index(converted(["walrus mine"], tags=["a"]))
    await index(converted(["walrus theirs", "walrus also theirs"], tags=["A"]), second)
    await index(converted(["walrus foreign"]), foreign)
    caller = Principal(principal.user_id, principal.workspace_id, Role.owner, (second, empty))
    answer = await ask("walrus", as_who=caller, scope="global", facets=["tag"])
    assert found(answer) == {"walrus mine", "walrus theirs", "walrus also theirs"}
    assert {hit["workspace_id"] for hit in answer["hits"]} == {str(principal.workspace_id), str(second)}
    scores = [hit["score"] for hit in answer["hits"]]
    assert scores == sorted(scores, reverse=True)
    assert sum(one["chunks"] for one in answer["facets"]["tag"]) == 3
    assert leg(answer, "lexical")["method"] == "in 3 workspaces"
    assert {(one.workspace_id, one.role) for one in others.callers} == {
        (principal.workspace_id, Role.viewer),
        (second, Role.viewer),
        (empty, Role.viewer),
    }
    assert found(await ask("walrus", as_who=caller)) == {"walrus mine"}
    assert len((await ask("walrus", as_who=caller, scope="global", k=1))["hits"]) == 1
    wide = Principal(principal.user_id, principal.workspace_id, Role.owner, tuple(uuid4() for _ in range(101)))
    assert len(wide.readable) > MOST_WORKSPACES
    assert (await ask("walrus", 422, as_who=wide, scope="global"))["type"] == "too-many-workspaces"
    assert (await ask("x", 422, as_who=caller, scope="global", metadata=["$."]))["type"] == "invalid-metadata-path"


def entity(name: str) -> dict[str, Any]:
    return {"id": name, "name": name, "entity_type": "SERVICE", "mentions": 1, "documents": 1}


async def test_the_graph_adds_chunks_within_the_scope_with_their_path(ask, index, converted, others, principal):
    near = converted(["Nothing in common with the question."])
    far = converted(["Another passage of other words."])
    for document in (near, far, converted(["AuthService issues tokens."])):
        await index(document)
    path = ["AuthService", "Ledger"]
    others.expanded = {
        "entities": [entity("AuthService")],
        "chunks": [
            {"chunk_id": one.chunks[0].chunk_id, "document_id": str(document), "hop": hop, "path": path, "score": score}
            for one, document, hop, score in (
                (far, far.data.document_id, 2, 0.6),
                (near, near.data.document_id, 1, 0.77),
                (near, uuid4(), 1, 0.9),
            )
        ],
        "store": "postgres",
    }
    query = {"query": "AuthService", "explain": True, "graph_method": "hops"}
    answer = await ask(**query, mode="rrf")
    assert others.expansions[-1]["query"] == "AuthService"
    assert others.callers[-1] == replace(principal, role=Role.viewer)
    assert set(answer["timings"]) == {"opening", "filters", "legs", "fusion", "selection"}
    assert answer["understood"]["text"] == "AuthService"
    report = leg(answer, "graph")
    assert (report["candidates"], report["error"]) == (2, None)
    assert report["method"] == "postgres: up to 2 hops from AuthService"
    hit = next(one for one in answer["hits"] if one["document_id"] == str(near.data.document_id))
    assert hit["graph_path"] == path
    assert hit["explanation"]["legs"]["graph"] == {"rank": 1, "score": 0.77}
    only = await ask(**query, document_ids=[str(far.data.document_id)])
    assert leg(only, "graph")["candidates"] == 1
    for more in ({"use_graph": False}, {"mode": "lexical"}, {"mode": "dense"}):
        asked = len(others.expansions)
        assert leg(await ask(**query, **more), "graph") is None
        assert len(others.expansions) == asked


def expanded(chunk: tuple[Any, str], hop: int, score: float, path: list[str], **more: Any) -> dict[str, Any]:
    document, chunk_id = chunk
    return {"chunk_id": chunk_id, "document_id": str(document), "hop": hop, "path": path, "score": score, **more}


async def test_a_bridge_leads_to_a_chunk_that_shares_no_word_with_the_query(ask, index, converted, others):
    first = converted(["Lothair II was a son of Ermengarde of Tours."])
    last = converted(["Windmills stand on the plain."])
    fillers = [converted([f"A treatise on bees, part {number}, and when they die."]) for number in range(12)]
    for document in (first, last, *fillers):
        await index(document)
    start, end = ((one.data.document_id, one.chunks[0].chunk_id) for one in (first, last))
    path, query = ["Lothair II", "Ermengarde of Tours"], "When did Lothair II's mother die?"
    step = {"source": path[0], "target": path[1], "relation": "son of", "chunk_id": start[1], "start": 0, "end": 44}
    linked = {"entities": [entity(path[0])], "residual": "When did mother die?", "store": "postgres"}
    named = expanded(start, 0, 0.9, path[:1], about=1.0)
    bridge = expanded(end, 1, 0.8, path, steps=[{**step, "document_id": str(start[0])}])
    others.expanded = {**linked, "chunks": [named]}
    others.crossed = {**linked, "chunks": [named, bridge]}
    answer = await ask(query, explain=True)
    assert {hit["content"] for hit in answer["hits"][:2]} == {first.chunks[0].content, last.chunks[0].content}
    link, cross = others.expansions[-2:]
    assert (link["method"], link["max_hops"], cross["max_hops"]) == ("bridge", 0, 2)
    assert [one["chunk_id"] for one in cross["seeds"]] == [start[1]]
    assert leg(answer, "residual")["candidates"] == 14
    reached = next(hit for hit in answer["hits"] if hit["content"] == last.chunks[0].content)
    why = reached["explanation"]
    assert reached["graph_path"] == ["Lothair II", "son of", "Ermengarde of Tours"]
    assert why["graph_steps"][0]["sentence"] == first.chunks[0].content
    assert (why["features"]["bridge"], why["weights"]["bridge"]) == (0.8, 0.9)
    plain = await ask(query, use_graph=False)
    assert last.chunks[0].content not in [hit["content"] for hit in plain["hits"]][:2]

    others.crossed = None
    failed = await ask(query)
    assert leg(failed, "graph")["error"] == "knowledge-graph answered with status 500"
    assert leg(failed, "residual") is None
    assert [(hit["content"], hit["score"]) for hit in failed["hits"]] == [
        (hit["content"], hit["score"]) for hit in plain["hits"]
    ]


async def test_a_query_without_its_names_gets_no_vector_if_no_chunk_is_about_them(
    ask, client, index, converted, others
):
    named, *fillers = (converted([text]) for text in ("Bees, as Lothair II kept them.", "Windmills.", "Of the plain."))
    for document in (named, *fillers):
        await index(document)
    chunk = (named.data.document_id, named.chunks[0].chunk_id)
    linked = {"entities": [entity("Lothair II")], "residual": "Which bees did keep?", "store": "postgres"}

    async def vectors(query: str, about: float) -> int:
        others.expanded = {**linked, "chunks": [expanded(chunk, 0, 0.9, ["Lothair II"], about=about)]}
        others.crossed = {**linked, "chunks": []}
        before = await made()
        assert (leg(await ask(query), "residual") is None) is (about == 0)
        return await made() - before

    async def made() -> int:
        text = (await client.get("/metrics")).text
        return sum(float(line.split()[-1]) for line in text.splitlines() if line.startswith(EMBEDDED_FOR_QUERIES))

    assert await vectors("Which bees did Lothair II keep?", 0.0) == 1
    assert await vectors("Which bees did Lothair II keep well?", 1.0) == 2


async def test_an_empty_or_failing_graph_changes_nothing(ask, index, converted, others):
    for number in range(5):
        await index(converted([f"walrus number {number}", f"the port is {number}"]))

    def without_legs(answer: dict[str, Any]) -> list[tuple[str, float]]:
        return [(hit["content"], hit["score"]) for hit in answer["hits"]]

    for mode in ("hybrid", "rrf", "convex"):
        plain = without_legs(await ask("the walrus port", mode=mode, use_graph=False))
        silent = await ask("the walrus port", mode=mode)
        assert without_legs(silent) == plain
        assert leg(silent, "graph")["method"] == "no entity of the query is known"
        others.status = 503
        failed = await ask("the walrus port", mode=mode)
        assert without_legs(failed) == plain
        assert leg(failed, "graph")["error"] == "knowledge-graph answered with status 503"
        others.status = 200


@pytest.mark.parametrize("graph_deadline", [0.1])
async def test_a_late_graph_leg_is_left_out(ask, index, converted, others):
    await index(converted([f"walrus number {number}" for number in range(10)]))
    others.open.clear()
    late = await ask("the walrus port")
    assert "did not answer within" in leg(late, "graph")["error"] or "not done within" in leg(late, "graph")["error"]
    assert len(late["hits"]) == 10


@pytest.mark.parametrize("search_cache", [True])
async def test_a_result_with_the_graph_is_cached_for_one_graph_generation(ask, index, converted, others):
    await index(converted(["the walrus port is open"]))

    async def cached(**more) -> bool:
        return (await ask("the walrus port", **more))["cached"]

    assert [await cached(), await cached()] == [False, True]
    others.generation = "2"
    assert [await cached(), await cached()] == [False, True]
    plain = [await cached(use_graph=False), await cached(mode="lexical")]
    others.generation = "3"
    assert plain == [False, False]
    assert [await cached(use_graph=False), await cached(mode="lexical")] == [True, True]
    others.status = 503
    assert [await cached(), await cached()] == [False, False]
    others.status, others.generation = 200, "2"
    assert await cached()


@pytest.mark.parametrize("search_cache", [True])
async def test_a_search_asks_the_graph_for_its_generation_only_if_the_answer_is_in_the_cache(
    ask, index, converted, others
):
    await index(converted(["the walrus port is open"]))
    for cached in (False, True):
        assert (await ask("the walrus port"))["cached"] is cached
        assert (len(others.expansions), others.states) == (1, int(cached))


@pytest.mark.parametrize("search_cache", [True])
async def test_an_answer_for_which_the_graph_changed_in_the_middle_is_not_kept(ask, index, converted, others):
    named = converted(["Lothair II was a son of Ermengarde of Tours."])
    for document in (named, *(converted([f"A treatise on bees, part {number}."]) for number in range(12))):
        await index(document)
    linked = {"entities": [entity("Lothair II")], "residual": "", "store": "postgres"}
    chunk = (named.data.document_id, named.chunks[0].chunk_id)
    others.expanded = {**linked, "chunks": [expanded(chunk, 0, 0.9, ["Lothair II"], about=1.0)]}
    others.crossed = {**linked, "chunks": [], "generation": "2"}
    assert [(await ask("Who is Lothair II?"))["cached"] for _ in range(2)] == [False, False]
    others.crossed = {**linked, "chunks": []}
    assert [(await ask("Who is Lothair II?"))["cached"] for _ in range(2)] == [False, True]
