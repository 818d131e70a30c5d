"""Signing in at an OpenID Connect provider: authorization code with PKCE."""
