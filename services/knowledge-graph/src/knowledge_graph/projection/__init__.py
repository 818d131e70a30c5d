"""Neo4j shows what the tables say: drawn with each change, drawn anew, compared."""
