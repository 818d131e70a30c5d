"""Applies a preset to a question. Pure."""

from __future__ import annotations

from dataclasses import replace

from contracts.workspace_settings import Preset
from orchestrator.openai_api.asking import OpenAIQuestion
from orchestrator.runs.records import RunOptions


def with_preset(question: OpenAIQuestion, preset: Preset | None) -> OpenAIQuestion:
    """Returns the question with the preset applied. The request's own options take precedence."""
    if preset is None:
        return question
    options: RunOptions = question.options.copy()
    if preset.instructions:
        options["instructions"] = "\n\n".join(filter(None, (preset.instructions, options.get("instructions"))))
    if preset.temperature is not None:
        options.setdefault("temperature", preset.temperature)
    if preset.roles:
        options["roles"] = {role: [model.model_dump() for model in models] for role, models in preset.roles.items()}
    filters: dict[str, list[str]] = {}
    if preset.source_ids:
        filters["source_ids"] = [str(one) for one in preset.source_ids]
    if preset.tags:
        filters["tags"] = preset.tags
    if filters:
        options["filters"] = filters
    return replace(question, options=options, document_ids=preset.document_ids)
