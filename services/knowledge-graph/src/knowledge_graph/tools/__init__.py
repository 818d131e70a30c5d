"""Tools for structural questions, with bounded answers."""
