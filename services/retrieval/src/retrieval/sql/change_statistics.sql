-- Last in its transaction: the row is locked until the commit, and every indexer of the workspace wants it. A new
-- generation says that a search may find something else than before.
INSERT INTO workspace_statistics AS known (workspace_id, chunks, terms, generation)
VALUES (%(workspace_id)s, %(chunks)s, %(terms)s, 1)
ON CONFLICT (workspace_id) DO UPDATE SET
    chunks = known.chunks + excluded.chunks, terms = known.terms + excluded.terms, generation = known.generation + 1
