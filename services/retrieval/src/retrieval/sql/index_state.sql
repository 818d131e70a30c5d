-- What a search has to know of the index before it begins. `changed_by` tells a generation from the same one of a database
-- that was set back. `recent`: what is in no block yet, as documents and batches. `index_bytes`: of the approximate index
-- of the active space, or of the default one where there is none; all workspaces share it.
SELECT generation, changed_by, active.model, active.dims, coalesce(chunks, 0) AS chunks, coalesce(terms, 0) AS terms,
       ARRAY(SELECT stemming FROM workspace_stemming
             WHERE workspace_id = %(workspace_id)s AND documents > 0
             ORDER BY documents DESC, stemming) AS stemmings,
       recent.documents AS recent_documents, recent.batches AS recent_batches,
       coalesce(pg_relation_size(to_regclass('chunk_vector_' || embedding_space_id(
           coalesce(active.model, %(model)s), coalesce(active.dims, %(dims)s)))), 0) AS index_bytes
FROM (SELECT coalesce(array_agg(document), '{}') AS documents, coalesce(array_agg(batch), '{}') AS batches
      FROM recent_postings
      WHERE workspace_id = %(workspace_id)s) AS recent
LEFT JOIN (SELECT generation, xmin::text AS changed_by, chunks, terms FROM workspace_statistics
           WHERE workspace_id = %(workspace_id)s) AS statistics ON true
LEFT JOIN (SELECT model, dims FROM embedding_space
           WHERE workspace_id = %(workspace_id)s AND status = 'active') AS active ON true
