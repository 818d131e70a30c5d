"""Evidence for a prompt: the best chunks, packed into a budget of tokens."""
