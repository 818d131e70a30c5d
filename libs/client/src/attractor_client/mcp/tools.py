"""The tools of the MCP server: their arguments, and the API calls they make."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Any
from uuid import UUID

from pydantic import BaseModel, Field

from attractor_client.client import AttractorClient
from attractor_client.mcp.document_text import document_text
from contracts.base import Question, Request
from contracts.graph_tools import AnalyzeDependencies, LookupFacts
from contracts.memory import MemoryCreate, RecallRequest
from contracts.world import WorldOperations

Answer = BaseModel | dict[str, Any]
Call = Callable[[AttractorClient, Any], Awaitable[Answer]]


class MemoryQuery(Request):
    query: Question
    k: Annotated[int, Field(ge=1, le=50)] = 5


class MemoryDelete(Request):
    memory_id: UUID


class WorldGet(Request):
    """`session_id`: the world of one of the user's sessions; without it the workspace's. `after_run`: wait for what
    this run changes.
    """

    session_id: UUID | None = None
    after_run: UUID | None = None


class WorldApplyOps(WorldOperations):
    """`expected_version`: fail unless the world has it. `session_id`: of one of the user's sessions."""

    session_id: UUID | None = None
    expected_version: Annotated[int | None, Field(ge=1)] = None


class ChatHistoryTail(Request):
    """`session_id`: without it, the session that was used last."""

    session_id: UUID | None = None
    limit: Annotated[int, Field(ge=1, le=100)] = 4


class PassageSearch(Request):
    query: Question
    k: Annotated[int, Field(ge=1, le=50)] = 10


class DocumentGet(Request):
    """`offset` and `characters` choose a part of the text."""

    document_id: UUID
    offset: Annotated[int, Field(ge=0)] = 0
    characters: Annotated[int, Field(ge=1, le=100_000)] = 20_000


@dataclass(frozen=True)
class McpTool:
    """`changes`: it writes; `deletes`: it deletes irrevocably."""

    name: str
    description: str
    arguments: type[BaseModel]
    call: Call
    changes: bool = False
    deletes: bool = False


async def memory_query(client: AttractorClient, request: MemoryQuery) -> Answer:
    found = await client.memories.ask(RecallRequest(query=request.query, k=request.k))
    answer = found.answer.model_dump(mode="json") if found.answer else None
    return {"answer": answer, "memories": [one.model_dump(mode="json") for one in found.memories]}


async def memory_store(client: AttractorClient, request: MemoryCreate) -> Answer:
    return await client.memories.add(request.content)


async def memory_delete(client: AttractorClient, request: MemoryDelete) -> Answer:
    await client.memories.delete(request.memory_id)
    return {"deleted": str(request.memory_id)}


async def world_get(client: AttractorClient, request: WorldGet) -> Answer:
    return await client.world.get(session_id=request.session_id, after_run=request.after_run)


async def world_apply_ops(client: AttractorClient, request: WorldApplyOps) -> Answer:
    return await client.world.apply(
        request.operations,
        session_id=request.session_id,
        expected_version=request.expected_version,
        dry_run=request.dry_run,
    )


async def chat_history_tail(client: AttractorClient, request: ChatHistoryTail) -> Answer:
    session_id = request.session_id
    if session_id is None:
        used = [session async for session in client.sessions.all()]
        if not used:
            return {"session_id": None, "messages": []}
        session_id = max(used, key=lambda session: session.updated_at).id
    messages = [one async for one in client.sessions.messages(session_id, last=request.limit)]
    shown = [one.model_dump(mode="json", include={"id", "role", "content", "created_at"}) for one in messages]
    return {"session_id": str(session_id), "messages": shown}


async def search(client: AttractorClient, request: PassageSearch) -> Answer:
    return await client.search(request.query, k=request.k)


async def get_document(client: AttractorClient, request: DocumentGet) -> Answer:
    text = await document_text(client, request.document_id)
    part = text.content[request.offset : request.offset + request.characters]
    following = request.offset + len(part)
    return {
        "id": str(request.document_id),
        "name": text.name,
        "content": part,
        "characters": len(text.content),
        "next_offset": following if following < len(text.content) else None,
    }


async def lookup_facts(client: AttractorClient, request: LookupFacts) -> Answer:
    return await client.graph.tools.facts(request)


async def analyze_dependencies(client: AttractorClient, request: AnalyzeDependencies) -> Answer:
    return await client.graph.tools.dependencies(request)


TOOLS = (
    McpTool(
        "memory_query",
        "Recall the user's memories that bear on a question; a fact may answer it.",
        MemoryQuery,
        memory_query,
    ),
    McpTool("memory_store", "Keep a note of the user's for later.", MemoryCreate, memory_store, changes=True),
    McpTool(
        "memory_delete",
        "Delete one of the user's memories for good.",
        MemoryDelete,
        memory_delete,
        changes=True,
        deletes=True,
    ),
    McpTool("world_get", "Read the world state: what holds for the workspace or a session.", WorldGet, world_get),
    McpTool(
        "world_apply_ops",
        "Change the world state by typed operations, all or none; returns the world with them.",
        WorldApplyOps,
        world_apply_ops,
        changes=True,
    ),
    McpTool(
        "chat_history_tail", "Read the newest messages of a session, in order.", ChatHistoryTail, chat_history_tail
    ),
    McpTool("search", "Find passages of the workspace's documents.", PassageSearch, search),
    McpTool("get_document", "Read a document's text, in parts if it is long.", DocumentGet, get_document),
    McpTool("lookup_facts", "Look up what the knowledge graph states of a name.", LookupFacts, lookup_facts),
    McpTool(
        "analyze_dependencies",
        "Find what a name depends on, or what depends on it.",
        AnalyzeDependencies,
        analyze_dependencies,
    ),
)
BY_NAME = {tool.name: tool for tool in TOOLS}
