-- In one round trip: the savepoint is what a part of the search that fails goes back to.
SELECT pg_export_snapshot(); SAVEPOINT opened
