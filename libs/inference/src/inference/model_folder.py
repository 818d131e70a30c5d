"""Reads the folder of a model that was exported to ONNX. Raises ModelFolderInvalid."""

import json
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from inference.errors import ModelFolderInvalid


def find_model(folder: Path) -> Path:
    """Returns `model.onnx` or `onnx/model.onnx`."""
    candidates = [folder / "model.onnx", folder / "onnx" / "model.onnx"]
    found = next((file for file in candidates if file.is_file()), None)
    if found is None:
        raise ModelFolderInvalid(f"{folder} has neither model.onnx nor onnx/model.onnx")
    return found


def read_tokenizer(folder: Path) -> Tokenizer:
    file = folder / "tokenizer.json"
    if not file.is_file():
        raise ModelFolderInvalid(f"{folder} has no tokenizer.json")
    return Tokenizer.from_file(str(file))


def read_config(file: Path, absent: Any) -> Any:
    """Returns the JSON in the file, which must be of the type of `absent`; `absent` if there is no file."""
    if not file.is_file():
        return absent
    try:
        config = json.loads(file.read_text("utf-8"))
    except ValueError as error:
        raise ModelFolderInvalid(f"{file} is not JSON") from error
    if type(config) is not type(absent):
        raise ModelFolderInvalid(f"{file} does not hold what it should")
    return config
