"""Code that all Attractor services share."""
