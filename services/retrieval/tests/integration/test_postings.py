"""The postings of the index against a reference, for random changes, also concurrent ones."""

from __future__ import annotations

import asyncio
import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID, uuid4

import pytest
from waiting import eventually

import retrieval.index.compaction
import retrieval.index.groups
from contracts.ingestion import Chunk
from relevance.analysis import Analyzer
from relevance.languages import ENGLISH, stemming_of
from relevance.wordpieces import WordPieces
from retrieval.index.blocks import CHANNEL, MOST_RECENT, PostingRows, PostingRowsSql, Recent
from retrieval.index.compaction import Compaction
from retrieval.index.preparation import Facts, indexed_texts, prepare
from retrieval.index.writer import IndexWriter
from retrieval.lexical.postings import LARGEST_BLOCK, ORDINAL_BITS, decode, decode_terms
from service_kit.notifications import Notifications
from service_kit.postgres import Database

WORDS = ["alpha", "beta", "gamma", "delta", "signing", "signed", "Häuser", "AuthService", "v1.2.3", "検索", "omega"]
CHUNKS = "SELECT {} FROM chunk JOIN indexed_document ON indexed_document.number = document"
Index = dict[str, dict[tuple[UUID, str], tuple[int, int]]]
"""(frequency, length) by term, and by document and chunk id."""


@dataclass
class Workspace:
    """An index and what should be in it: the facts and the texts of each document."""

    id: UUID
    database: Database
    analyzer: Analyzer
    pieces: WordPieces
    documents: dict[UUID, tuple[Facts, list[Chunk]]]

    async def index(self, facts: Facts, chunks: list[Chunk]) -> None:
        prepared = prepare(facts, chunks, None, self.analyzer, self.pieces)
        async with self.database.workspace(self.id) as connection:
            writer = IndexWriter(connection, self.id, self.analyzer)
            known = await writer.lock(facts.document_id)
            if known.wants(facts.version):
                await writer.replace(known, prepared)
                self.documents[facts.document_id] = facts, chunks

    async def delete(self, *document_ids: UUID) -> None:
        async with self.database.workspace(self.id) as connection:
            writer = IndexWriter(connection, self.id, self.analyzer)
            await writer.lock_all(document_ids)
            purged = await writer.purge_all(document_ids)
        assert list(purged) == list(document_ids)
        for document_id, (removed, remaining) in purged.items():
            facts, chunks = self.documents.pop(document_id)
            expected = reference(self.analyzer, {document_id: (facts, chunks)})
            assert removed.postings == sum(map(len, expected.values()))
            assert (removed.documents, removed.chunks) == (1, len(chunks))
            assert (remaining.documents, remaining.chunks, remaining.postings, remaining.vectors) == (0, 0, 0, 0)

    async def check(self) -> None:
        async with self.database.snapshot(self.id) as connection:
            assert await stored(connection) == reference(self.analyzer, self.documents)
            await check_counts(connection, self.analyzer, self.documents)


def facts(document_id: UUID, version: int, **more: Any) -> Facts:
    values: dict[str, Any] = {"name": "a.md", "title": None, "language": None} | more
    return Facts(
        document_id=document_id, version=version, media_type="text/plain", tags=[], source_type=None, source_ids=[],
        written_at=None, modified_at=None, metadata={}, **values,
    )  # fmt: skip


def passages(document_id: UUID, texts: Sequence[str]) -> list[Chunk]:
    return [
        Chunk(chunk_id=f"{text}/{texts[:index].count(text)}", document_id=document_id, chunk_index=index, content=text,
              token_count=0, heading_path=text.split()[:1])
        for index, text in enumerate(texts)
    ]  # fmt: skip


def reference(analyzer: Analyzer, documents: dict[UUID, tuple[Facts, list[Chunk]]]) -> Index:
    index: Index = defaultdict(dict)
    for document_id, (about, chunks) in documents.items():
        for chunk in chunks:
            texts = indexed_texts(about.naming, chunk)
            terms = [term for text in texts for term in analyzer.terms(text, stemming_of(about.language))]
            for term in terms:
                index[term][document_id, chunk.chunk_id] = terms.count(term), len(terms)
    return dict(index)


async def stored(connection) -> Index:
    """Returns the contents of the tables; checks that each posting occurs once, in rows with correct headers."""
    numbers = await connection.execute(CHUNKS.format("chunk.number, document, document_id, chunk_id"))
    chunks = {}
    for number, document, document_id, chunk_id in await numbers.fetchall():
        assert number >> ORDINAL_BITS == document
        chunks[number] = document_id, chunk_id
    index: Index = defaultdict(dict)

    def add(term: str, found) -> None:
        for chunk, frequency, length in zip(found.chunks, found.frequencies, found.lengths, strict=True):
            place = chunks[int(chunk)]
            assert place not in index[term]
            index[term][place] = int(frequency), int(length)

    recent = await connection.execute("SELECT document, postings, payload FROM recent_postings")
    for document, count, payload in await recent.fetchall():
        by_term = decode_terms(payload)
        assert count == len(by_term.all_postings) > 0
        assert set((by_term.all_postings.chunks >> ORDINAL_BITS).tolist()) == {document}
        for term in by_term:
            add(term, by_term[term])
    headers = "term, payload, first_chunk, last_chunk, postings, max_frequency, min_length"
    blocks = await connection.execute(f"SELECT {headers} FROM posting_block")
    for term, payload, *header in await blocks.fetchall():
        found = decode(payload)
        assert 0 < len(found) <= LARGEST_BLOCK
        assert found.chunks.tolist() == sorted(found.chunks.tolist())
        ends = [int(found.chunks[0]), int(found.chunks[-1])]
        assert header == [*ends, len(found), int(found.frequencies.max()), int(found.lengths.min())]
        add(term, found)
    await add_groups(connection, add)
    return dict(index)


async def add_groups(connection, add) -> None:
    rows = await connection.execute(
        "SELECT first_term, first_chunk, last_chunk, payload FROM posting_group ORDER BY first_term"
    )
    last = ""
    for first_term, first_chunk, last_chunk, payload in await rows.fetchall():
        by_term = decode_terms(payload)
        assert last <= first_term <= by_term.terms[0]
        assert by_term.terms == sorted(by_term.terms)
        assert 0 < by_term.counts.min() <= by_term.counts.max() <= retrieval.index.groups.MOST_OF_A_TERM
        chunks = by_term.all_postings.chunks
        assert (first_chunk, last_chunk) == (chunks.min(), chunks.max())
        for term in by_term:
            add(term, by_term[term])
        last = by_term.terms[-1]


async def check_counts(connection, analyzer: Analyzer, documents: dict[UUID, tuple[Facts, list[Chunk]]]) -> None:
    """Checks the statistics, and the counts of each document and each chunk."""
    of_chunk: dict[tuple[UUID, str], list[int]] = defaultdict(lambda: [0, 0])
    for found in reference(analyzer, documents).values():
        for place, (frequency, _) in found.items():
            of_chunk[place][0] += frequency
            of_chunk[place][1] += 1
    rows = await connection.execute(CHUNKS.format("document_id, chunk_id, terms, postings"))
    chunks = {(document_id, chunk_id): counts for document_id, chunk_id, *counts in await rows.fetchall()}
    assert chunks == {(one, chunk.chunk_id): of_chunk[one, chunk.chunk_id] for one in documents
                      for chunk in documents[one][1]}  # fmt: skip
    rows = await connection.execute("SELECT document_id, chunk_count, term_count, posting_count FROM indexed_document")
    known = {document_id: tuple(counts) for document_id, *counts in await rows.fetchall()}
    sums = {
        one: (len(own), *(sum(of_chunk[one, chunk.chunk_id][at] for chunk in own) for at in (0, 1)))
        for one, (_, own) in documents.items()
    }
    assert known == sums
    row = await (await connection.execute("SELECT chunks, terms FROM workspace_statistics")).fetchone()
    assert (row or (0, 0)) == (sum(one[0] for one in sums.values()), sum(one[1] for one in sums.values()))
    rows = await connection.execute("SELECT stemming, documents FROM workspace_stemming WHERE documents <> 0")
    stemmings: dict[str, int] = defaultdict(int)
    for about, _ in documents.values():
        stemmings[stemming_of(about.language)] += 1
    assert dict(await rows.fetchall()) == stemmings


@pytest.fixture
def workspaces(database):
    analyzer, pieces = Analyzer(), WordPieces()
    return [Workspace(uuid4(), database, analyzer, pieces, {}) for _ in range(2)]


class Steps:
    """Random changes of a workspace's documents."""

    def __init__(self, seed: int, compaction: Compaction) -> None:
        self.dice, self.compaction = random.Random(seed), compaction
        self.wrote: UUID | None = None

    def texts(self) -> list[str]:
        return [" ".join(self.dice.choices(WORDS, k=self.dice.randint(1, 9))) for _ in range(self.dice.randint(0, 5))]

    async def take(self, workspace: Workspace, own: Sequence[UUID] | None = None) -> str:
        """Takes one step, with one of these documents if it needs an existing one."""
        name = self.dice.choice(
            ["add", "add", "replace", "replace", "rename", "translate", "delete", "fold", "fold_some"]
        )
        there = sorted(one for one in workspace.documents if own is None or one in own)
        if name == "fold":
            while await self.compaction.fold(workspace.id):
                pass
        elif name == "fold_some":
            await self.compaction.fold(workspace.id, self.dice.randint(1, 60))
        elif name == "add" or not there:
            new = self.wrote = uuid4()
            title = self.dice.choice([None, "delta", "Of Häuser"])
            language = self.dice.choice([None, "en", "de", "uk"])
            await workspace.index(facts(new, 1, title=title, language=language), passages(new, self.texts()))
        else:
            await self._change(name, workspace, self.dice.choice(there))
        return name

    async def _change(self, name: str, workspace: Workspace, document_id: UUID) -> None:
        about, chunks = workspace.documents[document_id]
        if name == "delete":
            await workspace.delete(document_id)
        elif name == "replace":
            texts = [chunk.content for chunk in chunks] + self.texts()
            self.dice.shuffle(texts)
            kept = texts[: self.dice.randint(0, len(texts))]
            await workspace.index(replace(about, version=about.version + 1), passages(document_id, kept))
        elif name == "rename":
            title, called = self.dice.choice([None, "omega", "signing"]), self.dice.choice(["a.md", "beta.txt"])
            await workspace.index(replace(about, title=title, name=called), chunks)
        else:
            await workspace.index(replace(about, language=self.dice.choice(["de", "en"])), chunks)


@pytest.fixture(params=["as they are", "small"])
def sizes(request, monkeypatch):
    """Runs tests also with groups and blocks so small that a few documents make many of them."""
    if request.param == "small":
        monkeypatch.setattr(retrieval.index.groups, "MOST_OF_A_TERM", 3)
        monkeypatch.setattr(retrieval.index.groups, "_LARGEST", 40)
        monkeypatch.setattr(retrieval.index.compaction, "SMALL_AT_ONCE", 0)
        monkeypatch.setattr(retrieval.index.compaction, "FEW", 0)


@pytest.mark.usefixtures("sizes")
@pytest.mark.parametrize("seed", range(6))
async def test_every_posting_exists_once_after_every_step(workspaces, compaction, seed):
    steps = Steps(seed, compaction)
    for _ in range(60):
        workspace = steps.dice.choice(workspaces)
        await steps.take(workspace)
        await workspace.check()
    for workspace in workspaces:
        for document_id in list(workspace.documents):
            await workspace.delete(document_id)
        await workspace.check()


@pytest.mark.usefixtures("sizes")
async def test_concurrent_changes_lose_no_posting(workspaces, compaction):
    """Checks that each posting occurs once in every snapshot, and that df and statistics match its chunks."""
    workspace, done = workspaces[0], asyncio.Event()

    async def write(seed: int) -> None:
        """Changes documents that no one else changes."""
        steps, own = Steps(seed, compaction), []
        for _ in range(25):
            await steps.take(workspace, own)
            own += [steps.wrote] if steps.wrote and steps.wrote not in own else []

    async def fold() -> None:
        while not done.is_set():
            await compaction.fold(workspace.id, 50)
            await asyncio.sleep(0)

    async def read() -> int:
        seen = 0
        while not done.is_set():
            async with workspace.database.snapshot(workspace.id) as connection:
                await check_snapshot(connection)
            seen += 1
        return seen

    others = [asyncio.create_task(fold()), asyncio.create_task(read()), asyncio.create_task(read())]
    await asyncio.gather(*(write(seed) for seed in range(4)))
    done.set()
    _, *seen = await asyncio.gather(*others)
    assert min(seen) > 3
    await workspace.check()


async def check_snapshot(connection) -> None:
    index = await stored(connection)
    found = sum(map(len, index.values()))
    statement = """
        SELECT coalesce(sum(postings), 0), coalesce(sum(terms), 0), count(*),
               (SELECT coalesce(sum(posting_count), 0) FROM indexed_document),
               (SELECT coalesce(sum(term_count), 0) FROM indexed_document),
               coalesce((SELECT terms FROM workspace_statistics), 0),
               coalesce((SELECT chunks FROM workspace_statistics), 0)
        FROM chunk
    """
    row = await (await connection.execute(statement)).fetchone()
    postings, terms, chunks, of_documents, terms_of_documents, terms_known, chunks_known = map(int, row)
    assert found == postings == of_documents
    assert terms == terms_of_documents == terms_known
    assert chunks == chunks_known
    assert sum(frequency for places in index.values() for frequency, _ in places.values()) == terms


async def test_a_fold_moves_small_blocks_into_groups(workspaces, compaction):
    """Covers blocks written before groups existed."""
    workspace, new = workspaces[0], uuid4()
    await workspace.index(facts(new, 1), passages(new, [" ".join(WORDS), "alpha beta"]))
    async with workspace.database.workspace(workspace.id) as connection:
        rows = PostingRows(connection, workspace.id)
        recent = await rows.read(Recent, PostingRowsSql.oldest_recent, most=10**6)
        await rows.add([item for row in recent for item in row.terms.items()])
        await rows.remove_recent(recent)
    await workspace.check()
    for delete in (False, True):
        async with workspace.database.snapshot(workspace.id) as connection:
            blocks = await connection.execute("SELECT count(*) FROM posting_block")
            assert ((await blocks.fetchone())[0] > len(WORDS)) is not delete
        if delete:
            await workspace.delete(new)
        while await compaction.fold(workspace.id):
            pass
        await workspace.check()


class OtherAnalyzer(Analyzer):
    """An analysis like that of an earlier release."""

    def terms(self, text: str, stemming: str = ENGLISH) -> list[str]:
        return [f"{term}x" for term in super().terms(text, stemming)]


async def test_deleting_several_documents_together_keeps_the_postings_of_others(workspaces, compaction):
    workspace = workspaces[0]
    ids = [uuid4() for _ in range(12)]
    for at, document_id in enumerate(ids):
        about = facts(document_id, 1, title=f"Number {at}", language="de" if at % 3 else "en")
        texts = [" ".join(WORDS[at % 4 :]), f"beta gamma {at}", "alpha"][: 1 + at % 3]
        await workspace.index(about, passages(document_id, texts))
        if at == 8:  # the last ones are recent
            while await compaction.fold(workspace.id):
                pass
    await workspace.delete(*ids[::2])
    await workspace.check()
    await workspace.delete(*ids[1::2])
    await workspace.check()


@pytest.mark.parametrize("change", ["delete", "replace"])
async def test_postings_of_an_older_analysis_are_found_and_removed_too(workspaces, compaction, change):
    workspace, now = workspaces[0], Analyzer()
    workspace.analyzer = OtherAnalyzer()
    old, kept = facts(uuid4(), 1), facts(uuid4(), 1, title="omega")
    for about in (old, kept):
        await workspace.index(about, passages(about.document_id, [" ".join(WORDS), "beta gamma"]))
    while await compaction.fold(workspace.id):
        pass
    texts = passages(old.document_id, ["beta gamma", "new"])
    expected = reference(workspace.analyzer, {kept.document_id: workspace.documents[kept.document_id]})
    async with workspace.database.workspace(workspace.id) as connection:
        writer = IndexWriter(connection, workspace.id, now)
        known = await writer.lock(old.document_id)
        if change == "delete":
            removed, remaining = (await writer.purge_all([old.document_id]))[old.document_id]
            assert (removed.postings > 10, remaining.postings) == (True, 0)
        else:
            await writer.replace(known, prepare(replace(old, version=2), texts, None, now, workspace.pieces))
    async with workspace.database.snapshot(workspace.id) as connection:
        await check_snapshot(connection)
        found = await stored(connection)
    own = {place for places in found.values() for place in places if place[0] == old.document_id}
    assert own == (set() if change == "delete" else {(old.document_id, chunk.chunk_id) for chunk in texts})
    others = {term: {place: one for place, one in places.items() if place not in own} for term, places in found.items()}
    assert {term: places for term, places in others.items() if places} == expected


async def test_a_document_that_runs_out_of_ordinals_continues_under_another_number(workspaces, compaction):
    workspace = workspaces[0]
    about = facts(uuid4(), 1)
    numbers = set()
    for version in range(1, 8):
        chunks = passages(about.document_id, ["always the same", f"version {version}"])
        prepared = prepare(replace(about, version=version), chunks, None, workspace.analyzer, workspace.pieces)
        async with workspace.database.workspace(workspace.id) as connection:
            writer = IndexWriter(connection, workspace.id, workspace.analyzer)
            writer.most_ordinals = 4
            numbers.add(await writer.replace(await writer.lock(about.document_id), prepared))
        await compaction.fold(workspace.id)
        workspace.documents[about.document_id] = prepared.facts, chunks
        await workspace.check()
    assert len(numbers) == 3


async def test_a_fold_is_requested_and_skips_a_deleted_workspace(workspaces, compaction, urls):
    ours, theirs = workspaces
    for workspace in workspaces:
        new = uuid4()
        await workspace.index(facts(new, 1), passages(new, ["alpha beta"]))
    async with theirs.database.workspace(theirs.id) as connection:
        await connection.execute("SELECT delete_workspace(%s)", (theirs.id,))
    await compaction.work_off()
    async with ours.database.system() as connection:
        rows = await connection.execute("SELECT workspace_id FROM recent_postings")
        assert await rows.fetchall() == [(theirs.id,)]
    notifications = Notifications(urls.service, CHANNEL)
    async with notifications.subscribe(CHANNEL) as asked:
        tasks = [asyncio.create_task(work) for work in (notifications.run(), compaction.run(notifications))]
        await asked.wait(10)  # the first check
        for _ in range(MOST_RECENT + 1):
            new = uuid4()
            await ours.index(facts(new, 1), passages(new, ["alpha"]))
        await eventually(lambda: waiting(ours), lambda rows: rows <= MOST_RECENT)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    await ours.check()


async def waiting(workspace: Workspace) -> int:
    async with workspace.database.workspace(workspace.id) as connection:
        row = await (await connection.execute("SELECT count(*) FROM recent_postings")).fetchone()
        return int(row[0])
