"""Chooses between comparing every vector and the approximate index, by what each would cost. No IO.

Costs are in comparisons of the exact scan. All workspaces share the approximate index of an embedding space: of those
that it visits, only the share that is searched counts, so a small workspace among many would be slow and incomplete.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

HNSW_BYTES = 280  # of an entry besides its vector, as measured with m = 12; of an index with 16 it is 400
MOST_CANDIDATES = 1000  # that the server keeps at a time; of more, the scan goes on from where it was
MARGIN = 1.25  # the approximate scan must be expected to be so many times cheaper
TUNED_AT = 100_000  # vectors of the index that the setting is meant for; a larger one misses more of the nearest
GROWTH = 0.85  # of the candidates that find as much, by the index's size, as measured up to a million vectors


@dataclass(frozen=True)
class Sizes:
    """`matching`: chunks of the workspace that the filter leaves; `workspace`: all of its chunks; `shared`: vectors of
    all workspaces in the approximate index, about.
    """

    matching: int
    workspace: int
    shared: int

    @property
    def are_all(self) -> bool:
        return self.matching >= self.workspace


@dataclass(frozen=True)
class ScanPlan:
    """`most_visited`: the approximate scan stops there, having cost as much as an exact one. `candidates`: how many it
    keeps at a time, so that as many as are wanted are of those that are searched; where it cannot keep so many it goes
    on until it has read `at_least` of those that are searched. `why` is for explain.
    """

    exact: bool
    most_visited: int
    why: str
    candidates: int = 0
    at_least: int = 0


def shared_vectors(index_bytes: int, dims: int) -> int:
    """Returns about how many vectors of `dims` halves an approximate index of this size holds."""
    return index_bytes // (2 * dims + HNSW_BYTES)


def candidates(wanted: int, shared: int) -> int:
    """Returns how many entries the approximate scan has to look at: more in a larger index (`shared` vectors)."""
    return round(wanted * max(1.0, math.pow(shared / TUNED_AT, GROWTH)))


def choose(sizes: Sizes, wanted: int, tuple_cost: float, always_exact: int) -> ScanPlan:
    """`wanted`: candidates of the approximate scan in an index of TUNED_AT vectors. Up to `always_exact` chunks every
    vector is compared.

    `tuple_cost`: what an entry of the approximate index costs to visit.
    """
    of = "chunks" if sizes.are_all else f"chunks of the filter, of {sizes.workspace}"
    if sizes.matching <= always_exact:
        return ScanPlan(True, 0, f"{sizes.matching} {of}")
    if not sizes.shared:
        return ScanPlan(True, 0, f"{sizes.matching} {of}; there is no approximate index")
    shared = max(sizes.shared, sizes.matching)
    own = candidates(wanted, shared)
    visited = round(own * shared / sizes.matching)
    if MARGIN * visited * tuple_cost >= sizes.matching:
        return ScanPlan(True, 0, f"{sizes.matching} {of}; hnsw would visit about {visited} of {shared} vectors")
    most = max(round(sizes.matching / tuple_cost), wanted)
    why = f"{sizes.matching} {of}, among about {shared} vectors"
    at_least = own if own * shared > MOST_CANDIDATES * sizes.workspace else 0
    return ScanPlan(False, most, why, min(visited, MOST_CANDIDATES), at_least)
