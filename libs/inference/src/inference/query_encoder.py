"""Rewrites the bundled encoder for queries: its weights are multiplied as they are stored, in 8 bits.

Half of a short text's time is that of reading the weights from memory, of which 8 bits take a quarter. What they are
multiplied with is rounded to 16 bits, in two halves, so vectors are nearly those made in float32, and comparable with
these. Documents' vectors are made in float32, so those that are stored stay as they are.
"""

from pathlib import Path

import numpy as np

from inference.errors import EncoderFailed
from inference.onnx_graph import CONTRIB, Array, ModelGraph, read_constants
from inference.onnx_session import opened, run

_IDS = "input_ids"
_LAYERS, _HEADS = 6, 12
_EPSILON = 1e-12
# The steps of the two halves: values are at most 30.7, the bound of a LayerNorm, and the first half goes up to 31.75.
_COARSE, _FINE = 1 / 4, 1 / 4 / 254


def multiplies_exactly() -> bool:
    """Tells whether this CPU's products in 8 bits are exact.

    They are on x86 with VNNI. Without it onnxruntime adds two products in 16 bits, which can overflow.
    """
    graph = ModelGraph()
    weights = graph.constant(np.full((64, 16), 127, np.int8))
    product = graph.node("MatMulInteger", graph.node("Cast", _IDS, to=2), weights)
    session = opened(graph.model(_IDS, graph.node("Cast", product, to=1)), threads=1)
    return bool((run(session, {_IDS: np.full((16, 64), 255)}, EncoderFailed) == 255 * 127 * 64).all())


def query_model(model_file: Path) -> bytes:
    """Returns a model that takes the tokens of one text, without padding, and returns their mean last state."""
    return _QueryModel(read_constants(model_file)).build()


class _QueryModel:
    """Builds the model. `x`, and what methods return, are names of values in its graph: a vector for each token."""

    def __init__(self, stored: dict[str, Array]) -> None:
        """`stored`: the constants of the bundled model, in which only the layers' matrices have numbers for names.

        A matrix is stored as whole numbers (`_q`) and a `_scale` for each column, the embeddings' for each row.
        """
        self.stored, self.graph = stored, ModelGraph()
        self.coarse, self.fine = self._constant(_COARSE), self._constant(_FINE)
        self.share = self._constant(_FINE / _COARSE)
        self.zero = self.graph.constant(np.array(128, np.uint8))

    def build(self) -> bytes:
        matrices = [name[:-2] for name in self.stored if name.startswith("val_") and name.endswith("_q")]
        x = self._embedded()
        for number in range(_LAYERS):
            layer = f"inner.encoder.layer.{number}"
            query, key, value, mix, widen, narrow = matrices[6 * number : 6 * number + 6]
            attended = self._attended(self._product(x, query, key, value), f"{layer}.attention.self")
            x = self._added(x, self._product(attended, mix), f"{layer}.attention.output")
            bias = self._stored(f"{layer}.intermediate.dense.bias")
            wide = self.graph.node("BiasGelu", self._product(x, widen), bias, domain=CONTRIB)
            x = self._added(x, self._product(wide, narrow), f"{layer}.output")
        return self.graph.model(_IDS, self.graph.node("ReduceMean", x, axes=[1], keepdims=0))

    def _embedded(self) -> str:
        node, name = self.graph.node, "inner.embeddings"
        words = node("Cast", node("Gather", self._stored(f"{name}.word_embeddings.weight_q"), _IDS), to=1)
        scales = node("Gather", self._stored(f"{name}.word_embeddings.weight_scale"), _IDS)
        places, place_scales = (self.stored[f"{name}.position_embeddings.weight_{part}"] for part in ("q", "scale"))
        kind = self.stored[f"{name}.token_type_embeddings.weight"][0]
        first, length = self.graph.constant(np.array([0])), node("Shape", _IDS, start=1, end=2)
        added = node("Slice", self.graph.constant(kind + places * place_scales), first, length, first)
        x = node("Add", node("Mul", words, scales), added)
        return node("LayerNormalization", x, *self._norm(f"{name}.LayerNorm"), axis=-1, epsilon=_EPSILON)

    def _product(self, x: str, *matrices: str) -> str:
        """Multiplies with one or more matrices, side by side."""
        node = self.graph.node
        upper = node("QuantizeLinear", x, self.coarse, self.zero)
        rest = node("Sub", x, node("DequantizeLinear", upper, self.coarse, self.zero))
        halves = node("Concat", upper, node("QuantizeLinear", rest, self.fine, self.zero), axis=0)
        weights = self.graph.constant(np.hstack([self.stored[f"{name}_q"] for name in matrices]))
        scales = self.graph.constant(np.hstack([self.stored[f"{name}_scale"][0] for name in matrices]))
        products = node("MatMulIntegerToFloat", halves, weights, self.coarse, scales, self.zero, domain=CONTRIB)
        large, small = self.graph.outputs(2, "Split", products, axis=0)
        return node("Add", large, node("Mul", small, self.share))

    def _attended(self, x: str, name: str) -> str:
        """Attends to the queries, keys and values in `x`, which has those of all heads side by side."""
        biases = np.hstack([self.stored[f"{name}.{part}.bias"] for part in ("query", "key", "value")])
        parts = [*self.graph.outputs(3, "Split", x, axis=2), self.graph.constant(biases)]
        return self.graph.node("MultiHeadAttention", *parts, domain=CONTRIB, num_heads=_HEADS)

    def _added(self, x: str, change: str, name: str) -> str:
        """Adds `change`, which was made from `x`."""
        norm, bias = self._norm(f"{name}.LayerNorm"), self._stored(f"{name}.dense.bias")
        return self.graph.node("SkipLayerNormalization", change, x, *norm, bias, domain=CONTRIB, epsilon=_EPSILON)

    def _norm(self, name: str) -> list[str]:
        return [self._stored(f"{name}.weight"), self._stored(f"{name}.bias")]

    def _stored(self, name: str) -> str:
        return self.graph.constant(self.stored[name])

    def _constant(self, value: float) -> str:
        return self.graph.constant(np.array(value, np.float32))
