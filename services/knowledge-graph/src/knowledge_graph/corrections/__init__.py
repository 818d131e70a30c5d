"""What people correct: facts, names, types."""
