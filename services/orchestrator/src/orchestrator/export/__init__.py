"""Exports artifacts as files: Markdown, HTML, DOCX, PDF and their own source."""
