"""What was said, as it is kept: the ledger of messages."""
