"""Signing in without a key: passwords, OpenID Connect, web sessions, and which web pages may use them."""
