"""The public entrance of Attractor."""
