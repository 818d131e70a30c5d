"""reStructuredText through docutils."""
