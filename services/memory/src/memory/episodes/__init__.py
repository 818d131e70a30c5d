"""Episodes: the stored messages."""
