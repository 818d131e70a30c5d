"""The graph that changes the artifact of a session."""
