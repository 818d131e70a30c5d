"""Selects the models of a run."""
