"""The prompts, one file per node that asks a model."""
