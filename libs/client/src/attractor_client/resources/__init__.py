"""The parts of the client: one for each resource of the API."""
