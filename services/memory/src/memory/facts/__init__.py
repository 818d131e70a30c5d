"""What messages state: facts, preferences and style, with the times at which they hold."""
