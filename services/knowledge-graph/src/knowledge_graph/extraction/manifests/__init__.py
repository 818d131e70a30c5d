"""Reads manifests and schemas: who depends on what, who owns it, what contains what."""
