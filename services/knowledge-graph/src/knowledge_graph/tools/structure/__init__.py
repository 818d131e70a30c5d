"""Questions about structure, in English and German, and their answers in words."""
