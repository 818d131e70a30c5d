"""The tools: each returns a result, or the reason why there is none, within a time limit."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar
from uuid import UUID

from psycopg.errors import QueryCanceled
from pydantic import BaseModel

from contracts.graph_tools import (
    AnalyzeDependencies,
    AnswerQuestion,
    Calculation,
    DependencyAnalysis,
    EntityFacts,
    LookupFacts,
    Neighbours,
    NeighboursFound,
    PathsFound,
    RunCalculation,
    ShortestPath,
    StructuralAnswer,
    SummarizeDocument,
    ToolDescription,
    ToolList,
    ToolResult,
    TopicPassages,
)
from knowledge_graph.graph_store import GraphStore
from knowledge_graph.store.reader import GraphReader
from knowledge_graph.tools.calculation import run_calculation
from knowledge_graph.tools.chunks import ChunkTexts
from knowledge_graph.tools.dependencies import analyze_dependencies
from knowledge_graph.tools.facts import lookup_facts
from knowledge_graph.tools.naming import NoToolResult
from knowledge_graph.tools.otherwise import facts_otherwise, with_others_of_calculation
from knowledge_graph.tools.paths import neighbours, shortest_path
from knowledge_graph.tools.pending import PendingDocuments
from knowledge_graph.tools.structure.answering import NOT_STRUCTURAL, StructuralAnswers
from knowledge_graph.tools.structure.question import read_questions
from knowledge_graph.tools.topics import from_graph, from_search
from service_kit.auth import Principal
from service_kit.http_service import HttpService
from service_kit.problems import ServiceSilent

log = logging.getLogger(__name__)
R = TypeVar("R")
TOOL_SECONDS = 15.0
TOO_LONG = "this took too long; ask for fewer steps, a smaller limit or fewer relation types"
TOOLS: dict[str, type[BaseModel]] = {
    "lookup_facts": LookupFacts,
    "summarize_document": SummarizeDocument,
    "run_calculation": RunCalculation,
    "analyze_dependencies": AnalyzeDependencies,
    "shortest_path": ShortestPath,
    "neighbours": Neighbours,
    "answer_question": AnswerQuestion,
}


def described() -> ToolList:
    """Returns the tool descriptions for a chat model."""
    return ToolList(tools=[_description(name, parameters) for name, parameters in TOOLS.items()])


def _description(name: str, parameters: type[BaseModel]) -> ToolDescription:
    schema = parameters.model_json_schema()
    description = " ".join(str(schema.pop("description", "")).split())
    schema.pop("title", None)
    return ToolDescription(name=name, description=description, parameters=schema)


@dataclass(frozen=True)
class Toolbox:
    """The tools of a process; each call is made on behalf of a caller, in the caller's workspace."""

    reader: GraphReader
    texts: ChunkTexts
    retrieval: HttpService
    pending: PendingDocuments

    async def lookup_facts(self, caller: Principal, request: LookupFacts) -> ToolResult[EntityFacts]:
        truth = self.reader.postgres
        return await self._run(
            "lookup_facts",
            caller,
            lambda store, workspace_id: lookup_facts(store, truth, self.texts, workspace_id, request),
        )

    async def summarize_document(self, caller: Principal, request: SummarizeDocument) -> ToolResult[TopicPassages]:
        if self.retrieval.is_there:
            try:
                return await _answered("summarize_document", from_search(self.retrieval, caller, request))
            except ServiceSilent as error:
                log.warning("retrieval did not answer; looking up the topic only in the graph: %s", error)
                why = str(error)
        else:
            why = "this deployment has no search"
        return await self._run(
            "summarize_document",
            caller,
            lambda store, workspace_id: from_graph(store, self.texts, workspace_id, request, why),
        )

    async def run_calculation(self, caller: Principal, request: RunCalculation) -> ToolResult[Calculation]:
        async def calculate(store: GraphStore, of: UUID) -> Calculation:
            found = await run_calculation(store, of, request)
            return await with_others_of_calculation(self.reader.postgres, self.texts, of, request, found)

        return await self._run("run_calculation", caller, calculate)

    async def analyze_dependencies(
        self, caller: Principal, request: AnalyzeDependencies
    ) -> ToolResult[DependencyAnalysis]:
        async def analyze(store: GraphStore, of: UUID) -> DependencyAnalysis:
            found = await analyze_dependencies(store, of, request)
            types = found.relation_types
            others = await facts_otherwise(self.reader.postgres, self.texts, of, found.entity.id, types)
            return found.model_copy(update={"not_current": others})

        return await self._run("analyze_dependencies", caller, analyze)

    async def shortest_path(self, caller: Principal, request: ShortestPath) -> ToolResult[PathsFound]:
        return await self._run("shortest_path", caller, lambda store, of: shortest_path(store, of, request))

    async def neighbours(self, caller: Principal, request: Neighbours) -> ToolResult[NeighboursFound]:
        return await self._run("neighbours", caller, lambda store, of: neighbours(store, of, request))

    async def answer_question(self, caller: Principal, request: AnswerQuestion) -> ToolResult[StructuralAnswer]:
        name, truth, questions = "answer_question", self.reader.postgres, list(read_questions(request.question))
        if not questions:  # as most questions of a conversation: nobody needs to be asked
            return ToolResult[StructuralAnswer](tool_name=name, success=False, error=NOT_STRUCTURAL)
        return await self._run(
            name, caller, lambda store, of: StructuralAnswers(store, truth, self.texts, of).answer(questions)
        )

    async def _run(
        self, name: str, caller: Principal, work: Callable[[GraphStore, UUID], Awaitable[R]]
    ) -> ToolResult[R]:
        async def read() -> R:
            of = caller.workspace_id
            found, _ = await self.reader.read(of, name, lambda store: work(store, of))
            return found

        # Counted first: a document that arrives while the graph is read is announced in vain, rather than missed.
        pending = await self.pending.count(caller.workspace_id)
        return (await _answered(name, read())).model_copy(update={"documents_pending": pending})


async def _answered(name: str, work: Awaitable[R]) -> ToolResult[R]:
    """Returns the result, or the reason why there is none."""
    try:
        async with asyncio.timeout(TOOL_SECONDS):
            return ToolResult[R](tool_name=name, success=True, result=await work)
    except NoToolResult as error:
        return ToolResult[R](tool_name=name, success=False, error=str(error), suggestions=error.suggestions)
    except (TimeoutError, QueryCanceled):
        log.warning("the tool %s timed out", name)
        return ToolResult[R](tool_name=name, success=False, error=TOO_LONG)
