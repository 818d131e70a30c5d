"""The conversation graph: one turn, from the question to the cited answer."""
