"""Long-term memory of what was said."""
