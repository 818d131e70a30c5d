"""The settings of the models, to be inherited by a service's settings class beside its own."""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, Field, SecretStr, model_validator


def _web_address(url: str) -> str:
    if not url.startswith(("http://", "https://")):
        raise ValueError("must begin with http:// or https://")
    return url


def _stripped(secret: SecretStr) -> SecretStr:
    return SecretStr(secret.get_secret_value().strip())


WebAddress = Annotated[str, AfterValidator(_web_address)]
# A key read from a file often ends in a newline.
ApiKey = Annotated[SecretStr, AfterValidator(_stripped)]


class _EmptyIsUnset(BaseModel):
    """Compose passes an unset variable on as an empty one: it takes the default."""

    @model_validator(mode="before")
    @classmethod
    def _drop_empty(cls, values: Any) -> Any:
        if not isinstance(values, dict):
            return values
        own = EmbeddingSettings.model_fields | ChatSettings.model_fields
        return {name: value for name, value in values.items() if value != "" or name not in own}


class EmbeddingSettings(_EmptyIsUnset):
    """`EMBEDDING_...`. All processes that embed for one index must have the same."""

    embedding_backend: Literal["bundled", "folder", "openai"] = "bundled"
    embedding_folder: Path | None = None
    embedding_base_url: WebAddress | None = None
    embedding_model: str | None = None
    embedding_api_key: ApiKey | None = None
    embedding_dims: int | None = Field(default=None, gt=0)
    embedding_max_tokens: int = Field(default=512, gt=2)
    embedding_threads: int = Field(default=2, gt=0)
    embedding_batch_size: int | None = Field(default=None, gt=0)
    embedding_timeout_seconds: float = Field(default=30.0, gt=0)


class ChatSettings(_EmptyIsUnset):
    """`CHAT_...`. Without a base URL and a model there is no chat model."""

    chat_base_url: WebAddress | None = None
    chat_model: str | None = None
    chat_api_key: ApiKey | None = None
    chat_timeout_seconds: float = Field(default=60.0, gt=0)
    chat_connect_timeout_seconds: float = Field(default=5.0, gt=0)
    chat_max_tokens: int | None = Field(default=None, gt=0)
