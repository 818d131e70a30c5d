from uuid import UUID

import pytest

from contracts.graph_expansion import ExpandedChunk, PathStep
from retrieval.graph.evidence import MOST_SEEDS, GraphEvidence, ranked, seeds

DOCUMENT = UUID(int=1)
STEP = PathStep(
    source="Lothair II", target="Ermengarde", relation="mother", chunk_id="a", document_id=DOCUMENT, start=0, end=9
)


def chunk(hop: int, score: float, path: list[str], **more) -> ExpandedChunk:
    return ExpandedChunk(chunk_id="b", document_id=DOCUMENT, hop=hop, path=path, score=score, **more)


def test_a_path_shows_the_relations_between_its_entities():
    found = GraphEvidence("b", DOCUMENT)
    found.add(chunk(1, 0.6, ["Lothair II", "Ermengarde"], steps=[STEP]), over_relations=False)
    assert found.described_path() == ["Lothair II", "mother", "Ermengarde"]
    assert (found.link, found.bridge) == (0.0, 0.6)
    unknown = GraphEvidence("b", DOCUMENT)
    unknown.add(chunk(2, 0.6, ["A", "B", "C"]), over_relations=True)
    assert (unknown.described_path(), unknown.near) == (["A", "B", "C"], 0.6)


def test_the_strongest_evidence_determines_the_path():
    found = GraphEvidence("b", DOCUMENT)
    found.add(chunk(0, 0.1, ["Ermengarde"], about=0.5), over_relations=False)
    found.add(chunk(1, 0.6, ["Lothair II", "Ermengarde"], steps=[STEP]), over_relations=False)
    assert found.described_path() == ["Lothair II", "mother", "Ermengarde"]
    assert (found.link, found.about, found.bridge) == (0.1, 0.5, 0.6)


def test_seeds_are_the_best_candidates_that_contain_a_name():
    evidence = {number: GraphEvidence(str(number), DOCUMENT, link=0.5) for number in (1, 3, 40)}
    evidence[2] = GraphEvidence("2", DOCUMENT, bridge=0.5)
    scores = {number: 1 - number / 50 for number in range(50)}
    found = seeds(scores, evidence)
    assert list(found) == [1, 3]
    assert found[1] == pytest.approx(48 / 49)
    assert len(seeds(scores, {number: GraphEvidence("", DOCUMENT, link=1) for number in range(50)})) == MOST_SEEDS
    assert seeds({}, evidence) == {}
    assert seeds({1: 0.7}, evidence) == {1: 1.0}


def test_the_graph_leg_ranks_by_the_sum_of_its_evidence():
    evidence = {1: GraphEvidence("1", DOCUMENT, link=0.2), 2: GraphEvidence("2", DOCUMENT, link=0.1, bridge=0.4)}
    assert [number for number, _ in ranked(evidence)] == [2, 1]
