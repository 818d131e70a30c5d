"""Entailment by a sequence classifier in ONNX, on the CPU of this process."""

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from inference.entailment import EntailmentLabel, EntailmentScores, TextPair, label_named
from inference.errors import ClassifierFailed, ModelFolderInvalid
from inference.model_folder import find_model, read_config, read_tokenizer
from inference.onnx_session import opened, run
from inference.tokens import LONGEST_TOKEN
from inference.unicode import encodable

_BATCH = 8
_MOST_TOKENS = 512


class OnnxEntailment:
    """A sequence classifier exported by Transformers: a folder with `model.onnx` (or `onnx/model.onnx`),
    `tokenizer.json`, and `config.json` with `id2label`. Loaded at its first use. Longer premises are truncated.
    """

    def __init__(self, folder: Path, *, threads: int = 2) -> None:
        """Raises ModelFolderInvalid, WrongLabels."""
        config = read_config(folder / "config.json", {})
        self.model = folder.resolve().name
        self._file, self._threads = find_model(folder), threads
        self._labels = _labels(config)
        self._tokenizer = _tokenizer(folder, config)
        self._lock = threading.Lock()
        self._session: Any = None

    async def classify(self, pairs: Sequence[TextPair]) -> list[EntailmentScores]:
        return await asyncio.to_thread(self.classify_sync, pairs)

    def classify_sync(self, pairs: Sequence[TextPair]) -> list[EntailmentScores]:
        """Does what `classify` does, in a thread without an event loop."""
        longest = _MOST_TOKENS * LONGEST_TOKEN
        found: list[EntailmentScores] = []
        for start in range(0, len(pairs), _BATCH):
            texts = [
                (encodable(pair.premise[:longest]), encodable(pair.hypothesis[:longest]))
                for pair in pairs[start : start + _BATCH]
            ]
            with self._lock:
                found += map(self._scores, self._logits(self._tokenizer.encode_batch(texts)))
        return found

    async def aclose(self) -> None:
        with self._lock:
            self._session = None

    def _logits(self, encodings: Sequence[Any]) -> NDArray[np.float32]:
        if self._session is None:
            self._session = opened(self._file, self._threads)
        feeds = {
            "input_ids": np.array([one.ids for one in encodings], np.int64),
            "attention_mask": np.array([one.attention_mask for one in encodings], np.int64),
            "token_type_ids": np.array([one.type_ids for one in encodings], np.int64),
        }
        logits = run(self._session, feeds, ClassifierFailed)
        if logits.shape != (len(encodings), len(self._labels)) or not np.isfinite(logits).all():
            raise ClassifierFailed(f"{len(self._labels)} numbers for each pair were expected, not {logits.shape}")
        return logits

    def _scores(self, logits: NDArray[np.float32]) -> EntailmentScores:
        weights = np.exp(logits - logits.max())
        shares = weights / weights.sum()
        found: dict[EntailmentLabel, float] = {"entailment": 0.0, "neutral": 0.0, "contradiction": 0.0}
        for label, share in zip(self._labels, shares.tolist(), strict=True):
            found[label] += share
        return EntailmentScores(found["entailment"], found["neutral"], found["contradiction"])


def _labels(config: dict[str, Any]) -> list[EntailmentLabel]:
    """Returns the labels in the order of the model's output."""
    named = config.get("id2label")
    if not isinstance(named, dict) or set(named) != {str(at) for at in range(len(named))}:
        raise ModelFolderInvalid("config.json has no id2label")
    labels = [label_named(str(named[str(at)])) for at in range(len(named))]
    if "entailment" not in labels:
        raise ModelFolderInvalid("none of id2label is entailment")
    return labels


def _tokenizer(folder: Path, config: dict[str, Any]) -> Tokenizer:
    tokenizer = read_tokenizer(folder)
    most = config.get("max_position_embeddings")
    # Sentences are short, so this truncates the source.
    length = min(_MOST_TOKENS, most) if isinstance(most, int) and most > 8 else _MOST_TOKENS
    tokenizer.enable_truncation(length, strategy="longest_first")
    tokenizer.enable_padding(pad_id=_padding(config), pad_token=tokenizer.id_to_token(_padding(config)) or "[PAD]")
    return tokenizer


def _padding(config: dict[str, Any]) -> int:
    found = config.get("pad_token_id")
    return found if isinstance(found, int) else 0
