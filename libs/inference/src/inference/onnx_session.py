"""Opens ONNX models for the CPU of this process."""

import ctypes
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from inference.errors import InferenceError, ModelFolderInvalid


def opened(model: Path | bytes, threads: int) -> Any:
    """Returns a session configured to use little memory. Raises ModelFolderInvalid."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # The arena keeps the largest batch's memory for good. Without it, a process is about 40 MB smaller and as fast.
    options.enable_cpu_mem_arena = False
    options.enable_mem_pattern = False
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    with _named_errors(ModelFolderInvalid):
        session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    _return_freed_memory()
    return session


def run(
    session: Any, feeds: Mapping[str, NDArray[np.int64]], failed: type[InferenceError], outputs: list[str] | None = None
) -> NDArray[np.float32]:
    """Returns the first output, computed from those of the feeds that the model has inputs for.

    Raises ModelFolderInvalid if it has any other input, and `failed`.
    """
    inputs = {given.name for given in session.get_inputs()}
    if unknown := inputs - feeds.keys():
        raise ModelFolderInvalid(f"the model asks for {sorted(unknown)}")
    with _named_errors(failed):
        return np.asarray(session.run(outputs, {name: feeds[name] for name in inputs})[0], np.float32)


@contextmanager
def _named_errors(error: type[InferenceError]) -> Iterator[None]:
    """Translates the errors of onnxruntime, whose only common base class is Exception. Use it only around its calls."""
    try:
        yield
    except Exception as cause:
        raise error(str(cause)) from cause


def _return_freed_memory() -> None:
    """Returns about 50 MB to the system that loading has freed and glibc would keep."""
    if sys.platform == "linux" and (trim := getattr(ctypes.CDLL(None), "malloc_trim", None)):
        trim(0)
