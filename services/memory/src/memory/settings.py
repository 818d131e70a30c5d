"""The settings of the service; the only module that reads the environment."""

from pydantic import Field

from inference.settings import ChatSettings, EmbeddingSettings
from service_kit.settings import DocumentConsumerSettings, ServiceSettings, SessionConsumerSettings


class Settings(ServiceSettings, DocumentConsumerSettings, SessionConsumerSettings, EmbeddingSettings, ChatSettings):
    """The service's own settings, besides those of its models and those shared with other services."""

    facts_by_model: bool = False
    """Whether the model of `CHAT_…` extracts facts and topics from messages, with one call per message for each;
    otherwise rules do. It is also used for workspaces that chose a model of their own"""
    recall_index_bytes: int = Field(default=256 << 20, gt=0)
    """Memory for the indexes of users' memories; the most recently used one is kept whatever its size"""
