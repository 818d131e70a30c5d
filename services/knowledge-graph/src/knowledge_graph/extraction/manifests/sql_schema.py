"""Tables, views and foreign keys of a schema in SQL."""

from __future__ import annotations

import re
from collections.abc import Iterator

import sqlglot
from sqlglot import exp
from sqlglot.errors import ErrorLevel, SqlglotError

from knowledge_graph.extraction.capitalised import capitalised
from knowledge_graph.extraction.manifests.statement import Manifest, ManifestRefused, NamedThing

HOLDER = re.compile(
    r"\s*--[ \t]*(?:The |(?:(?:Database )?[Ss]chema|Tables|Views|DDL|Tabellen) (?:of|for|in|von|der|des) (?:the )?)?"
    r"([^\n.:,;(]{2,60})[.:,;(\n]"
)
PLAIN_HOLDER = re.compile(r"[a-z][a-z0-9]*+(?:[-_][a-z0-9]++)++")
READING, WRITING = "READS", "WRITES"


def read(text: str) -> Manifest:
    """Returns what tables reference, what views read, what functions read and write, and the system that the tables are
    part of, if the first comment begins with its name.

    Raises ManifestRefused if it is not SQL.
    """
    try:
        statements = sqlglot.parse(text, dialect="postgres", error_level=ErrorLevel.IGNORE)
    except (SqlglotError, RecursionError) as error:
        raise ManifestRefused(f"it is not readable SQL: {' '.join(str(error).split())[:120]}") from error
    manifest = Manifest()
    holder = _holder(manifest, text)
    for statement in statements:
        if isinstance(statement, exp.Create) and statement.kind in {"TABLE", "VIEW"}:
            created = statement.this.this if isinstance(statement.this, exp.Schema) else statement.this
            one = _table(manifest, created)
            if one is not None:
                if holder is not None:
                    manifest.state(one, "PART_OF", holder, f"CREATE {statement.kind}")
                _related(manifest, one, statement)
        elif isinstance(statement, exp.Create) and statement.kind in {"FUNCTION", "PROCEDURE"}:
            _function(manifest, statement, text)
        elif isinstance(statement, exp.Alter):
            one = _table(manifest, statement.this)
            if one is not None:
                _related(manifest, one, statement)
    return manifest


def _holder(manifest: Manifest, text: str) -> NamedThing | None:
    found = HOLDER.match(text)
    name = found.group(1).strip() if found else ""
    is_name = PLAIN_HOLDER.fullmatch(name) or any(span.surface == name for span in capitalised(f"x {name}"))
    return manifest.thing(found.start(1), name, "STORE") if found and is_name else None


def _table(manifest: Manifest, table: object) -> NamedThing | None:
    identifier = table.this if isinstance(table, exp.Table) else None
    place = identifier.meta.get("start") if isinstance(identifier, exp.Identifier) else None
    if not isinstance(identifier, exp.Identifier) or not isinstance(place, int) or not identifier.name:
        return None
    return manifest.thing(place + int(bool(identifier.quoted)), identifier.name, "TABLE")


def _related(manifest: Manifest, one: NamedThing, statement: exp.Expression) -> None:
    for reference in statement.find_all(exp.Reference):
        target = reference.this.this if isinstance(reference.this, exp.Schema) else reference.this
        other = _table(manifest, target)
        if other is not None:
            manifest.state(one, "REFERENCES", other, "REFERENCES")
    query = statement.expression if isinstance(statement, exp.Create) else None
    if isinstance(query, exp.Query):
        for other in _read_tables(manifest, query):
            manifest.state(one, "READS", other, "SELECT")


def _function(manifest: Manifest, statement: exp.Create, text: str) -> None:
    """Adds what the body of an SQL function reads and writes."""
    named = statement.this.this if isinstance(statement.this, exp.UserDefinedFunction) else statement.this
    one = _table(manifest, named)
    body = statement.expression
    if one is None or not isinstance(body, exp.RawString | exp.Literal | exp.Heredoc):
        return
    body_name = body.name
    start = text.find(body_name, one.end) if body_name.strip() else -1
    if start < 0:
        return
    try:
        inside = sqlglot.parse(body_name, dialect="postgres", error_level=ErrorLevel.IGNORE)
    except (SqlglotError, RecursionError):
        return  # a body in another language states nothing
    for each in (found for found in inside if found is not None):
        for written in each.find_all(exp.Insert, exp.Update, exp.Delete, exp.Merge):
            target = written.this.this if isinstance(written.this, exp.Schema) else written.this
            _touch(manifest, one, WRITING, target, start)
        for query in each.find_all(exp.Select):
            own = {expression.alias_or_name for expression in each.find_all(exp.CTE)}
            for table in query.find_all(exp.Table):
                if table.name not in own:
                    _touch(manifest, one, READING, table, start)


def _touch(manifest: Manifest, one: NamedThing, relation_type: str, table: object, start: int) -> None:
    identifier = table.this if isinstance(table, exp.Table) else None
    place = identifier.meta.get("start") if isinstance(identifier, exp.Identifier) else None
    if isinstance(identifier, exp.Identifier) and isinstance(place, int) and identifier.name:
        other = manifest.thing(start + place + int(bool(identifier.quoted)), identifier.name, "TABLE")
        manifest.state(one, relation_type, other, "FUNCTION")


def _read_tables(manifest: Manifest, query: exp.Query) -> Iterator[NamedThing]:
    own = {expression.alias_or_name for expression in query.find_all(exp.CTE)}
    for table in query.find_all(exp.Table):
        if table.name not in own:
            found = _table(manifest, table)
            if found is not None:
                yield found
