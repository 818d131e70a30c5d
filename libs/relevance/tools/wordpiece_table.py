"""Makes `wordpieces.npy`: a static vector of 64 small integers for each wordpiece of the bundled encoder.

python libs/relevance/tools/wordpiece_table.py [FILE]     about two minutes on one core

Each piece is run through the encoder by itself; the output vectors are centred and projected on the axes along which
whole words differ most. They are run one at a time, because the encoder scales its integers by the whole batch.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from inference.encoder_files import bundled_files
from relevance.soft_match import TABLE_FILE

CLS, SEP = 101, 102
WORDS = slice(1996, 29612)  # of the vocabulary: no placeholders, no punctuation, no single characters
COMPONENTS = 64


def unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    return rows / (np.linalg.norm(rows, axis=1, keepdims=True) + np.float32(1e-9))


def outputs(model: Path, pieces: Iterable[int]) -> NDArray[np.float32]:
    """Returns (pieces, 384): the last layer at each piece's position."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    rows = []
    for piece in pieces:
        ids = np.array([[CLS, piece, SEP]], np.int64)
        feeds = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        rows.append(session.run(None, feeds)[0][0, 1])
    return np.stack(rows)


def table(rows: NDArray[np.float32]) -> NDArray[np.int8]:
    """Returns (pieces, COMPONENTS): directions, scaled to use the range of the integers."""
    centred = unit(rows)
    centred = centred - centred[WORDS].mean(axis=0)
    axes = np.linalg.svd(centred[WORDS][::4], full_matrices=False)[2][:COMPONENTS]
    axes *= np.sign(axes.sum(axis=1, keepdims=True))  # the sign of an axis is arbitrary
    directions = unit(centred @ axes.T)
    return np.round(directions * (127 / np.abs(directions).max())).astype(np.int8)


def main(file: Path) -> None:
    files = bundled_files()
    files.check()
    np.save(file, table(outputs(files.model_file, range(files.tokenizer.get_vocab_size()))))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else TABLE_FILE)
