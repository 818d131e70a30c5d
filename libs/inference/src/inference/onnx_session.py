"""Opens ONNX models for the CPU of this process."""

import ctypes
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import onnxruntime

from inference.errors import InferenceError, ModelFolderInvalid


def opened(model_file: Path, threads: int) -> Any:
    """Returns a session configured to use little memory. Raises ModelFolderInvalid."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # The arena keeps the largest batch's memory for good. Without it, a process is about 40 MB smaller and as fast.
    options.enable_cpu_mem_arena = False
    options.enable_mem_pattern = False
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    with named_errors(ModelFolderInvalid):
        session = onnxruntime.InferenceSession(str(model_file), options, providers=["CPUExecutionProvider"])
    _return_freed_memory()
    return session


@contextmanager
def named_errors(error: type[InferenceError]) -> Iterator[None]:
    """Translates the errors of onnxruntime, whose only common base class is Exception. Use it only around its calls."""
    try:
        yield
    except Exception as cause:
        raise error(str(cause)) from cause


def _return_freed_memory() -> None:
    """Returns about 50 MB to the system that loading has freed and glibc would keep."""
    if sys.platform == "linux" and (trim := getattr(ctypes.CDLL(None), "malloc_trim", None)):
        trim(0)
