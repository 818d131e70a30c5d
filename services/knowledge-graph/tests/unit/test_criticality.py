"""How critical an entity is, and why."""

from __future__ import annotations

import pytest

from knowledge_graph.graph_store import Dependent
from knowledge_graph.tools.dependencies import criticality


def dependents(direct: int, indirect: int = 0) -> list[Dependent]:
    return [Dependent(f"d{n}", f"Service{n}", 1, "x") for n in range(direct)] + [
        Dependent(f"i{n}", f"Other{n}", 2, "d0") for n in range(indirect)
    ]


@pytest.mark.parametrize(
    ("direct", "indirect", "dependencies", "cycles", "level"),
    [
        (0, 0, 5, 0, "none"),
        (0, 0, 0, 0, "none"),
        (1, 0, 9, 0, "low"),
        (1, 0, 0, 0, "low"),
        (2, 2, 30, 0, "medium"),
        (3, 0, 9, 0, "medium"),
        (6, 5, 100, 0, "high"),
        (3, 3, 1, 0, "critical"),
        (10, 15, 200, 0, "critical"),
        (2, 2, 30, 1, "high"),
        (10, 15, 0, 2, "critical"),
    ],
)
def test_criticality_has_levels(direct, indirect, dependencies, cycles, level):
    found = criticality("X", dependents(direct, indirect), dependencies, cycles)
    assert found.level == level, found.reason
    assert (found.dependents, found.all_dependents) == (direct, direct + indirect)


def test_the_reason_names_the_evidence():
    reason = criticality("AuthService", dependents(4, 2), 3, 1).reason
    assert reason == (
        "4 entities depend on AuthService directly (Service0, Service1, Service2, …); 2 more indirectly; "
        "it depends on 3 entities; it is part of 1 dependency cycle"
    )
    assert criticality("X", [], 1, 0).reason == "nothing is known to depend on X, while it depends on 1 entity"
    assert criticality("X", dependents(1), 0, 0).reason.startswith("1 entity depends on X directly (Service0);")
