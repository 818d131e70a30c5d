"""The one place that reads the environment."""

from pydantic import Field

from inference.settings import ChatSettings, EmbeddingSettings
from service_kit.settings import DocumentConsumerSettings, ServiceSettings, SessionConsumerSettings


class Settings(ServiceSettings, DocumentConsumerSettings, SessionConsumerSettings, EmbeddingSettings, ChatSettings):
    """The settings of this service alone; it shares others, such as those of the embedding and chat models."""

    facts_by_model: bool = False
    """Whether the model of `CHAT_…` reads what people say for facts, with a call a message; otherwise the rules do.
    Workspaces that chose a model of their own are read by this one all the same"""
    recall_index_bytes: int = Field(default=256 << 20, gt=0)
    """The memory for the indexes of users' memories; the one used last is kept whatever its size"""
