"""Signing in without a key: passwords, OpenID Connect, web sessions, and the web pages that may use them."""
