"""Known rows: read once for each state, the oldest forgotten first."""

from __future__ import annotations

from collections.abc import Sequence

from retrieval.reading.known_rows import KnownRows


class Stored:
    """Rows of numbers: two of each but 3, which has none, and 5, which has five. `read` are the numbers asked for."""

    def __init__(self) -> None:
        self.read: list[list[int]] = []

    async def rows(self, keys: Sequence[int]) -> list[tuple[int, str]]:
        self.read.append(list(keys))
        counts = {3: 0, 5: 5}
        return [(key, f"{key}{part}") for key in keys for part in range(counts.get(key, 2))]


async def test_rows_of_a_key_are_read_once_for_each_state():
    known, stored = KnownRows[int, str](), Stored()
    assert await known.find("then", [2, 1, 2], stored.rows) == {2: ["20", "21"], 1: ["10", "11"]}
    assert list(await known.find("then", [3, 1, 2], stored.rows)) == [3, 1, 2]
    assert await known.find("then", [3], stored.rows) == {3: []}
    assert await known.find("now", [1], stored.rows) == {1: ["10", "11"]}
    assert await known.find("now", [], stored.rows) == {}
    assert stored.read == [[2, 1], [3], [1]]


async def test_the_rows_that_were_read_longest_ago_are_forgotten_first():
    known, stored = KnownRows[int, str](most=5), Stored()
    await known.find("first", [1, 3], stored.rows)
    await known.find("second", [1], stored.rows)
    assert known.size == 5
    await known.find("first", [2], stored.rows)  # in place of those of the second state
    await known.find("first", [1, 2, 3], stored.rows)
    assert (known.size, stored.read) == (5, [[1, 3], [1], [2]])
    await known.find("second", [1], stored.rows)  # in place of the oldest of the first state
    await known.find("first", [2], stored.rows)
    assert (known.size, stored.read[3:]) == (5, [[1]])
    assert len((await known.find("third", [5], stored.rows))[5]) == 5  # in place of all
    assert known.size == 5
    await known.find("second", [1], stored.rows)
    assert stored.read[4:] == [[5], [1]]
