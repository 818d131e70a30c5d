"""A class of statements and its file agree, or the import fails."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from service_kit.statements import StatementsInvalid

MODULE = """
from service_kit.statements import Statements

class DocumentSql(Statements, file={files}{fills}):
    {declared}
"""
FILE = """-- The statements of documents.

-- name: find
-- Returns 100 % of a document.
SELECT {columns} FROM document WHERE tags = '{}' AND id = %(id)s;

-- name: delete
DELETE FROM document
-- whatever its version
WHERE id = %(id)s
"""


@pytest.fixture
def load(tmp_path: Path) -> Callable[..., ModuleType]:
    """load(text, "find", "delete"): the imported module, whose class declares these names over a file of this text."""

    def imported(text: str, *declared: str, fills: str = ", columns='id, title'", **others: str) -> ModuleType:
        files = ("documents.sql", *(f"{name}.sql" for name in others))
        for name, content in {"documents": text, **others}.items():
            (tmp_path / f"{name}.sql").write_text(content)
        body = "\n    ".join(f"{name}: str" for name in declared) or "pass"
        (tmp_path / "documents.py").write_text(MODULE.format(files=files, fills=fills, declared=body))
        spec = importlib.util.spec_from_file_location("documents", tmp_path / "documents.py")
        assert spec
        assert spec.loader
        module = importlib.util.module_from_spec(spec)
        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(sys.modules, "documents", module)
            spec.loader.exec_module(module)
        return module

    return imported


def test_statements_become_attributes_with_placeholders_filled(load):
    found = load(FILE, "find", "delete").DocumentSql
    assert found.find == "SELECT id, title FROM document WHERE tags = '{}' AND id = %(id)s"
    assert found.delete == "DELETE FROM document\n-- whatever its version\nWHERE id = %(id)s"


def test_statements_may_be_split_over_several_files(load):
    found = load(FILE, "find", "delete", "count", extra="// name: count\nMATCH (n {id: $id}) RETURN count(n)")
    assert found.DocumentSql.count == "MATCH (n {id: $id}) RETURN count(n)"


@pytest.mark.parametrize(
    ("text", "declared", "message"),
    [
        (FILE, ["find", "delete", "lock"], r"documents\.sql: DocumentSql declares 'lock', which is not there"),
        (FILE, ["find"], r"documents\.sql: DocumentSql does not declare the statement 'delete'"),
        (FILE + "-- name: find\nSELECT 1", ["find", "delete"], r"documents\.sql: statement 'find' stands twice"),
        (FILE.replace("{columns}", "{rows}"), ["find", "delete"], r"documents\.sql: no value for {rows} .* 'find'"),
        (FILE.replace("{columns}", "id"), ["find", "delete"], r"documents\.sql: {columns} occurs in no statement"),
        ("SELECT 1;\n" + FILE, ["find", "delete"], r"documents\.sql: a statement without a name before 'find'"),
        ("-- name: find\n-- Nothing.\n", ["find"], r"documents\.sql: statement 'find' is empty"),
    ],
    ids=["missing", "orphan", "twice", "unfilled", "unused value", "unnamed", "empty"],
)
def test_a_mismatch_fails_at_import_and_names_the_file_and_statement(load, text, declared, message):
    with pytest.raises(StatementsInvalid, match=message):
        load(text, *declared)


def test_a_name_used_in_two_files_fails(load):
    with pytest.raises(
        StatementsInvalid, match=r"extra\.sql: statement 'find' stands twice \(also in documents\.sql\)"
    ):
        load(FILE, "find", "delete", extra="-- name: find\nSELECT 1")
