"""Embeddings by a sentence encoder in ONNX, on the CPU of this process."""

import asyncio
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

from inference.embeddings import EmbeddingSpace, unit_rows
from inference.encoder_files import EncoderFiles
from inference.errors import EncoderFailed, ModelFolderInvalid
from inference.onnx_session import opened, run
from inference.tokens import LONGEST_TOKEN, count_tokens
from inference.unicode import encodable


class OnnxEmbedder:
    """Loads the model at the first use, then keeps it. Thread-safe.

    `threads` limits the CPU threads of one call. `batch_size` texts run together, fewer if they are long: on CPUs only
    short texts benefit from batching, and long ones take memory. With `background`, one thread of the lowest priority
    does all the work and yields to everything else on the machine. With `rewritten`, it runs what this returns for the
    model's file, not the file itself.
    """

    def __init__(
        self,
        files: EncoderFiles,
        *,
        dims: int | None = None,
        threads: int = 2,
        batch_size: int = 16,
        background: bool = False,
        rewritten: Callable[[Path], Path | bytes] | None = None,
    ) -> None:
        """Loads the model and unloads it again if neither `dims` nor the files state the dimensions.

        Raises ModelFileChanged, ModelFolderInvalid.
        """
        self.tokenizer = files.tokenizer
        self._files = files
        self._threads = 1 if background else threads
        self._background = background
        self._executor: ThreadPoolExecutor | None = None
        self._batch_size = batch_size
        self._rewritten = rewritten
        self._truncating = Tokenizer.from_str(files.tokenizer.to_str())
        self._truncating.enable_truncation(files.max_tokens)
        self._lock = threading.Lock()
        self._loaded: Any = None
        if (dims := dims or files.dims) is None:
            dims = self._run(self._truncating.encode_batch(["dimensions"])).shape[1]
            self._loaded = None
        self.space = EmbeddingSpace(files.name, dims, files.max_tokens)

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self._background and self._executor is None:
            self._executor = ThreadPoolExecutor(1, "embedding", _take_lowest_priority)
        return await asyncio.get_running_loop().run_in_executor(self._executor, self.embed_sync, texts)

    def embed_sync(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Does what `embed` does, in a thread without an event loop."""
        longest = self.space.max_tokens * LONGEST_TOKEN
        encodings = self._truncating.encode_batch([encodable(text[:longest]) for text in texts])
        vectors = np.empty((len(texts), self.space.dims), np.float32)
        for batch in self._batches(encodings):
            pooled = self._run([encodings[index] for index in batch])
            if pooled.shape[1] != self.space.dims:
                raise ModelFolderInvalid(f"the model gives {pooled.shape[1]} dimensions, not {self.space.dims}")
            vectors[batch] = unit_rows(pooled)
        return vectors

    def count_tokens(self, text: str) -> int:
        """Counts the tokens of `text`, without the special tokens that `space.max_tokens` includes."""
        return count_tokens(self.tokenizer, text)

    async def aclose(self) -> None:
        """Frees the model's memory. It is loaded again at the next use."""
        if self._executor:
            self._executor.shutdown(wait=False, cancel_futures=True)
            self._executor = None
        with self._lock:
            self._loaded = None

    def _batches(self, encodings: Sequence[Encoding]) -> Iterator[list[int]]:
        """Yields indexes of texts of similar length, to pad little; a batch has at most one longest text's tokens."""
        batch: list[int] = []
        for index in sorted(range(len(encodings)), key=lambda index: len(encodings[index].ids)):
            tokens = (len(batch) + 1) * len(encodings[index].ids)
            if batch and (len(batch) == self._batch_size or tokens > self._files.max_tokens):
                yield batch
                batch = []
            batch.append(index)
        if batch:
            yield batch

    def _session(self) -> Any:
        with self._lock:
            if self._loaded is None:
                self._files.check()
                file = self._files.model_file
                self._loaded = opened(self._rewritten(file) if self._rewritten else file, self._threads)
            return self._loaded

    def _run(self, encodings: Sequence[Encoding]) -> NDArray[np.float32]:
        """Returns the pooled outputs, one row per encoding, not normalised."""
        ids = np.zeros((len(encodings), max(len(encoding.ids) for encoding in encodings)), np.int64)
        mask = np.zeros_like(ids)
        for row, encoding in enumerate(encodings):
            ids[row, : len(encoding.ids)] = encoding.ids
            mask[row, : len(encoding.ids)] = 1
        session = self._session()
        feeds = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        return _pool(run(session, feeds, EncoderFailed, [_output(session)]), mask, self._files.pooling)


def _take_lowest_priority() -> None:
    """Lowers the priority of only this thread, which works on Linux only."""
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 19)


def _output(session: Any) -> str:
    names = [output.name for output in session.get_outputs()]
    return next((name for name in ("last_hidden_state", "token_embeddings") if name in names), str(names[0]))


def _pool(output: NDArray[np.float32], mask: NDArray[np.int64], pooling: str) -> NDArray[np.float32]:
    """Pools (batch, tokens, dims) to (batch, dims); an output that is already pooled stays as it is."""
    if output.ndim == 2:
        return output
    if output.ndim != 3:
        raise ModelFolderInvalid(f"the model's output has {output.ndim} axes")
    if pooling == "cls":
        return output[:, 0]
    weights = mask[..., None].astype(np.float32)
    return np.asarray((output * weights).sum(axis=1) / weights.sum(axis=1), np.float32)
