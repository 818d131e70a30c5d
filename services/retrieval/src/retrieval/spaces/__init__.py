"""Embedding spaces: the vectors of one model, side by side with those of others, of which one is searched."""
