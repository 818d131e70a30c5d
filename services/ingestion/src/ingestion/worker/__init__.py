"""The worker process, which converts, chunks and embeds documents and synchronises sources."""
