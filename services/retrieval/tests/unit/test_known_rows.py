"""Known rows: read once for each state, the oldest forgotten first."""

from __future__ import annotations

from collections.abc import Sequence

from retrieval.reading.known_rows import KnownRows


async def test_rows_of_a_key_are_read_once_for_each_state():
    known, read = KnownRows[int, str](), list[list[int]]()

    async def rows(keys: Sequence[int]) -> list[tuple[int, str]]:
        read.append(list(keys))
        return [(key, f"{key}{part}") for part in "ab" for key in keys if key != 3]

    assert await known.find("then", [2, 1, 2], rows) == {2: ["2a", "2b"], 1: ["1a", "1b"]}
    assert list(await known.find("then", [3, 1, 2], rows)) == [3, 1, 2]
    assert await known.find("then", [3], rows) == {3: []}
    assert await known.find("now", [1], rows) == {1: ["1a", "1b"]}
    assert await known.find("now", [], rows) == {}
    assert read == [[2, 1], [3], [1]]


async def test_the_rows_of_the_state_that_was_used_longest_ago_are_forgotten_first():
    known = KnownRows[int, str](most=4)
    known.put("first", {1: ["a", "b"], 2: []})
    known.put("second", {1: ["c"]})
    assert known.get("first", [1, 2]) == ({1: ["a", "b"], 2: []}, [])
    known.put("first", {3: ["d"]})
    assert (known.size, known.get("second", [1])) == (4, ({}, [1]))
    known.put("second", {1: ["e"]})
    assert known.get("first", [1, 2, 3]) == ({2: [], 3: ["d"]}, [1])
    known.put("second", {2: list("five!")})
    assert (known.size, known.get("second", [1, 2]), known.get("first", [3])) == (0, ({}, [1, 2]), ({}, [3]))
