"""attractor mcp"""

from __future__ import annotations

from importlib import import_module

from attractor_client.client import AttractorClient
from attractor_client.invocation import connected
from attractor_client.output import Output


@connected()
async def mcp(client: AttractorClient, output: Output) -> None:
    """Serve the Model Context Protocol on stdin and stdout, for agents on this machine.

    \b
    Example, in an agent's settings:
      {"mcpServers": {"attractor": {"command": "attractor", "args": ["mcp"], "env": {"ATTRACTOR_API_KEY": "..."}}}}
    """
    output.note("serving MCP on stdin and stdout; the end of the input ends it")
    # Loaded only here, because loading the SDK takes longer than most commands.
    await import_module("attractor_client.mcp.stdio").serve_on_stdio(client)
