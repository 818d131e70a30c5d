import subprocess
import sys

import pytest

from inference.tokens import count_tokens, load_minilm_tokenizer

# From the tokenizer.json of sentence-transformers/all-MiniLM-L6-v2.
GOLDEN = {
    "": [101, 102],
    "Attractor keeps every chunk in Postgres.": [
        101,
        9958,
        2953,
        7906,
        2296,
        20000,
        1999,
        2695,
        17603,
        2015,
        1012,
        102,
    ],
    "na\u00efve caf\u00e9 \u2014 Stra\u00dfe, \u00c0\u00c9": [101, 15743, 7668, 1517, 2358, 27807, 1010, 29347, 102],
    "\u7530\u4e2d\u3055\u3093 \u5317\u4eac": [101, 1911, 1746, 1656, 30217, 1781, 1755, 102],
    "[CLS] not special? [MASK]": [101, 101, 2025, 2569, 1029, 103, 102],
    "def f(x): return x**2  # caf\u00e9\n\t0x1F": [
        101,
        13366,
        1042,
        1006,
        1060,
        1007,
        1024,
        2709,
        1060,
        1008,
        1008,
        1016,
        1001,
        7668,
        1014,
        2595,
        2487,
        2546,
        102,
    ],
    "\U0001f469\u200d\U0001f469\u200d\U0001f467 x\u0000y\u200bz": [101, 100, 1060, 2100, 2480, 102],
    "a" * 101: [101, 100, 102],
}


@pytest.mark.parametrize("text", GOLDEN)
def test_token_ids_equal_those_of_the_original_tokenizer(text: str) -> None:
    assert load_minilm_tokenizer().encode(text).ids == GOLDEN[text]


def test_the_whole_text_is_counted() -> None:
    tokenizer = load_minilm_tokenizer()
    assert count_tokens(tokenizer, "") == 0
    assert count_tokens(tokenizer, "word " * 1000) == 1000
    assert count_tokens(tokenizer, "\ud800") == 1


def test_counting_needs_no_onnxruntime() -> None:
    code = "import sys, inference.tokens, inference.factory; sys.exit('onnxruntime' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
