"""Reads the constants of an ONNX file, and writes models, without the package `onnx`.

Both are messages in protobuf's encoding. The numbers of their fields and types, of which only some are known here, are
those of https://github.com/onnx/onnx/blob/main/onnx/onnx.proto3.
"""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
Attribute: TypeAlias = float | list[int]
Message: TypeAlias = list[tuple[int, Any]]

CONTRIB = "com.microsoft"
"""The domain of onnxruntime's own operators"""
_OPSETS = {"": 17, CONTRIB: 1}
_IR_VERSION = 8
_TYPES = {1: "float32", 2: "uint8", 3: "int8", 7: "int64", 9: "bool"}
_NUMBERS = {name: number for number, name in _TYPES.items()}


class Graph:
    """A model under construction, with one input and one output."""

    def __init__(self) -> None:
        self._fields: Message = [(2, "graph")]
        self._count = 0

    def constant(self, value: Array) -> str:
        """Adds a constant and returns its name."""
        name = self._name()
        shape = [(1, size) for size in value.shape]
        self._fields.append((5, [*shape, (2, _NUMBERS[value.dtype.name]), (8, name), (9, value.tobytes())]))
        return name

    def node(self, operator: str, *inputs: str, domain: str = "", **attributes: Attribute) -> str:
        """Adds a node and returns the name of its only output."""
        return self.outputs(1, operator, *inputs, domain=domain, **attributes)[0]

    def outputs(self, count: int, operator: str, *inputs: str, domain: str = "", **attributes: Attribute) -> list[str]:
        """Adds a node and returns the names of its outputs."""
        names = [self._name() for _ in range(count)]
        ends = [*((1, one) for one in inputs), *((2, one) for one in names)]
        given = [(5, _attribute(key, value)) for key, value in attributes.items()]
        self._fields.append((1, [*ends, (4, operator), (7, domain), *given]))
        return names

    def model(self, ids: str, output: str) -> bytes:
        """Returns the model: from `ids`, a matrix of int64, to `output`, of float32."""
        matrix = (2, [(1, [(2, f"{ids} {axis}")]) for axis in range(2)])
        given = [(1, ids), (2, [(1, [(1, _NUMBERS["int64"]), matrix])])]
        result = [(1, output), (2, [(1, [(1, _NUMBERS["float32"])])])]
        opsets = [(8, [(1, domain), (2, version)]) for domain, version in _OPSETS.items()]
        return _encoded([(1, _IR_VERSION), *opsets, (7, [*self._fields, (11, given), (12, result)])])

    def _name(self) -> str:
        self._count += 1
        return str(self._count)


def read_constants(model_file: Path) -> dict[str, Array]:
    """Returns the constants of a model by name, in the file's order, as views of its content."""
    (graph,) = (value for number, value in _fields(memoryview(model_file.read_bytes())) if number == 7)
    constants = {}
    for tensor in (list(_fields(value)) for number, value in _fields(graph) if number == 5):
        shape = [value for number, value in tensor if number == 1]
        fields = dict(tensor)
        constants[str(fields[8], "utf-8")] = np.frombuffer(fields[9], _TYPES[fields[2]]).reshape(shape)
    return constants


def _fields(content: memoryview) -> Iterator[tuple[int, Any]]:
    """Yields the fields of a message: integers as such, all else as the bytes that it takes."""
    at = 0
    while at < len(content):
        key, at = _varint(content, at)
        match key & 7:
            case 0:
                value, at = _varint(content, at)
                yield key >> 3, value
                continue
            case 1:
                size = 8
            case 5:
                size = 4
            case _:
                size, at = _varint(content, at)
        yield key >> 3, content[at : at + size]
        at += size


def _varint(content: memoryview, at: int) -> tuple[int, int]:
    """Returns the integer that begins at `at`, and where it ends."""
    value = shift = 0
    while content[at] > 127:
        value, shift, at = value | (content[at] & 127) << shift, shift + 7, at + 1
    return value | content[at] << shift, at + 1


def _attribute(name: str, value: Attribute) -> Message:
    match value:
        case int():
            return [(1, name), (3, value), (20, 2)]
        case float():
            return [(1, name), (2, value), (20, 1)]
    return [(1, name), *((8, one) for one in value), (20, 7)]


def _encoded(message: Message) -> bytes:
    found = []
    for number, value in message:
        match value:
            case int():
                found += [_integer(number << 3), _integer(value)]
                continue
            case float():
                found += [_integer(number << 3 | 5), struct.pack("<f", value)]
                continue
            case str():
                content = value.encode()
            case bytes():
                content = value
            case _:
                content = _encoded(value)
        found += [_integer(number << 3 | 2), _integer(len(content)), content]
    return b"".join(found)


def _integer(value: int) -> bytes:
    """Encodes an integer, a negative one in two's complement of 64 bits."""
    value, found = value % 2**64, bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes([*found, value])
