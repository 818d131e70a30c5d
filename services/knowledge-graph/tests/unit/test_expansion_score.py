from __future__ import annotations

import pytest

from knowledge_graph.expansion.hops import score


def test_a_rare_entity_scores_the_full_factor_of_its_hop():
    assert [round(score(hop, 1), 3) for hop in range(3)] == [1.0, 0.769, 0.625]


@pytest.mark.parametrize("hop", [0, 1, 2])
def test_a_hub_scores_between_a_rare_entity_and_the_next_hop(hop):
    assert score(hop, 1) > score(hop, 100) > score(hop, 10**9) > score(hop + 1, 1)
