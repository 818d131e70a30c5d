import pytest
from pydantic import ValidationError
from pydantic_settings import BaseSettings

from inference.errors import InvalidApiKey, SettingMissing
from inference.factory import build_chat_model, build_embedder, build_entailment, build_reranker
from inference.settings import ChatSettings, EmbeddingSettings, EntailmentSettings, RerankSettings


class ServiceSettings(BaseSettings):
    port: int = 8000


class Settings(ServiceSettings, EmbeddingSettings, ChatSettings):
    pass


def test_settings_are_read_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHAT_BASE_URL", "http://models:8080/v1")
    monkeypatch.setenv("CHAT_API_KEY", "sk-secret\n")
    monkeypatch.setenv("CHAT_MODEL", "")
    monkeypatch.setenv("CHAT_TIMEOUT_SECONDS", "")
    monkeypatch.setenv("EMBEDDING_THREADS", "4")
    monkeypatch.setenv("EMBEDDING_DIMS", "")
    settings = Settings()
    assert settings.chat_api_key is not None
    assert settings.chat_api_key.get_secret_value() == "sk-secret"
    assert "secret" not in repr(settings)
    assert (settings.port, settings.chat_timeout_seconds, settings.embedding_threads) == (8000, 60, 4)
    assert (settings.chat_model, settings.embedding_dims) == (None, None)
    assert build_chat_model(settings) is None


async def test_an_address_and_a_model_configure_a_chat_model() -> None:
    built = build_chat_model(ChatSettings(chat_base_url="http://models/v1", chat_model="tiny"))
    assert built is not None
    assert built.model == "tiny"
    await built.aclose()


def test_an_invalid_address_is_refused() -> None:
    with pytest.raises(ValidationError, match="http://"):
        ChatSettings(chat_base_url="models:8080")


def test_a_key_that_is_invalid_in_a_header_is_refused_and_not_shown() -> None:
    settings = ChatSettings.model_validate({"chat_base_url": "http://x", "chat_model": "m", "chat_api_key": "sk-ü\nx"})
    with pytest.raises(InvalidApiKey) as raised:
        build_chat_model(settings)
    assert "sk" not in str(raised.value)


@pytest.mark.parametrize(("backend", "named"), [("folder", "EMBEDDING_FOLDER"), ("openai", "EMBEDDING_DIMS")])
def test_missing_settings_of_a_chat_backend_are_named(backend: str, named: str) -> None:
    with pytest.raises(SettingMissing, match=named):
        build_embedder(EmbeddingSettings.model_validate({"embedding_backend": backend}))


async def test_a_reranker_is_built_if_a_backend_is_configured() -> None:
    assert build_reranker(RerankSettings(rerank_base_url="http://models/v1", rerank_model="tiny")) is None
    built = build_reranker(RerankSettings(rerank_backend="tei", rerank_base_url="http://models"))
    assert built is not None
    assert built.model == "tei"
    await built.aclose()


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"rerank_backend": "tei"}, "RERANK_BASE_URL"),
        ({"rerank_backend": "jina", "rerank_base_url": "http://models", "rerank_model": ""}, "RERANK_MODEL"),
    ],
)
def test_missing_settings_of_a_reranker_are_named(settings: dict[str, str], named: str) -> None:
    with pytest.raises(SettingMissing, match=named):
        build_reranker(RerankSettings.model_validate(settings))


async def test_an_entailment_model_is_built_if_a_backend_is_configured() -> None:
    assert build_entailment(EntailmentSettings(entailment_base_url="http://models"), None) is None
    chat = build_chat_model(ChatSettings(chat_base_url="http://models/v1", chat_model="tiny"))
    by_chat = build_entailment(EntailmentSettings(entailment_backend="chat"), chat)
    server = build_entailment(EntailmentSettings(entailment_backend="tei", entailment_base_url="http://models"), None)
    assert by_chat is not None
    assert server is not None
    assert chat is not None
    assert (by_chat.model, server.model) == ("tiny", "tei")
    await server.aclose()
    await chat.aclose()


@pytest.mark.parametrize(
    ("backend", "named"), [("tei", "ENTAILMENT_BASE_URL"), ("folder", "ENTAILMENT_FOLDER"), ("chat", "CHAT_MODEL")]
)
def test_missing_settings_of_an_entailment_model_are_named(backend: str, named: str) -> None:
    with pytest.raises(SettingMissing, match=named):
        build_entailment(EntailmentSettings.model_validate({"entailment_backend": backend}), None)
