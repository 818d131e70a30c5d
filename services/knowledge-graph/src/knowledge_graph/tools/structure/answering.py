"""Answers structural questions from what the documents state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from uuid import UUID

from contracts.graph_tools import AnswerRow, AnswerSource, StructuralAnswer
from knowledge_graph.extraction.full_names import EVIDENT
from knowledge_graph.extraction.relation_types import BELONGS_TO, DEPENDS_ON, with_below
from knowledge_graph.extraction.tenses import CURRENT
from knowledge_graph.graph_store import Dependent, Direction, GraphStore
from knowledge_graph.store.postgres import PostgresStore
from knowledge_graph.tools.chunks import ChunkTexts
from knowledge_graph.tools.naming import MeantEntity, NoToolResult, meant
from knowledge_graph.tools.structure.question import KINDS, StructuralQuestion
from knowledge_graph.tools.structure.sources import Edge, StatingPlaces
from knowledge_graph.tools.structure.times import MOST_STATEMENTS, OtherTimes
from knowledge_graph.tools.structure.ways import drawn, way_between
from knowledge_graph.tools.structure.wording import AnswerWording

DEEPEST = 10
MOST_REACHED = 1_000
MOST_CYCLES = 5
MOST_PATHS = 3
LONGEST_PATH = 6
MOST_RELATIONS = 400
LEAST_SIMILARITY = 0.75
LEAST_BEGINNING = 0.6
"""Share of an entity's name that a prefix must cover: the answer must be about what was named."""
NOT_STATED = "CO_OCCURS"
OWNERS = (["OWNS"], [BELONGS_TO], ["MAINTAINS"])
UNSAID = ("DEPENDS_ON", "USES")
"""Types that leave open whether something is read or written."""
OTHERWISE_RELATED = {"references": "REFERENCES", "parts": "PART_OF", "wholes": "PART_OF", "decided": "DECIDED"}
"""The relation type that answers each of these questions; the others ask about dependencies."""
MEMBERSHIP = ("PART_OF", "WORK_IN", "WORK_FOR", "LEAD")
"""How a person is related to the team that they are in."""
OUTWARD = frozenset({"dependencies", "wholes"})
NOT_STRUCTURAL = "this is no question about dependencies, outages, owners or paths"


@dataclass(frozen=True)
class StructuralAnswers:
    """Answers structural questions about one workspace."""

    store: GraphStore
    truth: PostgresStore
    texts: ChunkTexts
    workspace_id: UUID

    async def answer(self, questions: Sequence[StructuralQuestion]) -> StructuralAnswer:
        """Answers the first one that it can. Raises NoToolResult: no question, unknown names, or nothing stated."""
        problem = NoToolResult(NOT_STRUCTURAL)
        for question in questions:
            try:
                found = [await self._named(spellings) for spellings in question.names]
                return await self._answered(question, found)
            except NoToolResult as error:
                problem = error
        raise problem

    async def _answered(self, question: StructuralQuestion, found: Sequence[MeantEntity]) -> StructuralAnswer:
        if question.status != CURRENT:
            return await self._at_other_times(question, found[0])
        match question.asked:
            case "owner" | "oncall":
                return await self._owner(question, found[0])
            case "owned":
                return await self._owned(question, found[0])
            case "members":
                return await self._members(question, found[0])
            case "parts" if found[0].stored.entity_type == "TEAM":
                return await self._in_team(question, found[0])
            case "kind":
                return await self._kind(question, found[0])
            case "reach" | "path":
                return await self._reach(question, found[0], found[1])
            case "cycle":
                return await self._cycle(question, found[0])
            case _:
                return await self._related(question, found[0])

    async def _named(self, spellings: Sequence[str]) -> MeantEntity:
        """Finds the entity by one of the spellings, exact names before similar ones."""
        near: list[MeantEntity] = []
        for spelling in spellings:
            try:
                found = await meant(self.store, self.workspace_id, spelling)
            except NoToolResult:
                continue
            if found.entity.how in ("exact", "alias"):
                return found
            least = LEAST_BEGINNING if found.entity.how == "prefix" else LEAST_SIMILARITY
            near += [found] if found.entity.similarity >= least else []
        if not near:
            raise NoToolResult(f"the graph has no entity named {spellings[0]!r}")
        return near[0]

    async def _related(self, question: StructuralQuestion, found: MeantEntity) -> StructuralAnswer:
        """Answers what depends on the entity or what it depends on, its parts, and what it is a part of."""
        direction: Direction = "out" if question.asked in OUTWARD else "in"
        types, depth = _relations(question), DEEPEST if question.transitive else 1
        reached = await self.store.closure(self.workspace_id, found.id, direction, types, depth, MOST_REACHED)
        if question.relation == "WRITES":
            rows = await self._rows(reached, found.stored.name)
            if not any(not question.types or _kind(one) in question.types for one in rows):
                types = UNSAID
                reached = await self.store.closure(self.workspace_id, found.id, direction, types, depth, MOST_REACHED)
        edges: dict[str, Edge] = {one.id: _edge(one, direction) for one in reached}
        times = await self._times(found, direction, types)
        return await self._listed(question, found, reached, edges, types, times)

    async def _owned(self, question: StructuralQuestion, found: MeantEntity) -> StructuralAnswer:
        reached = await self._tied(found, OWNERS[0], "out")
        edges: dict[str, Edge] = {one.id: (found.id, one.id) for one in reached}
        times = await self._times(found, "out", OWNERS[0])
        return await self._listed(question, found, reached, edges, OWNERS[0], times)

    async def _times(self, found: MeantEntity, direction: Direction, types: Sequence[str]) -> OtherTimes:
        stated = await self.truth.not_current(self.workspace_id, [found.id], types, MOST_STATEMENTS)
        ends = sorted({end for one in stated for end in (one.source_id, one.target_id)})
        entities = await self.truth.entities(self.workspace_id, ends) if ends else []
        return OtherTimes.of(stated, found.id, direction, entities)

    async def _at_other_times(self, question: StructuralQuestion, found: MeantEntity) -> StructuralAnswer:
        """Answers what was, or is planned."""
        direction: Direction = "out" if question.asked in OUTWARD else "in"
        types = OWNERS[0] if question.asked == "owner" else _relations(question)
        times = (await self._times(found, direction, types)).only(question.status)
        sources = await self._sources([], types, times)
        rows = [one for one in times.rows(sources) if not question.types or _kind(one) in question.types]
        if not rows:
            raise NoToolResult(f"no document states this of {found.stored.name}")
        words = AnswerWording(question.language, found.stored.name)
        text = words.say(f"{question.asked}_{question.status}", rows=words.named(rows))
        return _answer(question, found, text, sources, rows=rows)

    async def _owner(self, question: StructuralQuestion, found: MeantEntity) -> StructuralAnswer:
        times = await self._times(found, "in", OWNERS[0])
        for types in OWNERS:
            if reached := await self._owners(found, types):
                break
        else:
            if not times.statements:
                raise NoToolResult(f"no document states who owns {found.stored.name}")
        edges = {one.id: (found.id, one.id) if types == [BELONGS_TO] else (one.id, found.id) for one in reached}
        sources = await self._sources(edges.values(), types, times)
        rows = [
            row.model_copy(update={"source": sources.number(edges[row.id])})
            for row in await self._rows(reached, found.stored.name)
        ]
        words = AnswerWording(question.language, found.stored.name)
        sentence_key = "maintained" if types == OWNERS[-1] else question.asked
        text = words.say(sentence_key, rows=words.named(rows)) if rows else words.say("today")
        not_current = times.rows(sources)
        text = f"{text} {words.otherwise(not_current, rows)}".rstrip()
        return _answer(question, found, text, sources, rows=rows, not_current=not_current)

    async def _owners(self, found: MeantEntity, types: Sequence[str]) -> list[Dependent]:
        """Returns who owns or maintains the entity; of the things that it belongs to, only the teams."""
        if types != [BELONGS_TO]:
            return await self._tied(found, types, "in")
        reached = await self._tied(found, types, "out")
        teams = {one.id for one in await self._rows(reached, found.stored.name) if one.entity_type == "TEAM"}
        return [one for one in reached if one.id in teams]

    async def _members(self, question: StructuralQuestion, found: MeantEntity) -> StructuralAnswer:
        """Answers who owns the entity, and who is in each of these teams."""
        owners = await self._owner(replace(question, asked="owner"), found)
        text, rows, sources = owners.text, owners.rows, owners.sources
        for owner in owners.rows:
            members, places = await self._people(owner.id, owner.name, sources)
            words = AnswerWording(question.language, owner.name)
            text += f" {words.say('members', rows=words.named(members)) if members else words.say('no_members')}"
            rows, sources = [*rows, *members], places.cited
        return owners.model_copy(update={"asked": question.asked, "text": text, "rows": rows, "sources": sources})

    async def _in_team(self, question: StructuralQuestion, found: MeantEntity) -> StructuralAnswer:
        members, cited = await self._people(found.id, found.stored.name, [])
        if not members:
            raise NoToolResult(f"no document states who is in {found.stored.name}")
        words = AnswerWording(question.language, found.stored.name)
        text = words.say("members", rows=words.named(members))
        return _answer(question, found, text, cited, rows=members)

    async def _people(
        self, team_id: str, name: str, cited: Sequence[AnswerSource]
    ) -> tuple[list[AnswerRow], StatingPlaces]:
        """Returns who is in the team, and the sources, which continue those that are `cited` already."""
        people = await self._tied_to(team_id, MEMBERSHIP, "in")
        edges: dict[str, Edge] = {one.id: (one.id, team_id) for one in people}
        sources = await self._sources(edges.values(), MEMBERSHIP)
        sources.cited = list(cited)
        return await self._cited(people, name, edges, sources), sources

    async def _kind(self, question: StructuralQuestion, found: MeantEntity) -> StructuralAnswer:
        """Answers with the entity's type, and with what is stated of it, which can be cited."""
        words = AnswerWording(question.language, found.stored.name)
        [stored] = await self.store.entities(self.workspace_id, [found.id])
        dependencies = with_below([DEPENDS_ON])
        groups = [
            ("needs", await self._tied(found, dependencies, "out")),
            ("needed", await self._tied(found, dependencies, "in")),
            ("owners", await self._tied(found, OWNERS[0], "in")),
        ]
        edges = {
            (sentence_key, one.id): (found.id, one.id) if sentence_key == "needs" else (one.id, found.id)
            for sentence_key, some in groups
            for one in some
        }
        if not edges or stored.entity_type not in EVIDENT:
            raise NoToolResult(f"no document states what {found.stored.name} is")
        sources = await self._sources(edges.values(), [*dependencies, *OWNERS[0]])
        text, rows = words.say("kind", kind=words.kind(stored.entity_type)), list[AnswerRow]()
        for sentence_key, some in groups:
            named = await self._cited(
                some, found.stored.name, {one.id: edges[sentence_key, one.id] for one in some}, sources
            )
            text += f" {words.say(sentence_key, rows=words.named(named))}" if named else ""
            rows += named
        return _answer(question, found, text, sources, rows=rows)

    async def _cited(
        self, reached: Sequence[Dependent], name: str, edges: Mapping[str, Edge], sources: StatingPlaces
    ) -> list[AnswerRow]:
        rows = await self._rows(reached, name)
        return [one.model_copy(update={"source": sources.number(edges[one.id])}) for one in rows]

    async def _tied(self, found: MeantEntity, types: Sequence[str], direction: Direction) -> list[Dependent]:
        return await self._tied_to(found.id, types, direction)

    async def _tied_to(self, entity_id: str, types: Sequence[str], direction: Direction) -> list[Dependent]:
        relations = await self.store.relations_of(self.workspace_id, entity_id, MOST_RELATIONS)
        ends = [
            (one.target_id, one.source_id) if direction == "in" else (one.source_id, one.target_id)
            for one in relations
            if one.relation_type in types
        ]
        others = sorted({other for near, other in ends if near == entity_id != other})
        entities = await self.store.entities(self.workspace_id, others) if others else []
        return [Dependent(one.id, one.name, 1, entity_id) for one in entities]

    async def _listed(
        self,
        question: StructuralQuestion,
        found: MeantEntity,
        reached: Sequence[Dependent],
        edges: dict[str, Edge],
        types: Sequence[str],
        times: OtherTimes,
    ) -> StructuralAnswer:
        """Lists the entities of the requested kinds; direct ones of other kinds and facts of other times separately."""
        every = await self._rows(reached, found.stored.name, found.id)
        rows = [one for one in every if not question.types or _kind(one) in question.types]
        others = [] if question.relation else [one for one in every if one not in rows and one.depth == 1]
        times = times.of_direct(one.id for one in every if one.depth > 1)
        sources = await self._sources([edges[one.id] for one in (*rows, *others)], types, times)
        rows, others = (
            [one.model_copy(update={"source": sources.number(edges[one.id])}) for one in some]
            for some in (rows, others)
        )
        words = AnswerWording(question.language, found.stored.name)
        not_current = [one for one in times.rows(sources) if not question.types or _kind(one) in question.types]
        if not rows and not others and not not_current:
            raise NoToolResult(f"no document states this of {found.stored.name}")
        text = words.say("today")
        if rows or others:
            text = words.related(question.asked, rows, question.types, question.transitive)
        if others:
            text += f" {words.others(others)}"
        text = f"{text} {words.otherwise(not_current, [*rows, *others])}".rstrip()
        return _answer(question, found, text, sources, rows=rows, others=others, not_current=not_current)

    async def _rows(self, reached: Sequence[Dependent], name: str, origin: str = "") -> list[AnswerRow]:
        ids = sorted({one.id for one in reached})
        types = {one.id: one.entity_type for one in await self.store.entities(self.workspace_id, ids)} if ids else {}
        names = {one.id: one.name for one in reached} | {origin: name}
        return [
            AnswerRow(
                id=one.id,
                name=one.name,
                entity_type=types.get(one.id, "ENTITY"),
                depth=one.depth,
                via=None if one.depth == 1 else names.get(one.via, one.via),
            )
            for one in sorted(reached, key=lambda one: (one.depth, one.name.casefold(), one.id))
        ]

    async def _reach(self, question: StructuralQuestion, found: MeantEntity, other: MeantEntity) -> StructuralAnswer:
        """Answers whether and how one depends on the other, also if a document denies or once stated it."""
        types = with_below([DEPENDS_ON])
        times = (await self._times(found, "out", types)).about(other.id)
        for sentence_key, first, last in (("reach", found, other), ("reversed", other, found)):
            reached = await self.store.closure(self.workspace_id, first.id, "out", types, DEEPEST, MOST_REACHED)
            if way := way_between(first.id, last.id, reached):
                names = {one.id: one.name for one in reached} | {first.id: first.stored.name}
                sentence_key = "indirect" if sentence_key == "reach" and len(way) > 2 else sentence_key
                return await self._walked(question, found, sentence_key, [way], names, types, other, times)
            if sentence_key == "reach" and times.statements:
                return await self._listed(question, found, [], {}, types, times)
        if question.asked == "path":
            return await self._connected(question, found, other)
        raise NoToolResult(f"no document states that {found.stored.name} depends on {other.stored.name}")

    async def _connected(
        self, question: StructuralQuestion, found: MeantEntity, other: MeantEntity
    ) -> StructuralAnswer:
        """Answers by stated relations of any type, in either direction."""
        counts = await self.store.counts(self.workspace_id)
        types = sorted(counts.by_relation_type.keys() - {NOT_STATED})
        if found.id == other.id or not types:
            raise NoToolResult(f"no document ties {found.stored.name} to {other.stored.name}")
        paths = await self.store.shortest_paths(self.workspace_id, found.id, other.id, LONGEST_PATH, MOST_PATHS, types)
        if not paths:
            raise NoToolResult(f"no document ties {found.stored.name} to {other.stored.name}")
        ids = sorted({entity for path in paths for entity in path.entities})
        names = {one.id: one.name for one in await self.store.entities(self.workspace_id, ids)}
        return await self._walked(question, found, "path", [path.entities for path in paths], names, types, other)

    async def _cycle(self, question: StructuralQuestion, found: MeantEntity) -> StructuralAnswer:
        types = with_below([DEPENDS_ON])
        cycles = await self.store.cycles(self.workspace_id, found.id, types, MOST_CYCLES)
        if not cycles:
            raise NoToolResult(f"no document states a circular dependency of {found.stored.name}")
        ids = sorted({entity for cycle in cycles for entity in cycle})
        names = {one.id: one.name for one in await self.store.entities(self.workspace_id, ids)}
        ways = [[*cycle, cycle[0]] for cycle in cycles]
        return await self._walked(question, found, "cycle", ways, names, types)

    async def _walked(
        self,
        question: StructuralQuestion,
        found: MeantEntity,
        sentence_key: str,
        ways: Sequence[Sequence[str]],
        names: dict[str, str],
        types: Sequence[str],
        other: MeantEntity | None = None,
        times: OtherTimes | None = None,
    ) -> StructuralAnswer:
        """Shows each path with an arrow per step that points in the direction in which the relation is stated, and what
        else is stated of its ends."""
        steps = [edge for way in ways for edge in pairwise(way)]
        sources = await self._sources([*steps, *((last, first) for first, last in steps)], types, times)
        words = AnswerWording(question.language, found.stored.name, other.stored.name if other else "")
        shown = "; ".join(drawn(way, names, sources) for way in ways)
        text = f"{words.say(sentence_key, len(ways))}: {shown}."
        not_current = times.rows(sources) if times else []
        if not_current:
            text += f" {words.say('direct_only')} {words.otherwise(not_current, [])}"
        paths = [[names.get(one, one) for one in way] for way in ways]
        return _answer(question, found, text, sources, paths=paths, not_current=not_current)

    async def _sources(
        self, edges: Iterable[Edge], types: Sequence[str], times: OtherTimes | None = None
    ) -> StatingPlaces:
        others = times.places if times else None
        return await StatingPlaces.read(self.truth, self.texts, self.workspace_id, list(edges), types, others)


def _answer(
    question: StructuralQuestion,
    found: MeantEntity,
    text: str,
    sources: StatingPlaces,
    *,
    rows: Sequence[AnswerRow] = (),
    others: Sequence[AnswerRow] = (),
    not_current: Sequence[AnswerRow] = (),
    paths: Sequence[list[str]] = (),
) -> StructuralAnswer:
    return StructuralAnswer(
        entity=found.entity,
        alternatives=found.alternatives,
        asked=question.asked,
        language=question.language,
        entity_types=list(question.types),
        transitive=question.transitive,
        text=text,
        rows=list(rows),
        others=list(others),
        not_current=list(not_current),
        status=question.status,
        paths=list(paths),
        sources=sources.cited,
    )


def _relations(question: StructuralQuestion) -> Sequence[str]:
    return with_below([question.relation or OTHERWISE_RELATED.get(question.asked, DEPENDS_ON)])


def _edge(one: Dependent, direction: Direction) -> Edge:
    return (one.id, one.via) if direction == "in" else (one.via, one.id)


def _kind(one: AnswerRow) -> str:
    """Returns PROJECT if the name itself says so ("ProjectAlpha", "Project Kestrel"), else the entity's type."""
    first = "".join(char if char.islower() or not at else " " for at, char in enumerate(one.name)).split()
    named = KINDS.get(first[0].lower(), []) if first else []
    return "PROJECT" if named == ["PROJECT"] else one.entity_type
