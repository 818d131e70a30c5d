"""What follows from what was said: facts, preferences and style, with the times at which they hold."""
