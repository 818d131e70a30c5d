"""Requests to one server: the connection, retries, pages, uploads."""
