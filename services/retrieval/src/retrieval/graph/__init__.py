"""The graph leg: chunks that the knowledge graph reaches from the entities of a query."""
