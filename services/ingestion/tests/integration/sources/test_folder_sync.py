"""Following a real folder: files are created, changed, renamed, removed, refused; the folder is away."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx2
import psycopg
import pytest

from ingestion.sources.sync import Synchroniser

MakeSource = Callable[..., Awaitable[Any]]


def counts(sync: dict[str, Any]) -> dict[str, int]:
    """Returns the counts that are not 0."""
    names = ("seen", "added", "changed", "removed", "unchanged", "refused", "excluded")
    return {name: sync[name] for name in names if sync[name]}


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        (folder / f"{name}.md").write_text(text)


async def test_files_become_documents_and_changes_are_followed(make_source: MakeSource, documents: Path) -> None:
    write(documents, a="one", b="two", c="three")
    source = await make_source()
    first = await source.sync()
    assert (first["status"], counts(first)) == ("succeeded", {"seen": 3, "added": 3})
    found = await source.documents()
    assert set(found) == {"a.md", "b.md", "c.md"}
    assert found["a.md"]["source_type"] == "folder"
    assert found["a.md"]["source_name"] == "Handbook"
    assert found["a.md"]["source_uri"] == "file:a.md"

    write(documents, a="one, changed", d="four")
    (documents / "b.md").unlink()
    second = await source.sync()
    assert counts(second) == {"seen": 3, "added": 1, "changed": 1, "removed": 1, "unchanged": 1}
    assert sorted(await source.changes(second["id"])) == [("add", "d.md"), ("change", "a.md"), ("remove", "b.md")]
    after = await source.documents()
    assert set(after) == {"a.md", "c.md", "d.md"}
    assert (after["a.md"]["id"], after["a.md"]["version"]) == (found["a.md"]["id"], 2)
    state = await source.get()
    assert (state["documents"], state["last_sync"]["id"]) == (3, second["id"])


async def test_a_moved_file_stays_the_same_document_without_another_conversion(
    make_source: MakeSource, documents: Path, searchable: Any
) -> None:
    assert searchable
    write(documents, a="one")
    source = await make_source()
    await source.sync()
    before = (await source.documents())["a.md"]
    (documents / "deep").mkdir()
    (documents / "a.md").rename(documents / "deep" / "b.md")
    moved = await source.sync()
    assert counts(moved) == {"seen": 1, "added": 1, "removed": 1}
    after = await source.documents()
    assert set(after) == {"deep/b.md"}
    assert (after["deep/b.md"]["id"], after["deep/b.md"]["version"]) == (before["id"], 1)
    assert after["deep/b.md"]["name"] == "b.md"


async def test_the_same_bytes_under_two_paths_are_one_document(make_source: MakeSource, documents: Path) -> None:
    write(documents, a="same", b="same")
    source = await make_source()
    assert counts(await source.sync()) == {"seen": 2, "added": 2}
    assert len(await source.documents()) == 1
    (documents / "a.md").unlink()
    assert counts(await source.sync()) == {"seen": 1, "removed": 1, "unchanged": 1}
    assert set(await source.documents()) == {"b.md"}


async def test_a_touched_file_is_read_once(make_source: MakeSource, documents: Path) -> None:
    write(documents, a="one")
    source = await make_source()
    await source.sync()
    os.utime(documents / "a.md", ns=(1, 1))
    touched = await source.sync()
    assert (counts(touched), touched["bytes"]) == ({"seen": 1, "unchanged": 1}, 3)
    again = await source.sync()
    assert (counts(again), again["bytes"]) == ({"seen": 1, "unchanged": 1}, 0)


async def test_a_refused_file_does_not_stop_the_others(
    make_source: MakeSource, documents: Path, tmp_path: Path
) -> None:
    write(documents, a="one", empty="")
    (documents / "large.md").write_bytes(b"0" * 500_001)
    (tmp_path / "secret.md").write_text("secret")
    (documents / "link.md").symlink_to(tmp_path / "secret.md")
    (documents / "film.mp4").write_bytes(b"0")
    source = await make_source()
    sync = await source.sync()
    assert (sync["status"], counts(sync)) == ("succeeded", {"seen": 4, "added": 1, "refused": 3})
    page = (await source.client.get(f"{source.path}/syncs/{sync['id']}/changes")).json()["items"]
    messages = {one["path"]: one["message"] for one in page if one["action"] == "refuse"}
    assert set(messages) == {"empty.md", "large.md", "link.md"}
    assert all(message.endswith(".") for message in messages.values())


async def test_a_dry_run_lists_changes_and_applies_none(make_source: MakeSource, documents: Path) -> None:
    write(documents, a="one", b="two", c="three", d="four")
    source = await make_source()
    await source.sync()
    write(documents, a="other", e="five")
    (documents / "b.md").unlink()
    os.utime(documents / "c.md", ns=(1, 1))
    dry = await source.sync(dry_run=True)
    expected = {"seen": 4, "added": 1, "changed": 1, "removed": 1, "unchanged": 2}
    assert (dry["status"], dry["dry_run"], counts(dry)) == ("succeeded", True, expected)
    assert sorted(await source.changes(dry["id"])) == [("add", "e.md"), ("change", "a.md"), ("remove", "b.md")]
    found = await source.documents()
    assert set(found) == {"a.md", "b.md", "c.md", "d.md"}
    assert found["a.md"]["version"] == 1
    assert (await source.get())["last_sync"]["id"] != dry["id"]
    real = await source.sync()
    assert counts(real) == expected


async def test_a_missing_folder_removes_nothing_and_is_retried(make_source: MakeSource, documents: Path) -> None:
    write(documents, a="one", b="two")
    source = await make_source()
    await source.sync()
    documents.rename(documents.parent / "away")  # noqa: ASYNC240  done at once
    failed = await source.sync()
    assert (failed["status"], failed["error_class"]) == ("failed", "folder-missing")
    assert str(documents) in failed["error_message"]
    assert len(await source.documents()) == 2
    assert (await source.get())["next_sync_at"] is not None
    (documents.parent / "away").rename(documents)
    assert counts(await source.sync()) == {"seen": 2, "unchanged": 2}
    assert (await source.get())["next_sync_at"] is None


async def test_an_empty_folder_on_another_file_system_removes_nothing_until_confirmed(
    make_source: MakeSource, documents: Path, database: Any
) -> None:
    write(documents, a="one")
    source = await make_source()
    await source.sync()
    (documents / "a.md").unlink()
    with psycopg.connect(database.admin) as connection:
        connection.execute("UPDATE ingestion.source SET place = 'another', next_sync_at = now()")
        connection.execute(
            "INSERT INTO ingestion.source_sync (workspace_id, id, source_id, trigger) "
            "SELECT workspace_id, gen_random_uuid(), id, 'schedule' FROM ingestion.source"
        )
    assert await source.work() == 1
    unbelieved = (await source.get())["last_sync"]
    assert (unbelieved["status"], unbelieved["error_class"]) == ("failed", "folder-empty")
    assert len(await source.documents()) == 1
    assert counts(await source.sync()) == {"removed": 1}


async def test_removing_the_last_file_is_synchronised(make_source: MakeSource, documents: Path) -> None:
    write(documents, a="one")
    source = await make_source()
    await source.sync()
    (documents / "a.md").unlink()
    assert counts(await source.sync()) == {"removed": 1}
    assert await source.documents() == {}


async def test_removed_files_can_be_kept_as_stale(make_source: MakeSource, documents: Path) -> None:
    write(documents, a="one", b="two")
    source = await make_source(on_removed="mark_stale")
    await source.sync()
    (documents / "a.md").unlink()
    assert counts(await source.sync()) == {"seen": 1, "removed": 1, "unchanged": 1}
    assert counts(await source.sync()) == {"seen": 1, "unchanged": 1}
    found = await source.documents()
    assert found["a.md"]["stale_at"] is not None
    assert found["b.md"]["stale_at"] is None
    write(documents, a="one")
    await source.sync()
    assert (await source.documents())["a.md"]["stale_at"] is None


async def test_a_source_does_not_restore_a_deleted_document(make_source: MakeSource, documents: Path) -> None:
    write(documents, a="one", b="two")
    source = await make_source()
    await source.sync()
    deleted = (await source.documents())["a.md"]["id"]
    answer = await source.client.delete(f"/v1/documents/{deleted}", params={"timeout": 0})
    assert answer.status_code in {200, 202}
    assert counts(await source.sync()) == {"seen": 2, "unchanged": 1, "excluded": 1}
    write(documents, a="one, and more")
    assert counts(await source.sync()) == {"seen": 2, "unchanged": 1, "excluded": 1}
    assert set(await source.documents()) == {"b.md"}
    (documents / "a.md").unlink()
    await source.sync()
    write(documents, a="one")
    assert counts(await source.sync()) == {"seen": 2, "added": 1, "unchanged": 1}


async def run_next(synchroniser: Synchroniser) -> None:
    """Claims a synchronisation, if one is due, and runs it."""
    if held := await synchroniser.claim():
        await synchroniser.synchronise(held)


async def test_only_one_of_two_synchronisations_runs_at_a_time(
    make_source: MakeSource, documents: Path, make_synchroniser: Callable[..., Synchroniser]
) -> None:
    write(documents, **{f"file{number}": f"text {number}" for number in range(30)})
    source = await make_source()
    first = await source.start()
    assert (await source.start())["id"] == first["id"]
    one, two = make_synchroniser("one"), make_synchroniser("two")
    await asyncio.gather(*(run_next(each) for each in (one, two, one)))
    done = await source.read(first["id"])
    assert (counts(done), done["attempts"]) == ({"seen": 30, "added": 30}, 1)
    assert len(await source.documents()) == 30


async def test_one_more_synchronisation_can_be_queued_behind_the_running_one(
    make_source: MakeSource,
    documents: Path,
    make_synchroniser: Callable[..., Synchroniser],
    eventually: Any,
) -> None:
    write(documents, **{f"file{number}": f"text {number}" for number in range(40)})
    source = await make_source()
    first = await source.start()
    running = asyncio.create_task(run_next(make_synchroniser("one")))
    await eventually(lambda: source.read(first["id"]), lambda sync: sync["status"] == "running")
    second = await source.start()
    assert second["id"] != first["id"]
    await run_next(make_synchroniser("two"))
    assert (await source.read(second["id"]))["status"] == "queued"
    await running
    await source.work()
    assert counts(await source.read(second["id"])) == {"seen": 40, "unchanged": 40}


async def test_cancelling_stops_a_synchronisation_midway(
    make_source: MakeSource,
    documents: Path,
    make_synchroniser: Callable[..., Synchroniser],
    eventually: Any,
) -> None:
    write(documents, a="one")
    source = await make_source()
    queued = await source.start()
    cancelled = (await source.client.post(f"{source.path}/syncs/{queued['id']}/cancel")).json()
    assert cancelled["status"] == "cancelled"
    assert await source.work() == 0

    sync = await source.start()
    full = make_synchroniser(queued=0)  # waits, because there is no room for any file
    running = asyncio.create_task(run_next(full))
    await eventually(lambda: source.read(sync["id"]), lambda one: one["status"] == "running")
    await source.client.post(f"{source.path}/syncs/{sync['id']}/cancel")
    async with asyncio.timeout(120):
        await running
    assert (await source.read(sync["id"]))["status"] == "cancelled"
    assert await source.documents() == {}
    again = await source.client.post(f"{source.path}/syncs/{sync['id']}/cancel")
    assert again.status_code == 200
    done = await source.sync()
    refused = await source.client.post(f"{source.path}/syncs/{done['id']}/cancel")
    assert (refused.status_code, refused.json()["type"]) == (409, "sync-ended")


async def test_a_stopping_worker_requeues_its_synchronisation_and_the_next_worker_resumes_it(
    make_source: MakeSource, documents: Path, make_synchroniser: Callable[..., Synchroniser]
) -> None:
    write(documents, **{f"file{number}": f"text {number}" for number in range(5)})
    source = await make_source()
    sync = await source.start()
    answers = iter([False])
    stopping = make_synchroniser(queued=0, stopping=lambda: next(answers, True))
    await run_next(stopping)
    back = await source.read(sync["id"])
    assert (back["status"], back["attempts"]) == ("queued", 0)
    assert await source.work() == 1
    assert counts(await source.read(sync["id"])) == {"seen": 5, "added": 5}


async def test_counts_cover_the_whole_synchronisation_after_a_crash(
    make_source: MakeSource,
    documents: Path,
    make_synchroniser: Callable[..., Synchroniser],
    database: Any,
    eventually: Any,
) -> None:
    write(documents, **{f"file{number:02}": f"text {number}" for number in range(16)})
    source = await make_source()
    sync = await source.start()
    write(documents, **{f"more{number:02}": f"more {number}" for number in range(16)})
    # There is no room for the seventeenth file. By then the first sixteen are listed, and the process dies.
    dying = asyncio.create_task(run_next(make_synchroniser(queued=1)))
    await eventually(lambda: source.changes(sync["id"]), lambda found: len(found) == 16)
    dying.cancel()
    await asyncio.wait([dying])
    with psycopg.connect(database.admin, autocommit=True) as connection:
        connection.execute("UPDATE ingestion.source_sync SET heartbeat_at = now() - interval '1 hour'")
    await eventually(lambda: source.read(sync["id"]), lambda one: one["status"] == "queued")
    await source.work()
    done = await source.read(sync["id"])
    assert (done["status"], counts(done)) == ("succeeded", {"seen": 32, "added": 32})


async def test_changed_patterns_take_effect(make_source: MakeSource, documents: Path) -> None:
    write(documents, a="one")
    (documents / "b.txt").write_text("two")
    source = await make_source()
    await source.sync()
    answer = await source.client.patch(source.path, json={"include": ["*.txt"]}, headers={"If-Match": '"1"'})
    assert (answer.status_code, answer.json()["version"]) == (200, 2)
    assert await source.work() == 1
    assert set(await source.documents()) == {"b.txt"}


@pytest.mark.parametrize("keep", [False, True])
async def test_a_deleted_source_deletes_or_keeps_its_documents(
    keep: bool, make_source: MakeSource, documents: Path, client: httpx2.AsyncClient, neighbours: Any, upload: Any
) -> None:
    assert neighbours
    write(documents, a="one", b="two")
    uploaded = await upload("b.md", b"two")
    source = await make_source()
    await source.sync()
    answer = await client.delete(source.path, params={"keep_documents": keep, "timeout": 120})
    left = (await client.get("/v1/documents")).json()["items"]
    if keep:
        assert answer.status_code == 204
        assert {one["name"] for one in left} == {"a.md", "b.md"}
        assert {(one["source_type"], one["source_id"]) for one in left} == {("upload", None)}
        assert (await client.get(f"{source.path}/receipt")).status_code == 404
    else:
        receipt = answer.json()
        assert (answer.status_code, receipt["documents"], receipt["pending_documents"]) == (200, 1, 0)
        assert {one["service"] for one in receipt["services"]} == {
            "ingestion", "retrieval", "knowledge-graph", "memory", "orchestrator",
        }  # fmt: skip
        assert [one["id"] for one in left] == [uploaded["document"]["id"]]
        assert (await client.get(f"{source.path}/receipt")).json() == receipt
        assert (await client.delete(source.path, params={"timeout": 0})).json() == receipt
    assert (await client.get(source.path)).status_code == 404
    assert (await client.get("/v1/sources")).json()["items"] == []
    assert await source.work() == 0


async def test_only_the_last_twenty_synchronisations_are_kept(make_source: MakeSource, documents: Path) -> None:
    write(documents, a="one")
    source = await make_source()
    for _ in range(22):
        last = await source.sync()
    page = (await source.client.get(f"{source.path}/syncs", params={"limit": 15})).json()
    rest = (await source.client.get(f"{source.path}/syncs", params={"cursor": page["next_cursor"]})).json()
    assert (len(page["items"]), len(rest["items"]), page["items"][0]["id"]) == (15, 5, last["id"])
