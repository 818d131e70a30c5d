"""Nothing leaves the deployment: during ingestion, every socket of every process stays on this machine."""

from __future__ import annotations

import asyncio
import ipaddress

from api_calls import EXAMPLES, ask, client, ingest
from stack import EmbeddedStack


def remote_addresses(stack: EmbeddedStack) -> set[str]:
    """Returns the peers of all sockets of all processes of the stack, including children."""
    return {one.raddr.ip for _, _, one in stack.connections("inet") if one.raddr}


async def test_every_connection_stays_on_this_machine(stack):
    done, seen = asyncio.Event(), set()

    async def watch() -> None:
        while not done.is_set():
            seen.update(await asyncio.to_thread(remote_addresses, stack))

    watching = asyncio.create_task(watch())
    async with client(stack.url, stack.api_key) as http:
        await ingest(http, sorted(path for path in EXAMPLES.rglob("*") if path.is_file()))
        await ask(http, "Which projects depend on AuthService?")
    done.set()
    await watching
    assert seen
    assert [address for address in seen if not ipaddress.ip_address(address).is_loopback] == []
