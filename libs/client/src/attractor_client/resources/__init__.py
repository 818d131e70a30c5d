"""The parts of the client: one for each noun of the API."""
