"""Integers are read as they were written, in no more bytes than their widths take."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.lexical.columns import column, read_column


@given(st.integers(0, 2000), st.integers(0, 40), st.integers(-(2**40), 2**40), st.integers(0, 9), st.integers(0, 2**32))
def test_columns_round_trip(count, bits, least, exceptions, seed):
    dice = np.random.default_rng(seed)
    values = dice.integers(0, 1 << bits, count) + least
    values[dice.integers(0, max(1, count), exceptions if count else 0)] += dice.integers(0, 2**45)
    written = b"before" + column(values) + b"after"
    again, end = read_column(written, 6, count)
    assert again.tolist() == values.tolist()
    assert (again.dtype, written[end:]) == (np.int64, b"after")


@pytest.mark.parametrize("bits", range(1, 17))
def test_a_column_uses_as_many_bits_as_its_values_need(bits):
    values = np.arange(1000) * 7919 % (1 << bits)
    assert len(column(values)) <= 1000 * bits // 8 + 20
