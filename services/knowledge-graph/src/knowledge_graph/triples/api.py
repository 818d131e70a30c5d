"""Routes of imported triples: parse, call, return."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response

from contracts.base import Name, Page, ProblemBody
from contracts.graph_triples import TripleFormat, TripleImport
from knowledge_graph.errors import ImportTooLarge, UnknownTripleFormat
from knowledge_graph.triples.imports import StoredImport, TripleImports
from service_kit.auth import Editor, Viewer
from service_kit.pagination import Cursor, Limit, decode_cursor, page
from service_kit.routes import Responses, from_state

router = APIRouter(prefix="/v1/graph/triples", tags=["knowledge-graph"])
MOST_BYTES = 16 << 20
MEDIA_TYPES = {
    "text/csv": TripleFormat.csv,
    "text/turtle": TripleFormat.turtle,
    "application/jsonl": TripleFormat.jsonl,
    "application/x-ndjson": TripleFormat.jsonl,
}
BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {media_type: {"schema": {"type": "string"}} for media_type in MEDIA_TYPES},
    }
}
REFUSED: Responses = {
    201: {"model": TripleImport, "description": "A new set was created"},
    413: {"model": ProblemBody, "description": f"More than {MOST_BYTES >> 20} MiB"},
    415: {"model": ProblemBody, "description": "The format is neither given nor implied by the Content-Type"},
    422: {"model": ProblemBody, "description": "`errors` lists every line that cannot be read; nothing was kept"},
}


UsedImports = Annotated[TripleImports, from_state("triple_imports")]
NamedBy = Annotated[Name, Query(description="Replaces the triples imported earlier under this name")]
Format = Annotated[TripleFormat | None, Query(description="Default: from the Content-Type")]


@router.post("", summary="Import triples", responses=REFUSED, openapi_extra=BODY)
async def import_triples(
    request: Request, response: Response, name: NamedBy, caller: Editor, kept: UsedImports, format: Format = None
) -> TripleImport:
    """Imports CSV with the header `subject,predicate,object` (and `subject_type`, `object_type`, `confidence` where
    known), the same as JSON Lines, or RDF Turtle; up to 50,000 triples.

    `ALIAS_OF` says that two names are one, `TYPE` what the subject is. Either all triples are kept or none.
    """
    kind = format or _format_of(request)
    stored, is_new = await kept.put(caller, name, kind, await _content(request))
    response.status_code = 201 if is_new else 200
    return _shown(stored)


@router.get("", summary="List the sets of triples")
async def list_imports(
    caller: Viewer, kept: UsedImports, limit: Limit = 50, cursor: Cursor = None
) -> Page[TripleImport]:
    """Lists the sets by name."""
    (after,) = decode_cursor(cursor, str)
    return page(await kept.page(caller.workspace_id, after, limit + 1), limit, lambda one: (one.name,), _shown)


@router.get("/{import_id}", summary="Show a set of triples", responses={404: {"model": ProblemBody}})
async def show_import(import_id: UUID, caller: Viewer, kept: UsedImports) -> TripleImport:
    return _shown(await kept.one(caller.workspace_id, import_id))


@router.delete(
    "/{import_id}", summary="Delete a set of triples", status_code=204, responses={404: {"model": ProblemBody}}
)
async def delete_import(import_id: UUID, caller: Editor, kept: UsedImports) -> None:
    """Deletes the set, and everything that no other source states."""
    await kept.delete(caller.workspace_id, import_id)


def _format_of(request: Request) -> TripleFormat:
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type not in MEDIA_TYPES:
        raise UnknownTripleFormat(f"say ?format=csv, jsonl or turtle, or send one of {', '.join(MEDIA_TYPES)}")
    return MEDIA_TYPES[media_type]


async def _content(request: Request) -> bytes:
    """Returns the body. Raises ImportTooLarge as soon as it exceeds the limit."""
    content = bytearray()
    async for part in request.stream():
        content += part
        if len(content) > MOST_BYTES:
            raise ImportTooLarge(f"at most {MOST_BYTES >> 20} MiB are read at a time")
    return bytes(content)


def _shown(stored: StoredImport) -> TripleImport:
    return TripleImport.model_validate(asdict(stored))
