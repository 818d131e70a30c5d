"""Reading conversations in LoCoMo's format."""

from __future__ import annotations

import json

import pytest

from attractor_client.errors import AttractorError
from attractor_client.evaluation.remembering import ALL, RecallFigures, read_conversations

TURNS = [{"id": f"D1:{number}", "speaker": "Gina", "text": f"Line {number}"} for number in range(201)]
CONVERSATION = {
    "conversation_id": "talk",
    "sessions": [{"session_id": "D1", "time": "1:56 pm on 8 May, 2023", "turns": TURNS}],
    "questions": [
        {"question": "When?", "category_name": "temporal", "evidence_turn_ids": ["D1:3", "D9:9"]},
        {"question": "Unanswerable", "category_name": "adversarial", "evidence_turn_ids": []},
    ],
}


def test_sessions_fit_into_requests_and_questions_have_their_evidence(tmp_path):
    file = tmp_path / "conversations.json"
    file.write_text(json.dumps([CONVERSATION]))
    [read] = read_conversations(file)
    assert [len(part.messages) for part in read.sessions] == [200, 1]
    first = read.sessions[0].messages[0]
    assert (first.speaker, first.role, first.at.isoformat()) == ("Gina", "speaker", "2023-05-08T13:56:00")
    assert [(one.text, one.evidence) for one in read.questions] == [("When?", {"D1:3"})]


@pytest.mark.parametrize("text", ["[1]", '[{"sessions": []}]', "no JSON"])
def test_an_unrelated_file_is_refused(tmp_path, text):
    file = tmp_path / "other.json"
    file.write_text(text)
    with pytest.raises(AttractorError, match="no conversations"):
        read_conversations(file)


def test_the_overall_mean_comes_first():
    figures = RecallFigures()
    figures.recall |= {"temporal": [1.0], ALL: [1.0, 0.0], "multi-hop": [0.0]}
    assert list(figures.mean_recall().items()) == [(ALL, 0.5), ("multi-hop", 0.0), ("temporal", 1.0)]
