"""`bolt+s://` to a Neo4j with a certificate of one's own authority."""

from __future__ import annotations

import asyncio
from pathlib import Path
from uuid import uuid4

import pytest
from tls_front import OwnAuthority

from knowledge_graph.errors import StoreUnavailable
from knowledge_graph.neo4j.connection import Neo4jConnection
from knowledge_graph.settings import Neo4jSettings

BOLT = bytes.fromhex("6060b017")  # with which each connection begins


@pytest.mark.parametrize("trusted", ["ours", "theirs"])
async def test_only_a_server_with_a_certificate_of_the_named_authority_is_spoken_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trusted: str
) -> None:
    authorities = {name: OwnAuthority.made(tmp_path / name) for name in ("ours", "theirs")}
    heard = bytearray()

    async def server(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.extend(await reader.read(4))
        writer.close()

    monkeypatch.setenv("SSL_CERT_FILE", str(authorities[trusted].certificate))
    async with await asyncio.start_server(server, "127.0.0.1", 0) as listener:
        address = f"127.0.0.1:{listener.sockets[0].getsockname()[1]}"
        async with authorities["ours"].before(address) as port:
            settings = Neo4jSettings(neo4j_url=f"bolt+s://localhost:{port}", neo4j_user="neo4j", neo4j_password="x")
            connection = Neo4jConnection(settings)
            with pytest.raises(StoreUnavailable):
                await connection.read("RETURN 1", uuid4())
            await connection.aclose()
    assert bytes(heard[:4]) == (BOLT if trusted == "ours" else b"")
