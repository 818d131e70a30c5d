"""Which models a run asks."""
