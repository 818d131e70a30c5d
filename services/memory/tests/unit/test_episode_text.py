from uuid import uuid4

from contracts.events import TurnCompleted
from memory.consumer import LONGEST_ANSWER, LONGEST_QUESTION, episode_text


def turn(question: str, answer: str) -> TurnCompleted:
    return TurnCompleted(
        session_id=uuid4(), run_id=uuid4(), user_id=uuid4(), question=question, answer=answer, document_ids=[]
    )


def test_an_episode_holds_question_and_answer():
    text = episode_text(turn(" Who owns billing? ", "Team Heron [1]."))
    assert text == "Question: Who owns billing?\nAnswer: Team Heron [1]."


def test_an_episode_is_bounded():
    text = episode_text(turn("q" * 10_000, "a" * 10_000))
    assert len(text) == LONGEST_QUESTION + LONGEST_ANSWER + len("Question: \nAnswer: ")
    assert text.endswith("a…")
