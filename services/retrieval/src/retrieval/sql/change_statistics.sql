-- Last in its transaction: the row is locked until the commit, and every indexer of the workspace wants it.
INSERT INTO workspace_statistics AS known (workspace_id, chunks, terms)
VALUES (%(workspace_id)s, %(chunks)s, %(terms)s)
ON CONFLICT (workspace_id) DO UPDATE SET chunks = known.chunks + excluded.chunks, terms = known.terms + excluded.terms
