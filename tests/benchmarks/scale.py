"""Ten million chunks, computed from what was measured at 100,000 and at a million: python tests/benchmarks/scale.py

Prints the tables of docs/scale.md, and that of docs/sizing.md: what a team needs. Costs between the two sizes and
beyond follow the power of the size that leads through both; candidates of the dense leg are what the service itself
would plan.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass

from retrieval.dense.plan import HNSW_BYTES, candidates
from retrieval.settings import Settings

SMALL, LARGE, SIMULATED = 100_000, 1_000_000, 10_000_000
SIZES = (SMALL, LARGE, SIMULATED)
DIMS, SHARE = 384, 0.7  # of the corpus's vectors; of its chunks, those of the workspace that is asked
CORES = 2  # of the machine that was measured
MB, GB, HOUR = 1e6, 1e9, 3600.0
VECTOR_ROW, GRAPH, DOCUMENTS, OBJECTS = 900, 15_300, 400, 6_300  # bytes a chunk, at the sizes that were measured
BACKUP_RATE, RESTORE_RATE = 25 * MB, 21 * MB
BUILT_IN_COMPOSE = 64 * 2**20  # PostgreSQL's own maintenance_work_mem
MEMORY_IN_COMPOSE = 2 * 2**30  # of PostgreSQL's container
TEAM = 10.0  # searches a second of 200 people who each search every 20 seconds
PATIENCE = 15 * 60  # seconds without a database after which a standby is due
TEAMS = ((10, 1_000), (50, 10_000), (200, 10_000), (200, 100_000), (1_000, 100_000))  # people, documents
CHUNKS = 30  # of a document
THINKS_SECONDS = 20.0
SEARCHES, ANSWERS, UPLOADS = 0.6, 0.2, 0.02  # of what a team does; the rest are lists
ANSWER_SECONDS, DOCUMENT_SECONDS = 0.4, 2.3  # of processor time
BUSY = 0.5  # of the cores, so that an import beside it slows nobody
WORKING = 2.7 * GB  # all processes of the embedded stack while a team works


@dataclass(frozen=True)
class Power:
    """A cost that grows with a power of the size; `small` and `large` are (size, cost) as measured."""

    small: tuple[float, float]
    large: tuple[float, float]

    @property
    def exponent(self) -> float:
        return math.log(self.large[1] / self.small[1]) / math.log(self.large[0] / self.small[0])

    def at(self, chunks: float) -> float:
        return self.small[1] * (chunks / self.small[0]) ** self.exponent


@dataclass(frozen=True)
class Line:
    """A cost that grows with the entries that HNSW visits: milliseconds, as measured at both sizes."""

    small: float
    large: float

    def at(self, chunks: float) -> float:
        each = (self.large - self.small) / (visited(LARGE) - visited(SMALL))
        return self.small + each * (visited(chunks) - visited(SMALL))


INDEX_BYTES = Power((SMALL, 4147), (LARGE, 4035))
HNSW_SECONDS = Power((95_170, 46), (950_518, 17 * 60))
INDEXED_A_SECOND = Power((SMALL, 492), (LARGE, 394))
LEXICAL = Power((SMALL, 14), (LARGE, 35))
SIXTEEN = Power((SMALL, 265), (LARGE, 1_081))
# At the large size the bare statement was measured for the first batch only, 27 ms; both batches are 1.9 times as much.
# The leg was measured with three batches, 100 ms; two take a third less of the statement's share, 62 ms.
DENSE, BARE = Line(18, 80), Line(6.1, 1.9 * 27)
EFFORT = int(Settings.model_fields["hnsw_ef_search"].default)
DEADLINE = 1000 * float(Settings.model_fields["dense_deadline_seconds"].default)


def visited(chunks: float) -> float:
    """Returns how many entries of HNSW a search visits, in the workspace that is asked."""
    return candidates(EFFORT, round(chunks)) / SHARE


def hnsw_bytes(chunks: float) -> float:
    return chunks * (2 * DIMS + HNSW_BYTES)


def working_set(chunks: float) -> float:
    """Returns the bytes that dense searches read at random: the graph, and the rows that it points to."""
    return hnsw_bytes(chunks) + chunks * VECTOR_ROW


def database_bytes(chunks: float) -> float:
    return chunks * (INDEX_BYTES.at(chunks) + GRAPH + DOCUMENTS)


def all_bytes(chunks: float) -> float:
    """Returns the bytes of a backup: the databases and the object store."""
    return database_bytes(chunks) + chunks * OBJECTS


def searches_a_second(chunks: float) -> float:
    """Returns the hybrid searches that two cores answer when sixteen clients ask."""
    return 16 / (SIXTEEN.at(chunks) / 1000)


def dense_of_many(chunks: float) -> float:
    """Returns the milliseconds of sixteen dense legs at once, which share the cores."""
    return DENSE.at(chunks) * 16 / CORES


def first_size(exceeds: Callable[[float], bool]) -> float:
    """Returns the smallest number of chunks from 10,000 to a billion that exceeds a limit, to a hundredth."""
    low, high = 4.0, 9.0
    while high - low > 0.004:
        middle = (low + high) / 2
        low, high = (low, middle) if exceeds(10**middle) else (middle, high)
    return float(10**high)


def busy_cores(people: float, chunks: float) -> float:
    """Returns the cores that a team keeps busy. Searches below the small size cost what they cost there."""
    search = CORES / searches_a_second(max(chunks, SMALL))
    return people / THINKS_SECONDS * (SEARCHES * search + ANSWERS * ANSWER_SECONDS + UPLOADS * DOCUMENT_SECONDS)


Cost = Callable[[float], float]
COSTS: tuple[tuple[str, Cost, Callable[[float], str]], ...] = (
    ("PostgreSQL: index, graph, documents", database_bytes, lambda cost: f"{cost / GB:.3g} GB"),
    ("of that, the index", lambda size: size * INDEX_BYTES.at(size), lambda cost: f"{cost / GB:.3g} GB"),
    ("object store, without the originals", lambda size: size * OBJECTS, lambda cost: f"{cost / GB:.3g} GB"),
    ("read at random by dense searches", working_set, lambda cost: f"{cost / GB:.2g} GB"),
    ("memory to build HNSW", hnsw_bytes, lambda cost: f"{cost / GB:.2g} GB"),
    ("building HNSW", HNSW_SECONDS.at, lambda cost: f"{cost / HOUR:.2g} h"),
    ("indexing all, two consumers", lambda size: size / INDEXED_A_SECOND.at(size), lambda cost: f"{cost / HOUR:.2g} h"),
    ("entries of HNSW visited by a search", visited, lambda cost: f"{cost:,.0f}"),
    ("bare pgvector statement, p50", BARE.at, lambda cost: f"{cost:.0f} ms"),
    ("dense leg, p50", DENSE.at, lambda cost: f"{cost:.0f} ms"),
    ("lexical leg, p50", LEXICAL.at, lambda cost: f"{cost:.0f} ms"),
    ("hybrid, 16 clients, p50", SIXTEEN.at, lambda cost: f"{cost / 1000:.2g} s"),
    ("hybrid searches a second, two cores", searches_a_second, lambda cost: f"{cost:.0f}"),
    ("a full backup", lambda size: all_bytes(size) / BACKUP_RATE, lambda cost: f"{cost / HOUR:.2g} h"),
    ("a restore", lambda size: all_bytes(size) / RESTORE_RATE, lambda cost: f"{cost / HOUR:.2g} h"),
)  # fmt: skip

LIMITS: tuple[tuple[str, Callable[[float], bool]], ...] = (
    ("HNSW is no longer built in the memory that PostgreSQL gives by default (64 MB)",
     lambda size: hnsw_bytes(size) > BUILT_IN_COMPOSE),
    ("a search for one client takes 100 ms in the dense leg", lambda size: DENSE.at(size) > 100),
    ("a restore takes longer than 15 minutes: a standby is due",
     lambda size: all_bytes(size) / RESTORE_RATE > PATIENCE),
    ("dense searches read more at random than PostgreSQL has memory in Compose (2 GB)",
     lambda size: working_set(size) > MEMORY_IN_COMPOSE),
    (f"two cores cannot answer {TEAM:.0f} searches a second: retrieval's database needs a server of its own",
     lambda size: searches_a_second(size) < TEAM),
    ("with 16 clients on two cores, the dense leg misses its deadline of 3 s and is left out",
     lambda size: dense_of_many(size) > DEADLINE),
    ("building HNSW takes a night (8 h)", lambda size: HNSW_SECONDS.at(size) > 8 * HOUR),
    ("the dense leg of a single client misses its deadline of 3 s", lambda size: DENSE.at(size) > DEADLINE),
)  # fmt: skip


def tables() -> str:
    lines = [f"| chunks | {' | '.join(f'{size:,}' for size in SIZES)} |", f"|---|{'---|' * len(SIZES)}"]
    lines += [f"| {name} | {' | '.join(shown(cost(size)) for size in SIZES)} |" for name, cost, shown in COSTS]
    lines += ["", "| from this many chunks on | |", "|---|---|"]
    broken = sorted((first_size(exceeds), what) for what, exceeds in LIMITS)
    lines += [f"| {rounded(size):,} | {what} |" for size, what in broken]
    return "\n".join(lines) + "\n"


def teams() -> str:
    """Returns the table of docs/sizing.md."""
    lines = ["| people | documents | cores | memory | PostgreSQL | object store |", "|---|---|---|---|---|---|"]
    for people, documents in TEAMS:
        chunks = documents * CHUNKS
        cores = max(CORES, math.ceil(busy_cores(people, chunks) / BUSY))
        memory = math.ceil((WORKING + working_set(chunks)) / GB)
        stored = f"{database_bytes(chunks) / GB:.2g} GB | {chunks * OBJECTS / GB:.2g} GB"
        lines.append(f"| {people:,} | {documents:,} | {cores} | {memory} GB | {stored} |")
    return "\n".join(lines) + "\n"


def rounded(size: float) -> int:
    """Returns the size with two digits."""
    digits = 10 ** (math.floor(math.log10(size)) - 1)
    return int(round(size / digits) * digits)


if __name__ == "__main__":
    sys.stdout.write(f"{tables()}\n{teams()}")
