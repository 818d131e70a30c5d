"""The ingestion service: turns uploads and sources into chunks that can be searched and cited."""
