"""PDF and image conversion on docling's threaded pipeline, with engines whose weights come inside wheels."""
