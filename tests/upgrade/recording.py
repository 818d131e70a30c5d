"""A recorded installation: its schemas, rows, objects and administrator's key, as text.

schema.json.gz   the migrations that were applied, in order, and the indexes made since
rows.sql.gz      the rows of every table, as COPY writes them
objects.tar.gz   the object store
about.json       ids to look for, and the key
"""

from __future__ import annotations

import gzip
import io
import json
import shutil
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import psycopg
from langgraph.checkpoint.postgres.base import BasePostgresSaver
from minio import Minio
from psycopg import sql

from embedded.engines import Engines

FOLDER = Path(__file__).parent / "recording"
SCHEMAS = ("gateway", "ingestion", "knowledge_graph", "memory", "orchestrator", "retrieval")
EXTENSIONS = ("vector", "pg_trgm", "unaccent")
DATA_FOLDER = "/recorded-data-folder"
TABLES = "SELECT schemaname, tablename FROM pg_tables WHERE schemaname = ANY(%s) ORDER BY 1, 2"
INDEXES = "SELECT schemaname, indexname, indexdef FROM pg_indexes WHERE schemaname = ANY(%s) ORDER BY 1, 2"
SEQUENCES = "SELECT schemaname, sequencename, last_value FROM pg_sequences WHERE schemaname = ANY(%s) ORDER BY 1, 2"


def save(folder: Path, checkout: Path, data: Path, about: dict[str, Any]) -> None:
    """Saves the installation that runs on `data`; its rows are read in one transaction."""
    folder.mkdir(exist_ok=True)
    processes = json.loads((data / "processes.json").read_text())
    with psycopg.connect(_admin_url(data, processes)) as connection:
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        schema = {"migrations": dict(_migrations(connection, checkout)), "indexes": _indexes(connection)}
        _write(folder / "schema.json.gz", json.dumps(schema, indent=1))
        _write(folder / "rows.sql.gz", "".join(_rows(connection)).replace(str(data), DATA_FOLDER))
        about["sequences"] = [list(row) for row in connection.execute(SEQUENCES, (list(SCHEMAS),))]
    environment = psutil.Process(processes["ingestion"]["pid"]).environ()
    _save_objects(folder / "objects.tar.gz", _store(environment), environment["S3_BUCKET"])
    shutil.copytree(data / "documents", folder / "documents", dirs_exist_ok=True)
    (folder / "about.json").write_text(json.dumps(about, indent=2) + "\n")


def _admin_url(data: Path, processes: dict[str, Any]) -> str:
    environment = psutil.Process(processes["ingestion"]["pid"]).environ()
    secrets = json.loads((data / "secrets.json").read_text())
    host = environment["DATABASE_URL"].rpartition("@")[2]
    return f"postgresql://postgres:{secrets['postgres']}@{host}"


def _migrations(connection: psycopg.Connection, checkout: Path) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    folders = {path.parent.name: path for path in checkout.glob("*/*/src/*/migrations")}
    for schema in SCHEMAS:
        statement = sql.SQL("SELECT name FROM {}").format(sql.Identifier(schema, "migration"))
        names = [name for (name,) in connection.execute(statement)]
        ordered = sorted(names, key=lambda name: (not name.startswith("service_kit/"), name))
        texts = [(name, (folders[name.split("/")[0]] / name.split("/")[1]).read_text()) for name in ordered]
        if schema == "orchestrator":
            texts += [(f"langgraph/{number}", text) for number, text in enumerate(BasePostgresSaver.MIGRATIONS)]
        yield schema, texts


def _indexes(connection: psycopg.Connection) -> list[list[str]]:
    return [list(row) for row in connection.execute(INDEXES, (list(SCHEMAS),))]


def _rows(connection: psycopg.Connection) -> Iterator[str]:
    for schema, table in connection.execute(TABLES, (list(SCHEMAS),)).fetchall():
        columns = (
            "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped"
            " AND attgenerated = '' ORDER BY attnum"
        )
        names = [name for (name,) in connection.execute(columns, (f'"{schema}"."{table}"',))]
        listed = sql.SQL(", ").join(map(sql.Identifier, names))
        with connection.cursor().copy(
            sql.SQL("COPY {} ({}) TO STDOUT").format(sql.Identifier(schema, table), listed)
        ) as copy:
            rows = b"".join(bytes(part) for part in copy).decode()
        if rows:
            yield f"COPY {schema}.{table} ({', '.join(names)}) FROM STDIN;\n{rows}\\.\n"


def _store(environment: dict[str, str]) -> Minio:
    return Minio(
        environment["S3_ENDPOINT"],
        access_key=environment["S3_ACCESS_KEY"],
        secret_key=environment["S3_SECRET_KEY"],
        secure=False,
        region="us-east-1",
    )


def _save_objects(file: Path, store: Minio, bucket: str) -> None:
    with tarfile.open(file, "w:gz") as archive:
        for item in store.list_objects(bucket, recursive=True):
            name = str(item.object_name)
            answer = store.get_object(bucket, name)
            content = answer.read()
            answer.close()
            answer.release_conn()
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))


def _write(file: Path, text: str) -> None:
    file.write_bytes(gzip.compress(text.encode(), mtime=0))


def read(file: Path) -> str:
    return gzip.decompress(file.read_bytes()).decode()


def restore(folder: Path, data: Path) -> dict[str, Any]:
    """Writes the recorded installation into an empty data folder; returns the content of about.json."""
    about: dict[str, Any] = json.loads((folder / "about.json").read_text())
    with Engines.start(data) as engines:
        with psycopg.connect(engines.admin_database_url, autocommit=True) as connection:
            create(connection, json.loads(read(folder / "schema.json.gz")))
            load(connection, read(folder / "rows.sql.gz").replace(DATA_FOLDER, str(data)))
            for schema, name, value in about["sequences"]:
                if value is not None:
                    connection.execute("SELECT setval(%s::regclass, %s)", (f"{schema}.{name}", value))
        access = engines.object_store
        environment = {"S3_ENDPOINT": access.endpoint, "S3_ACCESS_KEY": access.access_key}
        store = _store(environment | {"S3_SECRET_KEY": access.secret_key})
        with tarfile.open(folder / "objects.tar.gz") as archive:
            for member in archive:
                content = archive.extractfile(member)
                if content:
                    store.put_object(access.bucket, member.name, content, member.size)
    shutil.copytree(folder / "documents", data / "documents", dirs_exist_ok=True)
    (data / "admin.key").write_text(about["key"] + "\n")
    return about


def create(connection: psycopg.Connection, schema: dict[str, Any]) -> None:
    """Creates roles, schemas and tables as the recorded version's migrations did."""
    for name in EXTENSIONS:
        connection.execute(sql.SQL("CREATE EXTENSION {} SCHEMA public").format(sql.Identifier(name)))
    for name, migrations in schema["migrations"].items():
        place, role = sql.Identifier(name), sql.Identifier(f"attractor_{name}")
        for statement in (
            "CREATE ROLE {role} LOGIN",
            "ALTER ROLE {role} SET search_path = {place}, public",
            "CREATE SCHEMA {place}",
            "GRANT USAGE ON SCHEMA {place} TO {role}",
            "ALTER DEFAULT PRIVILEGES IN SCHEMA {place} GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO {role}",
            "ALTER DEFAULT PRIVILEGES IN SCHEMA {place} GRANT USAGE, SELECT ON SEQUENCES TO {role}",
            "CREATE TABLE {place}.migration"
            " (name text PRIMARY KEY, sha256 text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())",
            "SET search_path = {place}, public",
        ):
            connection.execute(sql.SQL(statement).format(place=place, role=role))
        for _, text in migrations:
            connection.execute(text.encode())
    connection.execute("RESET search_path")
    there = {tuple(row) for row in _indexes(connection)}
    for row in schema["indexes"]:
        if tuple(row) not in there:
            connection.execute(f"SET search_path = {row[0]}, public")
            connection.execute(row[2].encode())
    connection.execute("RESET search_path")


def load(connection: psycopg.Connection, rows: str) -> None:
    """Loads the output of `_rows`, with triggers and foreign keys disabled."""
    connection.execute("SET session_replication_role = replica")
    for schema in SCHEMAS:
        tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = %s", (schema,)).fetchall()
        names = sql.SQL(", ").join(sql.Identifier(schema, table) for (table,) in tables)
        connection.execute(sql.SQL("TRUNCATE {}").format(names))
    for part in rows.split("\n\\.\n"):
        if part:
            statement, _, content = part.partition("\n")
            with connection.cursor().copy(statement.removesuffix(";").encode()) as copy:
                copy.write(content + "\n")
