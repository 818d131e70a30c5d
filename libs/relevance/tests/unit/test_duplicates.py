from __future__ import annotations

import random

from relevance.duplicates import Folded, Folding

LONG = (
    "The billing router sends every invoice to the ledger before it is printed, and keeps a copy for the auditors, "
    "who read it once a quarter and file what they find with the board of the company that asked for it."
)


def fold(order: list[int], texts: dict[int, str]) -> Folded:
    folding = Folding()
    for chunk in order:
        folding.add(chunk, texts[chunk])
    return folding.folded


def test_the_best_of_identical_chunks_is_kept_and_lists_the_others() -> None:
    folded = fold([7, 3, 9, 1], {7: LONG, 3: "Something else.", 9: LONG, 1: "something  else"})
    assert folded.order == [7, 3]
    assert folded.duplicates == {7: [9], 3: [1]}


def test_a_chunk_with_one_changed_word_is_a_duplicate() -> None:
    folded = fold([1, 2], {1: LONG, 2: LONG.replace("printed", "mailed")})
    assert folded.duplicates == {1: [2]}


def test_a_contained_chunk_is_folded_into_the_longer_one() -> None:
    longer = (
        LONG + " The ledger is closed at midnight; whoever comes later waits for the next day and tries again then."
    )
    assert fold([1, 2], {1: longer, 2: LONG}).duplicates == {1: [2]}
    assert fold([1, 2], {1: LONG, 2: longer}).duplicates == {}


def test_a_different_number_makes_a_different_statement() -> None:
    first = LONG + " The limit is 30 seconds since v1.2.3."
    assert fold([1, 2], {1: first, 2: first.replace("30", "60")}).order == [1, 2]
    assert fold([1, 2], {1: first, 2: first.replace("v1.2.3", "v1.2.4")}).order == [1, 2]
    assert fold([1, 2], {1: "E-101", 2: "E-102"}).order == [1, 2]


def test_different_chunks_and_those_without_words_are_kept() -> None:
    texts = {1: "one two three four five six", 2: "six five four three two one", 3: "?!", 4: "", 5: "日本語"}
    folded = fold([1, 2, 3, 4, 5], texts)
    assert folded.order == [1, 2, 3, 5]
    assert folded.duplicates == {3: [4]}
    assert fold([1, 2], {1: "", 2: "text"}).order == [1, 2]


def test_text_without_spaces_is_compared_by_characters() -> None:
    first = "東京の図書館は毎朝九時に開き、夜の八時に閉まります。日曜日は休みです。"
    assert fold([1, 2], {1: first + "入口は二つ。", 2: first}).duplicates == {1: [2]}


def test_two_hundred_different_long_chunks_are_kept() -> None:
    dice = random.Random(1)
    words = [f"word{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"]
    texts = {number: " ".join(dice.choices(words, k=200)) for number in range(200)}
    assert fold(list(texts), texts).order == list(texts)
