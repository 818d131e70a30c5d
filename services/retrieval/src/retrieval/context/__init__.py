"""Evidence for a prompt: the best passages, packed into so many tokens."""
