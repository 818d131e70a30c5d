"""The settings of the models, to be inherited by a service's settings class beside its own."""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, Json, SecretStr, model_validator


def _web_address(url: str) -> str:
    if not url.startswith(("http://", "https://")):
        raise ValueError("must begin with http:// or https://")
    return url


def _stripped(secret: SecretStr) -> SecretStr:
    return SecretStr(secret.get_secret_value().strip())


WebAddress = Annotated[str, AfterValidator(_web_address)]
# A key read from a file often ends in a newline.
ApiKey = Annotated[SecretStr, AfterValidator(_stripped)]
Positive = Annotated[int, Field(gt=0)]


class _EmptyIsUnset(BaseModel):
    """Compose passes an unset variable on as an empty one: it takes the default."""

    @model_validator(mode="before")
    @classmethod
    def _drop_empty(cls, values: Any) -> Any:
        if not isinstance(values, dict):
            return values
        own = EmbeddingSettings.model_fields | ChatSettings.model_fields | RerankSettings.model_fields
        return {name: value for name, value in values.items() if value != "" or name not in own}


class EmbeddingModel(BaseModel):
    """One embedding model; each field is as in `EMBEDDING_...`."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    backend: Literal["bundled", "folder", "openai"] = "bundled"
    folder: Path | None = None
    base_url: WebAddress | None = None
    model: str | None = None
    api_key: ApiKey | None = None
    dims: Positive | None = None
    max_tokens: Annotated[int, Field(gt=2)] = 512
    threads: Positive = 2
    batch_size: Positive | None = None
    timeout_seconds: Annotated[float, Field(gt=0)] = 30.0


class EmbeddingSettings(_EmptyIsUnset):
    """`EMBEDDING_...`. All processes that embed for one index must have the same.

    `embedding_models` lists further models, which a workspace may be switched to: a JSON list of objects with the
    names of the other variables without `EMBEDDING_`, in small letters.
    """

    embedding_backend: Literal["bundled", "folder", "openai"] = "bundled"
    embedding_folder: Path | None = None
    embedding_base_url: WebAddress | None = None
    embedding_model: str | None = None
    embedding_api_key: ApiKey | None = None
    embedding_dims: Positive | None = None
    embedding_max_tokens: int = Field(default=512, gt=2)
    embedding_threads: Positive = 2
    embedding_batch_size: Positive | None = None
    embedding_timeout_seconds: float = Field(default=30.0, gt=0)
    embedding_models: Json[list[EmbeddingModel]] = Field(default="[]", validate_default=True)

    @property
    def default_embedding_model(self) -> EmbeddingModel:
        """The one that `EMBEDDING_...` describes."""
        names = EmbeddingModel.model_fields
        return EmbeddingModel.model_construct(**{name: getattr(self, f"embedding_{name}") for name in names})


class ChatSettings(_EmptyIsUnset):
    """`CHAT_...`. Without a base URL and a model there is no chat model."""

    chat_base_url: WebAddress | None = None
    chat_model: str | None = None
    chat_api_key: ApiKey | None = None
    chat_timeout_seconds: float = Field(default=60.0, gt=0)
    chat_connect_timeout_seconds: float = Field(default=5.0, gt=0)
    chat_max_tokens: int | None = Field(default=None, gt=0)


class RerankSettings(_EmptyIsUnset):
    """`RERANK_...`. Without a backend there is no reranker. The timeout is the provider's longest silence."""

    rerank_backend: Literal["cohere", "jina", "tei"] | None = None
    rerank_base_url: WebAddress | None = None
    rerank_model: str | None = None
    rerank_api_key: ApiKey | None = None
    rerank_timeout_seconds: float = Field(default=2.0, gt=0)
    rerank_batch_size: Positive | None = None
