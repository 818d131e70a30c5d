"""Extracts entities and relations from the chunks of a document. Pure: text in, records out."""
