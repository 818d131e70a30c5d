"""Names linked from memory are those that the statement finds, and memory follows every change of the graph."""

from __future__ import annotations

import asyncio
import random
from uuid import UUID, uuid4

import pytest

from contracts.graph_expansion import ExpandRequest, GraphMethod
from knowledge_graph.expansion.bridge import Mentioned, QuestionName, Start
from knowledge_graph.expansion.bridging import Bridging, names_of
from knowledge_graph.expansion.gazetteer import Gazetteers
from knowledge_graph.expansion.linking import Linked
from knowledge_graph.expansion.provenance_reader import ProvenanceReader
from knowledge_graph.extraction.names import entity_id, name_key
from knowledge_graph.extraction.records import Alias, Extraction, Mention
from knowledge_graph.recording.generation import Generations
from knowledge_graph.recording.provenance import Graphed, GraphProvenance, MadeFrom
from service_kit.postgres import Database

NAMES = {
    "Gerald Ford": ("Ford", "Gerald", "President Ford"),
    "Henry Ford": ("Ford", "Mr. Ford", "Henry"),
    "Tom Ford": ("Ford",),
    "Betty Ford": ("Ford", "First Lady"),
    "AuthService": ("auth service", "auth_service", "the auth-services"),
    "UserDB": ("user db", "Users"),
    "Single Sign-On": ("SSO",),
    "SSO": ("sso",),
    "Ångström Institute": ("Ångström", "Angstrom"),
    "O'Hara": ("Ohara",),
    "wind tunnel": ("tunnel",),
    "csv_file": ("csvfile",),
    "東京": ("東京都",),
    "'}) DETACH DELETE n //": ("x2",),
    "The Girl Who Kicked the Hornets' Nest": ("Hornets' Nest",),
}
TYPES = ["PERSON", "SERVICE", "CONCEPT", "IDENTIFIER", "ENTITY"]
FRAMES = ["Who knows {}?", "{} and {}", "what does {} have to do with {}'s {}", "{}s are {}", "is it the one, {}?"]


@pytest.fixture
async def database(make_database):
    async with Database(make_database("knowledge_graph").service, 3).opened() as opened:
        yield opened


@pytest.fixture
def gazetteers(database):
    return Gazetteers(Generations(database, ""))


def extraction(dice: random.Random) -> Extraction:
    """Returns mentions of some names, by their own or another spelling, and aliases that make two of them one."""
    found = Extraction("patterns")
    for name in dice.sample(list(NAMES), 6):
        key = name_key(name)
        for number in range(dice.randrange(1, 4)):
            surface = dice.choice([name, *NAMES[name]])
            found.mentions.append(
                Mention(
                    entity_id(key), key, surface, dice.choice(TYPES), f"c{number}", 0, 1, dice.choice([None, "title"])
                )
            )
    if dice.random() < 0.5:
        alias, target = dice.sample(list(NAMES), 2)
        ends = [(entity_id(name_key(one)), name_key(one), one) for one in (alias, target)]
        found.aliases.append(Alias(*ends[0], *ends[1], "c0", 0, 1, "pattern"))
    return found


async def record(database: Database, workspace_id: UUID, document: UUID, found: Extraction | None) -> None:
    async with database.workspace(workspace_id) as connection:
        provenance = GraphProvenance(connection, workspace_id)
        if found is None:
            await provenance.delete(document)
        else:
            await provenance.replace(Graphed(document, MadeFrom(1, "x", None, "en", "chunks", "digest"), 3, found))


def told(linked: list[Linked]) -> list[tuple[object, ...]]:
    return [
        (one.start, one.end, one.has_capitals, one.is_concept, each.share, each.entity.to_contract())
        for one in linked
        for each in one.meanings
    ]


def longer(name: str, document: UUID) -> Start:
    """Returns a bridge over a name that no chunk is about, and that has this name as a part."""
    mention = Mentioned("c0", document, entity_id(f"longer {name}"), None, 0, 1, f"President {name}", "ENTITY", 1)
    return Start(1.0, QuestionName("", "", 1, 1.0), mention)


def texts(dice: random.Random) -> list[str]:
    written = [spelling for name, others in NAMES.items() for spelling in (name, *others)]
    written += [one.upper() for one in written] + [one.lower() for one in written] + ["nobody", "Fort", "Henry Fjord"]
    return [*written, *(dice.choice(FRAMES).format(*dice.sample(written, 3)) for _ in range(60))]


async def test_names_linked_from_memory_are_those_that_the_statement_finds(database, gazetteers):
    dice, compared, led = random.Random(7), 0, 0
    for _ in range(2):
        workspace_id, documents = uuid4(), [uuid4() for _ in range(6)]
        begun = [longer(name, documents[0]) for name in NAMES]
        for document in (*documents, *dice.sample(documents, 3)):
            change = None if dice.random() < 0.2 else extraction(dice)
            await record(database, workspace_id, document, change)
            await gazetteers.fill(workspace_id)
            async with gazetteers.generations.snapshot(workspace_id, {}) as (connection, generation):
                kept = gazetteers.of(workspace_id, generation)
                assert kept is not None
                by_statement = ProvenanceReader(connection, workspace_id, generation)
                by_memory = ProvenanceReader(connection, workspace_id, generation, kept)
                for text in texts(dice):
                    expected = await by_statement.linked(text, [text, "Ford"])
                    assert told(await by_memory.linked(text, [text, "Ford"])) == told(expected), text
                    names = names_of(expected)
                    before = told(await by_statement.linked_before(names))
                    assert told(await by_memory.linked_before(names)) == before
                    compared += bool(expected)
                assert (await by_memory.places([])).chunks == (await by_statement.places([])).chunks
                parts = vars(await by_statement.around(begun))
                assert vars(await by_memory.around(begun)) == parts
                led += len(parts["by_part"])
    assert compared > 1_000
    assert led > 10


async def test_a_change_is_seen_by_the_next_search_whether_or_not_memory_has_followed(database, gazetteers):
    workspace_id, document, bridging = uuid4(), uuid4(), Bridging(gazetteers)
    reading = asyncio.create_task(gazetteers.run())
    asked = ExpandRequest(query="Who knows Gerald Ford?", method=GraphMethod.bridge)
    key = name_key("Gerald Ford")
    mention = Mention(entity_id(key), key, "Gerald Ford", "PERSON", "c0", 0, 1, "title")
    generations = set()
    for known in (True, False, True):
        await record(database, workspace_id, document, Extraction("x", [mention] if known else []))
        for filled in (False, True):
            if filled:
                await gazetteers.fill(workspace_id)
            found = await bridging.expand(workspace_id, asked)
            assert [one.name for one in found.entities] == (["Gerald Ford"] if known else [])
            generations.add(found.generation)
    assert len(generations) == 3
    reading.cancel()


async def test_the_names_of_a_searched_workspace_are_read_in_the_background(database, gazetteers, monkeypatch):
    workspace_id = uuid4()
    await record(database, workspace_id, uuid4(), extraction(random.Random(1)))
    generation = await gazetteers.generations.token(workspace_id)
    assert gazetteers.of(workspace_id, generation) is None
    fill, is_filled = gazetteers.fill, asyncio.Event()

    async def filled(workspace_id: UUID) -> None:
        await fill(workspace_id)
        is_filled.set()

    monkeypatch.setattr(gazetteers, "fill", filled)
    reading = asyncio.create_task(gazetteers.run())
    await is_filled.wait()
    assert gazetteers.of(workspace_id, generation) is not None
    reading.cancel()


async def test_memory_is_bounded_and_the_workspace_searched_longest_ago_is_dropped(database, gazetteers):
    places = [uuid4() for _ in range(3)]
    for workspace_id in places:
        await record(database, workspace_id, uuid4(), extraction(random.Random(1)))
        await gazetteers.fill(workspace_id)
        gazetteers.most_bytes = gazetteers.most_bytes if workspace_id != places[1] else gazetteers.nbytes

    async def is_kept(workspace_id: UUID) -> bool:
        return gazetteers.of(workspace_id, await gazetteers.generations.token(workspace_id)) is not None

    assert [await is_kept(one) for one in places] == [False, True, True]
    assert gazetteers.nbytes <= gazetteers.most_bytes
    gazetteers.most_bytes = 1_000
    await gazetteers.fill(places[0])
    assert [await is_kept(one) for one in places] == [False] * 3
