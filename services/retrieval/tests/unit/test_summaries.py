from __future__ import annotations

from retrieval.spaces.summaries import LETTERS_A_TOKEN, summary_text

HEADINGS = [["Guide", "Setup"], ["Guide", "Setup"], ["Guide", "Use"]]


def test_the_summary_stands_for_the_document():
    assert summary_text("Guide", " How it is used. ", HEADINGS, ["Unpack it."], 256) == "Guide\nHow it is used."


def test_without_one_title_headings_and_beginning_do():
    assert (
        summary_text("Guide", None, HEADINGS, ["Unpack it.", "Press."], 256) == "Guide\nSetup\nUse\nUnpack it.\nPress."
    )
    assert summary_text("a.md", "  ", [], [""], 256) == "a.md"


def test_it_is_no_longer_than_a_model_reads_and_headings_leave_room_for_the_text():
    many = [[f"Heading {number}"] for number in range(500)]
    text = summary_text("Guide", None, many, ["Unpack it. " * 500], 100)
    assert len(text) == 100 * LETTERS_A_TOKEN
    assert text.count("Unpack it.") > 20
    assert len(summary_text("Guide", "word " * 1000, [], [], 100)) == 100 * LETTERS_A_TOKEN
