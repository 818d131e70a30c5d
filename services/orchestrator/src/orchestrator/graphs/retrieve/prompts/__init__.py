"""The prompts, as Markdown."""
