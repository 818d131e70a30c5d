"""Builds ONNX models node by node, and reads the constants of one."""

from pathlib import Path
from typing import Any, TypeAlias

import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

Array: TypeAlias = NDArray[Any]
CONTRIB = "com.microsoft"
"""The domain of onnxruntime's own operators."""
_OPSETS = {"": 17, CONTRIB: 1}
_IR_VERSION = 8


class ModelGraph:
    """A model under construction, with one input and one output."""

    def __init__(self) -> None:
        self._nodes: list[onnx.NodeProto] = []
        self._constants: list[TensorProto] = []

    def constant(self, value: Array) -> str:
        """Adds a constant and returns its name."""
        self._constants.append(numpy_helper.from_array(value, f"constant {len(self._constants)}"))
        return str(self._constants[-1].name)

    def node(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """Adds a node and returns the name of its only output."""
        return self.outputs(1, operator, *inputs, **attributes)[0]

    def outputs(self, count: int, operator: str, *inputs: str, **attributes: Any) -> list[str]:
        """Adds a node and returns the names of its outputs."""
        names = [f"{operator} {len(self._nodes)}.{place}" for place in range(count)]
        self._nodes.append(helper.make_node(operator, inputs, names, **attributes))
        return names

    def model(self, ids: str, output: str) -> bytes:
        """Returns the model: from `ids`, a matrix of int64, to `output`, of float32."""
        given = helper.make_tensor_value_info(ids, TensorProto.INT64, ["texts", "tokens"])
        result = helper.make_tensor_value_info(output, TensorProto.FLOAT, None)
        graph = helper.make_graph(self._nodes, "graph", [given], [result], self._constants)
        opsets = [helper.make_opsetid(domain, version) for domain, version in _OPSETS.items()]
        return bytes(helper.make_model(graph, opset_imports=opsets, ir_version=_IR_VERSION).SerializeToString())


def read_constants(model_file: Path) -> dict[str, Array]:
    """Returns the constants of a model by name, in the file's order."""
    return {one.name: numpy_helper.to_array(one) for one in onnx.load(model_file).graph.initializer}
