"""Long-term memory: what was said, and what follows from it."""
