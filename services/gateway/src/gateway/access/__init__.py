"""Who may come in: API keys, rate limits."""
