"""Chooses the cheaper of an exact scan and the approximate index. No IO.

The unit of cost is one comparison of the exact scan. All workspaces share the approximate index of an embedding space,
and only some of the vectors that it visits count: for a small workspace among many it would be slow and incomplete.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

HNSW_BYTES = 280  # per entry, besides its vector: measured with m = 12; it is 400 with m = 16
MOST_CANDIDATES = 1000  # that the server keeps at a time; for more, the scan continues in batches
MARGIN = 1.25  # the approximate scan must be expected to be cheaper by this factor
TUNED_AT = 100_000  # vectors in an index that the setting is tuned for; a larger index misses more of the nearest
COMPARED = 8  # vectors that the server compares for each entry that the approximate scan visits, as measured
GROWTH = 0.765  # exponent of the candidates needed for the same recall, by index size; measured at a million vectors


@dataclass(frozen=True)
class Sizes:
    """The sizes that decide. `matching`: chunks of the workspace that pass the filter; `workspace`: all of its chunks;
    `shared`: about how many vectors of all workspaces are in the approximate index.
    """

    matching: int
    workspace: int
    shared: int


@dataclass(frozen=True)
class ScanPlan:
    """How to scan. `most_compared`: the approximate scan stops after so many vectors (the server counts them), when it
    has cost as much as an exact one. `candidates`: how many it keeps at a time, so that enough of them match the
    search; if the server cannot keep that many, the scan continues in batches of `candidates` until it has read
    `at_least` matching ones. `why` is for explain.
    """

    exact: bool
    most_compared: int
    why: str
    candidates: int = 0
    at_least: int = 0


def shared_vectors(index_bytes: int, dims: int) -> int:
    """Returns about how many half-precision vectors an approximate index of this size has."""
    return index_bytes // (2 * dims + HNSW_BYTES)


def candidates(wanted: int, shared: int) -> int:
    """Returns how many entries the approximate scan must consider: more in a larger index (`shared` vectors)."""
    return round(wanted * max(1.0, math.pow(shared / TUNED_AT, GROWTH)))


def choose(sizes: Sizes, wanted: int, tuple_cost: float, always_exact: int) -> ScanPlan:
    """Returns the cheaper plan; up to `always_exact` chunks it is always exact.

    `wanted`: candidates of the approximate scan in an index of TUNED_AT vectors. `tuple_cost`: the cost of visiting an
    entry of the approximate index.
    """
    of = "chunks" if sizes.matching >= sizes.workspace else f"chunks of the filter, of {sizes.workspace}"
    if sizes.matching <= always_exact:
        return ScanPlan(True, 0, f"{sizes.matching} {of}")
    if not sizes.shared:
        return ScanPlan(True, 0, f"{sizes.matching} {of}; there is no approximate index")
    shared = max(sizes.shared, sizes.matching)
    own = candidates(wanted, shared)
    visited = round(own * shared / sizes.matching)
    if MARGIN * visited * tuple_cost >= sizes.matching:
        return ScanPlan(True, 0, f"{sizes.matching} {of}; hnsw would visit about {visited} of {shared} vectors")
    most = COMPARED * max(round(sizes.matching / tuple_cost), wanted)
    why = f"{sizes.matching} {of}, among about {shared} vectors"
    if own * shared <= MOST_CANDIDATES * sizes.workspace:
        return ScanPlan(False, most, why, min(visited, MOST_CANDIDATES))
    # Batches of equal size, because each is visited as a whole. The scan ends within the last one, nearest first, so
    # that it needs no further one where somewhat fewer than expected match.
    batches = math.ceil(visited / MOST_CANDIDATES)
    return ScanPlan(False, most, why, math.ceil(visited / batches), round(own * (1 - 0.5 / batches)))
