"""Neo4j as a projection of the graph: connection, read store, writes and maintenance."""
