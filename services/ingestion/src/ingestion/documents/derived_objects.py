"""The objects that conversion leaves in the object store."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from contracts.object_keys import derived_prefix


@dataclass(frozen=True)
class DerivedKeys:
    """The objects of one version of a document."""

    prefix: str

    @property
    def markdown(self) -> str:
        return f"{self.prefix}document.md"

    @property
    def chunks(self) -> str:
        """JSON Lines of `contracts.ingestion.Chunk`."""
        return f"{self.prefix}chunks.jsonl"

    @property
    def vectors(self) -> str:
        """NumPy .npy, float32, one row per chunk."""
        return f"{self.prefix}vectors.npy"


def derived_keys(workspace_id: UUID, document_id: UUID, version: int) -> DerivedKeys:
    return DerivedKeys(f"{derived_prefix(workspace_id, document_id)}v{version}/")
