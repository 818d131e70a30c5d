"""The MCP server on this process's stdin and stdout."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from mcp.server.stdio import stdio_server

from attractor_client.client import AttractorClient
from attractor_client.mcp.server import Context, McpEndpoint


async def serve_on_stdio(client: AttractorClient) -> None:
    """Serves requests with this client until the input ends."""

    @asynccontextmanager
    async def same(_: Context) -> AsyncIterator[AttractorClient]:
        yield client

    server = McpEndpoint(same).server()
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())
