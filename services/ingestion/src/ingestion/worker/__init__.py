"""The process that converts, chunks and embeds."""
