"""Evidence for a prompt: the best passages, packed into a budget of tokens."""
