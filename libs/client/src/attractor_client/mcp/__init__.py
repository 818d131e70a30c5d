"""Attractor as a server of the Model Context Protocol: tools and resources over one client."""
