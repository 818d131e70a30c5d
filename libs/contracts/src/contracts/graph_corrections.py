"""Corrections of the graph by people."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from contracts.base import Name, Request, Resource, storable
from contracts.graph_tools import RelationType, TypeName

CorrectionKind = Literal["confirm", "reject", "add", "merge", "split", "type"]
OF_FACTS = frozenset({"confirm", "reject", "add"})
Reason = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500), AfterValidator(storable)
]
Day = Annotated[str, StringConstraints(pattern=r"^\d{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?)?$")]


class CorrectionRequest(Request):
    """`confirm`, `reject` and `add` are about the fact `entity` `relation_type` `other`; `add` also takes names unknown
    to the graph, and the `status` of the fact. `merge` makes `entity` another name of `other`, `split` says that the
    two names are different entities, `type` gives `entity` the `entity_type`.
    """

    kind: CorrectionKind
    reason: Annotated[Reason, Field(description="Why; shown with the correction.")]
    entity: Annotated[Name, Field(description="A name, in any spelling, or an id.")]
    other: Annotated[Name | None, Field(description="A name, in any spelling, or an id.")] = None
    relation_type: RelationType | None = None
    entity_type: TypeName | None = None
    status: Literal["current", "past", "planned"] = "current"
    dated: Annotated[
        Day | None, Field(description="When it began, ended or will begin: 2024, 2024-06, 2024-06-28.")
    ] = None

    @model_validator(mode="after")
    def _has_what_it_needs(self) -> CorrectionRequest:
        wanted = {"other": self.kind != "type", "relation_type": self.kind in OF_FACTS}
        wanted["entity_type"] = self.kind == "type"
        for field, is_wanted in wanted.items():
            if is_wanted != (getattr(self, field) is not None):
                raise ValueError(f"a correction of the kind {self.kind} takes {'a' if is_wanted else 'no'} {field}")
        if self.kind != "add" and (self.status != "current" or self.dated is not None):
            raise ValueError("only an added fact has a status and a date")
        return self


class Correction(Resource):
    """A correction in force. It is provenance of its own, with the method `correction` and its id in place of a
    document's: documents ingested later, or again, do not undo it. `entity` and `other` are names.
    """

    id: UUID
    kind: CorrectionKind
    entity: str
    other: str | None = None
    relation_type: str | None = None
    entity_type: str | None = None
    status: str = "current"
    dated: str | None = None
    reason: str
    created_by: UUID
    created_at: datetime
