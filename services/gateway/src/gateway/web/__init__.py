"""The web UI, if it is installed."""
