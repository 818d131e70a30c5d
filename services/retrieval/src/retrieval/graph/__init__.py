"""The graph leg: what the knowledge graph reaches from the entities of a query."""
