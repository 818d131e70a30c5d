"""Which memories answer a question."""
