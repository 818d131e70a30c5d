"""The read interface of the graph, and the two stores that answer it."""
