"""The dense leg: vectors of queries, and their nearest neighbours."""
