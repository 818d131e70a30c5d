"""736 files and a year of their changes: only changed files are read and converted again."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest
from api_calls import EVALUATION
from dulwich import porcelain

PEPS = EVALUATION / "ingest-peps"
MakeSource = Callable[..., Awaitable[Any]]


@pytest.fixture
def changed() -> dict[str, set[str]]:
    """The paths that were modified (M) and added (A)."""
    with (PEPS / "changes.tsv").open() as lines:
        rows = list(csv.DictReader(lines, delimiter="\t"))
    return {status: {row["file"] for row in rows if row["status"] == status} for status in "MA"}


def write_state(state: str, folder: Path, added: set[str]) -> None:
    """Copies a state into `folder`: t0 is t1 without added files and with the old text of modified files."""
    for file in sorted((PEPS / "t1").iterdir()):
        if state == "t1" or file.name not in added:
            target = folder / file.name
            old = PEPS / "t0-differs" / file.name
            source = old if state == "t0" and old.exists() else file
            if not target.exists() or target.read_bytes() != source.read_bytes():
                shutil.copyfile(source, target)


def converted_again(database: Any) -> int:
    """Counts versions that wait for conversion, and marks them as converted."""
    with psycopg.connect(database.admin, autocommit=True) as connection:
        row = connection.execute(
            "SELECT count(*) FROM ingestion.document_stage WHERE name = 'convert' AND state = 'queued'"
        ).fetchone()
        connection.execute("UPDATE ingestion.document_stage SET state = 'succeeded' WHERE state = 'queued'")
    assert row is not None
    return int(row[0])


@pytest.mark.skipif(not PEPS.is_dir(), reason="the collection of PEPs is not here")
@pytest.mark.parametrize("kind", ["folder", "git"])
async def test_a_year_of_changes_is_followed(
    kind: str, make_source: MakeSource, documents: Path, changed: dict[str, set[str]], database: Any
) -> None:
    def commit() -> None:
        if kind == "git":
            porcelain.add(str(documents), [str(file) for file in documents.glob("*.rst")])
            porcelain.commit(str(documents), message=b"m", author=b"A <a@b.c>", committer=b"A <a@b.c>")

    if kind == "git":
        porcelain.init(str(documents)).close()
    write_state("t0", documents, changed["A"])
    commit()
    source = await make_source(config={"kind": kind, "path": str(documents)})
    first = await source.sync()
    total = len(list((PEPS / "t1").iterdir()))
    assert (first["added"], first["refused"]) == (total - len(changed["A"]), 0)
    assert converted_again(database) == first["added"]

    same = await source.sync()
    assert (same["unchanged"], same["bytes"]) == (first["added"], 0)
    assert converted_again(database) == 0

    write_state("t1", documents, changed["A"])
    if kind == "folder":
        (documents / "pep-0002.rst").unlink()
    commit()
    second = await source.sync()
    removed = 1 if kind == "folder" else 0
    assert (second["added"], second["changed"], second["removed"]) == (len(changed["A"]), len(changed["M"]), removed)
    changes = await source.changes(second["id"])
    assert {path for action, path in changes if action == "change"} == changed["M"]
    assert {path for action, path in changes if action == "add"} == changed["A"]
    assert converted_again(database) == len(changed["A"]) + len(changed["M"])
