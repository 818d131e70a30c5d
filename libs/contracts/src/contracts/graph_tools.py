"""The graph's tools: structural questions with bounded answers, over HTTP and for an agent's model."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Annotated, Any, Generic, Literal, TypeVar
from uuid import UUID

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from contracts.base import Name, Request, Resource, storable
from contracts.knowledge_graph import Entity, Relation

R = TypeVar("R")


def _word(value: str) -> str:
    if not re.fullmatch(r"\w+", value):
        raise ValueError("it may have letters, digits and underscores")
    return value


# A pattern with \w would refuse the letters of other languages in clients that read it as ECMAScript does.
RelationType = Annotated[str, StringConstraints(to_upper=True, pattern=r"^\S{1,80}$"), AfterValidator(_word)]
TypeName = Annotated[str, StringConstraints(to_upper=True, pattern=r"^\S{1,50}$"), AfterValidator(_word)]
RelationTypes = Annotated[
    list[RelationType], Field(min_length=1, max_length=20, description="Only relations of these types.")
]


class ToolResult(Resource, Generic[R]):
    """What every tool returns. If `success` is false, `error` says why, and `suggestions` what to ask instead: names
    that the graph has, or questions that can be calculated.
    """

    tool_name: str
    success: bool
    result: R | None = None
    error: str | None = None
    suggestions: list[str] = []
    documents_pending: int | None = Field(
        default=None,
        description="Documents that the graph does not have yet, so that the answer may change; null if unknown, and "
        "if the answer does not come from the graph.",
    )

    @property
    def notice(self) -> str | None:
        """Returns the sentence for readers if the graph lacks documents, or may lack some."""
        if self.documents_pending is None:
            return "it is not known whether the graph has all documents: ingestion did not answer"
        if self.documents_pending == 0:
            return None
        return f"{being_read(self.documents_pending)}; this answer may change"


def being_read(documents: int) -> str:
    """Returns "3 documents are still being read into the graph"."""
    return f"{documents} document{'s are' if documents != 1 else ' is'} still being read into the graph"


class ToolDescription(Resource):
    """A tool as described to a chat model; `parameters` is the JSON schema of the body to POST."""

    name: str
    description: str
    parameters: dict[str, Any]


class ToolList(Resource):
    tools: list[ToolDescription]


class EntityMatch(Entity):
    """The entity that a name was matched to. `how`: `exact` (in any spelling), `alias`, `prefix` or `fuzzy`."""

    how: str
    similarity: float = Field(description="1 if the name is the entity's own; otherwise how similar it is, 0 to 1.")


class AboutEntity(Resource):
    """`alternatives` are other entities that the name could mean, the closest first."""

    entity: EntityMatch
    alternatives: list[EntityMatch] = []


class CitedPassage(Resource):
    """A chunk, or the beginning of a long one; `score` is set if a search found it."""

    chunk_id: str
    document_id: UUID
    document_name: str
    text: str
    section: str | None = None
    page: int | None = None
    score: float | None = None


# lookup_facts


class LookupFacts(Request):
    """What the documents say about one entity: type, aliases, relations with the sentences that state them, neighbours,
    and passages."""

    entity_name: Annotated[Name, Field(description="The entity's name, in any spelling, or its id.")]
    max_relations: Annotated[int, Field(ge=1, le=100)] = 20
    max_chunks: Annotated[int, Field(ge=0, le=20)] = 5


class Statement(Resource):
    """A place that states a relation; `text` is its sentence, if it could be read.

    `method`: `pattern`, `dependency` (parse), `model`, `user` (an import of triples: `document_id` is the import's id),
    or `cooccurrence`.
    """

    document_id: UUID
    document_name: str
    chunk_id: str | None
    text: str
    method: str
    confidence: float


class Fact(Relation):
    statements: list[Statement] = []


class NearEntity(Resource):
    """`weight` is that of the strongest relation between the two entities."""

    id: str
    name: str
    entity_type: str
    mentions: int
    weight: float
    relation_types: list[str] = []


class EntityFacts(AboutEntity):
    """Relations stated by a sentence come before co-occurrence; what does not hold at present comes last, with its
    `status`. `chunks` begins with the passages about the entity.
    """

    relations: list[Fact]
    neighbours: list[NearEntity]
    chunks: list[CitedPassage]


# summarize_document


class SummarizeDocument(Request):
    """The passages about a topic, to be summarised with their sources cited."""

    topic: Annotated[Name, Field(description="The topic of the summary: words, a name, a document's title.")]
    max_passages: Annotated[int, Field(ge=1, le=20)] = 8


class TopicPassages(Resource):
    """`found_by`: `search`, or `graph` if there is no search or it did not answer, in which case `note` says so."""

    topic: str
    passages: list[CitedPassage]
    found_by: Literal["search", "graph"]
    note: str | None = None


# run_calculation


class Aggregation(StrEnum):
    summary = "summary"
    count_entities = "count_entities"
    count_relations = "count_relations"
    count_documents = "count_documents"
    entities_by_type = "entities_by_type"
    relations_by_type = "relations_by_type"
    average_mentions = "average_mentions"
    average_degree = "average_degree"
    top_entities = "top_entities"
    mentions = "mentions"
    degree = "degree"
    count_related = "count_related"


class Measure(StrEnum):
    mentions = "mentions"
    degree = "degree"
    documents = "documents"
    centrality = "centrality"


Query = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500), AfterValidator(storable)]


class RunCalculation(Request):
    """Counts and averages over the graph: either a short English `query` ("How many services depend on AuthService?",
    "top 5 people by mentions", "entities by type"), or an `aggregation` with its arguments.

    `entity` goes with `mentions`, `degree` and `count_related`; `entity_type` with `count_entities`, `top_entities` and
    `count_related`; `relation_types` with `count_relations` and `count_related`.
    """

    query: Query | None = None
    aggregation: Aggregation | None = None
    entity: Name | None = None
    entity_type: Annotated[TypeName, Field(description="Such as SERVICE or PERSON.")] | None = None
    relation_types: RelationTypes | None = None
    direction: Annotated[
        Literal["in", "out", "both"], Field(description="`in`: what relates to the entity; `out`: what it relates to.")
    ] = "in"
    transitive: Annotated[bool, Field(description="Include indirect relations, up to ten steps (not with `both`).")] = (
        False
    )
    by: Measure = Measure.mentions
    n: Annotated[int, Field(ge=1, le=100)] = 10

    @model_validator(mode="after")
    def one_of_both(self) -> RunCalculation:
        if (self.query is None) == (self.aggregation is None):
            raise ValueError("give either a query or an aggregation")
        needs = {Aggregation.mentions, Aggregation.degree, Aggregation.count_related}
        if self.aggregation in needs and self.entity is None:
            raise ValueError(f"the aggregation {self.aggregation} needs an entity")
        if self.transitive and self.direction == "both":
            raise ValueError("transitive goes with the direction in or out")
        return self


class CalculatedRow(Resource):
    label: str
    value: float
    entity_id: str | None = None


class Calculation(Resource):
    """`understood` says in words what was calculated; the result is `value`, or `rows` if there are several.

    `at_least`: there are more than were counted, so the number is a lower bound. `not_current`: what is stated but does
    not hold at present, and is not counted.
    """

    aggregation: Aggregation
    understood: str
    value: float | None = None
    rows: list[CalculatedRow] = []
    at_least: bool = False
    not_current: list[Fact] = []
    entity: EntityMatch | None = None
    alternatives: list[EntityMatch] = []


# analyze_dependencies


class AnalyzeDependencies(Request):
    """What an entity depends on and what depends on it, directly and indirectly, cycles, and how critical it is."""

    entity: Annotated[Name, Field(description="The entity's name, in any spelling, or its id.")]
    depth: Annotated[int, Field(ge=1, le=10, description="Maximum number of steps.")] = 5
    relation_types: RelationTypes = ["DEPENDS_ON", "USES", "CALLS"]
    limit: Annotated[int, Field(ge=1, le=1000, description="Maximum number of entities in each direction.")] = 200


class Dependency(Resource):
    """An entity reached in `depth` steps, the last one through `via` (a name; null for direct ones)."""

    id: str
    name: str
    depth: int
    via: str | None = None


class CriticalityLevel(StrEnum):
    none = "none"
    low = "low"
    medium = "medium"
    high = "high"
    critical = "critical"


class Criticality(Resource):
    """How much would be affected: `dependents` directly, `all_dependents` also indirectly, `share` (0 to 1) of the
    entities around it that take part in any relation of these kinds.
    """

    level: CriticalityLevel
    reason: str
    dependents: int
    all_dependents: int
    share: float


class DependencyAnalysis(AboutEntity):
    """`cycles` are lists of names, each beginning with the entity. `not_current`: what the documents say about the
    entity itself that was, will be or is not so. `truncated`: there is more than `limit` or `depth` allows.
    """

    relation_types: list[str]
    depends_on: list[Dependency]
    depended_by: list[Dependency]
    cycles: list[list[str]]
    criticality: Criticality
    not_current: list[Fact] = []
    truncated: bool


# shortest_path


class ShortestPath(Request):
    """The shortest paths between two entities, over relations in either direction."""

    source: Annotated[Name, Field(description="A name, in any spelling, or an id.")]
    target: Annotated[Name, Field(description="A name, in any spelling, or an id.")]
    max_length: Annotated[int, Field(ge=1, le=6, description="Maximum number of steps.")] = 4
    limit: Annotated[int, Field(ge=1, le=5, description="Maximum number of paths.")] = 3
    relation_types: RelationTypes | None = None


class EntityPath(Resource):
    """`relations` has one relation for each step, in the direction in which it is stated, which may be backwards."""

    names: list[str]
    ids: list[str]
    relations: list[Relation]


class PathsFound(Resource):
    """If there is no path of this length, `note` says so."""

    source: EntityMatch
    target: EntityMatch
    alternatives: list[EntityMatch] = []
    paths: list[EntityPath]
    note: str | None = None


# neighbours


class Neighbours(Request):
    """The entities related to one, the most strongly related first."""

    entity: Annotated[Name, Field(description="The entity's name, in any spelling, or its id.")]
    limit: Annotated[int, Field(ge=1, le=100)] = 20
    min_mentions: Annotated[
        int, Field(ge=1, le=1_000_000, description="Only entities mentioned at least this often.")
    ] = 1
    min_weight: Annotated[float, Field(ge=0, le=1_000_000, description="Only relations of at least this weight.")] = 0


class NeighboursFound(AboutEntity):
    neighbours: list[NearEntity]


# answer_question


class AnswerQuestion(Request):
    """Answers a question about structure, in English or German, from what the documents state: what depends on what,
    what an outage affects, who owns what, how two things are connected. `result` is missing for all other questions."""

    question: Query


class AnswerSource(Resource):
    """The source behind a marker [`number`] of the answer: characters `start` to `end` of a chunk's `content`."""

    number: int
    chunk_id: str
    document_id: UUID
    document_name: str
    section: str | None = None
    page: int | None = None
    line_start: int | None = None
    line_end: int | None = None
    markdown_start: int | None = None
    markdown_end: int | None = None
    content: str
    start: int
    end: int
    confidence: float


class AnswerRow(Resource):
    """An entity that answers, in `depth` steps, the last one through `via` (a name; null for direct ones). `source`
    is the number of the source that states the last step; null if it is an import of triples, or could not be read.
    `status` and `dated` are as in a relation.
    """

    id: str
    name: str
    entity_type: str
    depth: int
    via: str | None = None
    source: int | None = None
    status: str = "current"
    dated: str | None = None


class StructuralAnswer(AboutEntity):
    """The answer in words, in the language of the question, with markers.

    `asked`: `dependents`, `dependencies`, `impact`, `references`, `parts`, `wholes`, `owner`, `oncall`, `owned`,
    `members`, `decided`, `kind`, `reach`, `path` or `cycle`; `entity_types` and `transitive` as asked.
    """

    asked: str
    language: str
    entity_types: list[str]
    transitive: bool
    text: str
    rows: list[AnswerRow] = []
    others: list[AnswerRow] = []
    not_current: list[AnswerRow] = []
    status: str = "current"
    paths: list[list[str]] = []
    sources: list[AnswerSource] = []
