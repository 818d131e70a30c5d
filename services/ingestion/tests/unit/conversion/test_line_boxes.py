from ingestion.conversion.pdf.line_boxes import MOST_BOXES, line_boxes
from ingestion.conversion.pdf.lines import TextLine


def line(text: str, top: float, left: float = 10) -> tuple[int, TextLine]:
    return 1, TextLine(left, top, left + 5 * len(text), top + 10, text, bold=False, monospaced=False)


def told(content: str, *lines: tuple[int, TextLine]) -> list[str]:
    return [content[box.start : box.end] for box in line_boxes([content], lines)[0]]


def test_lines_are_found_whatever_spaces_hyphens_and_ligatures_the_page_has() -> None:
    content = "A refresh token is final. It is replaced at each use."
    lines = line("A refresh token is \ufb01nal. It is re-", 100), line("placed at each  use.", 112)
    assert told(content, *lines) == ["A refresh token is final. It is re", "placed at each use"]


def test_a_part_that_begins_within_a_line_has_the_rest_of_its_width() -> None:
    lines = [line("abcd efgh", 100), line("ijkl", 112)]
    first, second = line_boxes(["abcd", "efgh ijkl"], lines)
    assert [(box.start, box.end) for box in first] == [(0, 4)]
    assert first[0].box == (10, 100, 32.5, 110)
    assert [(box.start, box.end) for box in second] == [(0, 4), (5, 9)]
    assert second[0].box == (32.5, 100, 55, 110)


def test_the_lines_of_a_cell_are_found_though_its_neighbours_lines_come_between() -> None:
    content = "| Statement | Short |\n|---|---|\n| Every vessel pays at the gate of the harbour | Vessels pay |"
    row = [
        line("Every vessel pays", 100),
        line("Vessels", 100, 300),
        line("at the gate of", 112),
        line("pay", 112, 300),
    ]
    last = line("the harbour", 124)
    assert told(content, *row, last) == ["Every vessel pays", "Vessels", "at the gate of", "pay", "the harbour"]


def test_words_of_another_row_are_not_taken_for_those_of_this_part() -> None:
    rows = [one for n in range(40) for one in (line(f"Statement number {n} is", 20 * n), line("yes", 20 * n, 300))]
    content = "\n".join(f"| Statement number {n} is | yes |" for n in range(30, 33))
    (found,) = line_boxes([f"| Head |\n{content}"], rows)
    assert [box.box[1] for box in found] == [600, 600, 620, 620, 640, 640]


def test_a_passage_keeps_a_bounded_number_of_lines() -> None:
    words = [f"word{n}" for n in range(3 * MOST_BOXES)]
    (found,) = line_boxes([" ".join(words)], [line(word, n) for n, word in enumerate(words)])
    assert len(found) == MOST_BOXES


def test_a_text_without_letters_or_lines_has_no_boxes() -> None:
    assert line_boxes(["---", "text"], [line("...", 1)]) == [[], []]
    assert line_boxes(["text"], []) == [[]]
