"""Runs Attractor without Docker on engines from wheels."""
