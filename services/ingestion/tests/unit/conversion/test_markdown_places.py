from ingestion.conversion.markdown_places import markdown_places

PAGE = """# Harbour

Ships call at the **harbour** office
every *spring* of the year.

## Cargo

| Ship   | Tons |
|--------|------|
| Marlin | 420  |
| Petrel | 95   |
| Heron  | 12   |

1. Salt.
2. Timber.

The end.
"""


def shown(contents: list[str], markdown: str) -> list[str | None]:
    return [place and markdown[slice(*place)] for place in markdown_places(contents, markdown)]


def test_a_passage_is_found_whatever_spaces_and_marks_the_markdown_has() -> None:
    contents = ["Ships call at the harbour office every spring of the year.", "1.  Salt.\n2.  Timber."]
    assert shown(contents, PAGE) == [
        "Ships call at the **harbour** office\nevery *spring* of the year.",
        "1. Salt.\n2. Timber.",
    ]


def test_a_part_of_a_table_stands_at_its_rows_without_the_header_that_it_repeats() -> None:
    header = "| Ship | Tons |\n| --- | --- |\n"
    first, second = shown([header + "| Marlin | 420 |", header + "| Petrel | 95 |\n| Heron | 12 |"], PAGE)
    assert first is not None
    assert first.startswith("| Ship   | Tons |")
    assert "420" in first
    assert second is not None
    assert second.startswith("| Petrel | 95   |")
    assert "Ship" not in second


def test_repeated_passages_stand_one_after_the_other_and_overlapping_ones_where_they_overlap() -> None:
    text = "Same words.\n\nOther words.\n\nSame words.\n"
    found = markdown_places(["Same words.", "Other words.", "Same words."], text)
    assert found == [(0, 11), (13, 25), (27, 38)]
    assert shown(["One two. Three four.", "Three four. Five six."], "One two. Three four. Five six.") == [
        "One two. Three four.",
        "Three four. Five six.",
    ]


def test_a_short_passage_is_not_taken_for_a_part_of_a_word_or_of_the_passage_before() -> None:
    text = "The board said no to it.\n\nNobody knows.\n\nno\n"
    assert markdown_places(["The board said no to it.", "Nobody knows.", "no"], text)[2] == (41, 43)


def test_a_passage_that_the_markdown_writes_otherwise_in_between_stands_between_its_ends() -> None:
    text = "It begins with words of its own, then [a link](https://example.org) and it ends with words of its own, too."
    passage = "It begins with words of its own, then a link and it ends with words of its own, too."
    assert shown(["Elsewhere entirely.", passage], text) == [None, text]


def test_what_is_not_there_has_no_place_and_does_not_mislead_what_follows() -> None:
    contents = ["# Harbour", "A picture of a ship.", "***", "The end.", "Ships call at the harbour office"]
    assert shown(contents, PAGE) == [
        "# Harbour",
        None,
        None,
        "The end.",
        "Ships call at the **harbour** office",
    ]


def test_characters_beyond_the_first_plane_count_as_one() -> None:
    text = "😀 🏠\n\n    Ünïcode 𝒳 ends。\n次の文。"
    assert shown(["    Ünïcode 𝒳 ends。", "次の文。"], text) == ["    Ünïcode 𝒳 ends。", "次の文。"]
