"""Metrics of a service's processes: each process reports those of all, with the label `process`.

Prometheus scrapes a port, and any of the processes answers. So each also listens on a port of the loopback interface,
where it reports its own metrics to the others.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Awaitable, Callable, Iterable, Sequence

log = logging.getLogger(__name__)
LOOPBACK = "127.0.0.1"
ANSWER_SECONDS = 5.0
Exposition = Callable[[], Awaitable[bytes]]


class ProcessMetrics:
    """The metrics of the process `number`. `sockets` are bound for all processes, before they are forked."""

    def __init__(self, number: int, sockets: Sequence[socket.socket]) -> None:
        self.number, self.own = number, sockets[number]
        self.ports: Sequence[int] = [one.getsockname()[1] for one in sockets]

    @staticmethod
    def sockets(count: int) -> list[socket.socket]:
        made = [socket.socket() for _ in range(count)]
        for one in made:
            one.bind((LOOPBACK, 0))
        return made

    async def listen(self, exposition: Exposition) -> asyncio.Server:
        """Sends the process's own metrics to every client that connects."""

        async def tell(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(await exposition())
            await writer.drain()
            writer.close()

        return await asyncio.start_server(tell, sock=self.own)

    async def joined(self, exposition: Exposition) -> bytes:
        """Returns the metrics of all processes; one that does not answer in time is left out."""
        others = [number for number in range(len(self.ports)) if number != self.number]
        own, *told = await asyncio.gather(exposition(), *map(self._told, others))
        return join(zip([self.number, *others], [own, *told], strict=True))

    async def _told(self, number: int) -> bytes:
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                reader, writer = await asyncio.open_connection(LOOPBACK, self.ports[number])
                try:
                    return await reader.read()
                finally:
                    writer.close()
        except (OSError, TimeoutError) as error:
            log.warning("a process does not tell its metrics", extra={"number": number, "reason": repr(error)})
            return b""


def join(told: Iterable[tuple[int, bytes]]) -> bytes:
    """Joins texts in Prometheus's format by family; each sample gets the label `process`."""
    families: dict[str, list[str]] = {}
    for number, text in told:
        family: list[str] = []
        for line in text.decode().splitlines():
            if line.startswith("# HELP "):
                name = line.split(" ", 3)[2]
                family = families.setdefault(name, [])
            if not line.startswith("#"):
                family.append(_labelled(line, number))
            elif line not in family:
                family.append(line)
    return "".join(f"{line}\n" for family in families.values() for line in family).encode()


def _labelled(sample: str, number: int) -> str:
    end = next(place for place, character in enumerate(sample) if character in " {")
    rest = f",{sample[end + 1 :]}" if sample[end] == "{" else f"}}{sample[end:]}"
    return f'{sample[:end]}{{process="{number}"{rest}'
