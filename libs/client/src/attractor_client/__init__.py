"""The typed HTTP client of Attractor and the attractor command."""
