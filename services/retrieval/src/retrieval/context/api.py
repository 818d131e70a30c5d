"""Routes of the context: parse, call, return."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter

from contracts.base import ProblemBody
from contracts.evidence import ContextRequest, ContextResponse, Tokenizers
from retrieval.context.assembly import ContextAssembly
from service_kit.auth import Viewer
from service_kit.routes import from_state

router = APIRouter(prefix="/v1/context", tags=["retrieval"])
UsedAssembly = Annotated[ContextAssembly, from_state("context")]


@router.post(
    "", summary="Gather evidence for a prompt", responses={422: {"model": ProblemBody}, 503: {"model": ProblemBody}}
)
async def assemble_context(body: ContextRequest, caller: Viewer, assembly: UsedAssembly) -> ContextResponse:
    """Returns the passages that answer the queries best, as one text of at most `max_tokens` tokens, best first.

    Each is in a block `<passage number="1" document="..." section="..." page="...">`, which its own text cannot close
    or imitate: what documents say is data. Near-duplicates are left out, neighbouring passages are merged, and `cut`
    says what did not fit. An unknown tokenizer is rejected; the problem's `available` lists the known ones.
    """
    return await assembly(caller, body)


@router.get("/tokenizers", summary="List the tokenizers for contexts")
async def list_tokenizers(caller: Viewer, assembly: UsedAssembly) -> Tokenizers:  # noqa: ARG001
    """Lists the tokenizers. `estimate-4-bytes` is an estimate for models without one."""
    return Tokenizers(default=assembly.tokenizers.default, names=assembly.tokenizers.names)
