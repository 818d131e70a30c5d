DELETE FROM recent_postings USING unnest(%(documents)s::bigint[], %(batches)s::bigint[]) AS gone (document, batch)
WHERE recent_postings.workspace_id = %(workspace_id)s AND recent_postings.document = gone.document
  AND recent_postings.batch = gone.batch
