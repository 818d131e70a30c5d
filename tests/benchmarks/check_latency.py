"""Latency added by the check of an answer: to its first word, and from the model's last delta to its end.

The orchestrator runs in a process of its own. The model writes the same text at the same pace alternately as an answer
from documents, whose sentences are checked, and as an answer without documents, which is not checked. Both are timed
from the model's deltas on, so the search is excluded. No sentence is contradicted, because rewriting one would be
another model call.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median

import httpx2
from benchmarks.conversation_bench import Bench, message_events, new_session
from benchmarks.figures import Row, spread

ANSWERS, WARM = 40, 3
SENTENCES = (
    "Tokens expire after fifteen minutes [1]. ",
    "The AuthService issues tokens. ",
    "The BillingRouter sends invoices every Monday [1]. ",
    "Tokens are short-lived, so that a thief has little of them [1]. ",
    "The UserDB keeps all the accounts of the company [1]. ",
)
PIECES = tuple(f"{word} " for sentence in SENTENCES * 3 for word in sentence.split())
PACE_SECONDS = 0.01


@dataclass
class Timed:
    """The times of the model's first and last delta, and the client's delays after them."""

    written: list[float] = field(default_factory=list)
    first: float = 0.0
    end: float = 0.0
    behind: Sequence[float] = ()


async def check_latency() -> list[Row]:
    """Measures answers alternately with and without documents."""
    timed: dict[bool, list[Timed]] = {True: [], False: []}
    async with Bench.opened() as bench, bench.process() as (_, client):
        bench.world.answer = PIECES
        for number in range(ANSWERS + WARM):
            for checked in (number % 2 == 0, number % 2 == 1):
                found = await _timed(bench, client, checked)
                if number >= WARM:
                    timed[checked].append(found)
    checked, plain = timed[True], timed[False]
    rows = []
    for what, name, aim in (("first word", "first", "0"), ("end", "end", "p95 150 ms")):
        with_check, without = ([getattr(one, name) for one in ones] for ones in (checked, plain))
        added = [one - other for one, other in zip(with_check, without, strict=True)]
        middle = 1000 * (median(with_check) - median(without))
        rows += [
            (f"from the model's piece to the {what}, checked", spread(with_check), ""),
            ("  not checked", spread(without), ""),
            ("  added by the check, turn about", spread(added), aim),
            ("  difference of the medians", f"{middle:.1f} ms", ""),
        ]
    behind = [seconds for one in checked for seconds in one.behind]
    return [*rows, ("a sentence's status behind its last word", spread(behind), "p95 150 ms")]


async def _timed(bench: Bench, client: httpx2.AsyncClient, checked: bool) -> Timed:
    found = Timed()
    shown: list[tuple[int, float]] = []
    length, behind = 0, []

    async def pace(_: int) -> None:
        await asyncio.sleep(PACE_SECONDS)
        found.written.append(time.monotonic())

    session = await new_session(client, bench.users[0])
    bench.world.pace = pace
    async for event in message_events(client, session, rag_enabled=checked):
        now = time.monotonic()
        if event.event == "message_delta":
            found.first = found.first or now - found.written[0]
            length += len(json.loads(event.data)["text"])
            shown.append((length, now))
        elif event.event == "sentence":
            end = json.loads(event.data)["end"]
            behind.append(now - next(at for reached, at in shown if reached >= end))
        elif event.event == "message_completed":
            found.end = now - found.written[-1]
    bench.world.pace = None
    found.behind = behind
    return found
