SELECT recent.document, recent.batch, recent.payload
FROM unnest(%(documents)s::bigint[], %(batches)s::bigint[]) AS wanted (document, batch)
JOIN recent_postings AS recent
  ON recent.workspace_id = %(workspace_id)s AND recent.document = wanted.document AND recent.batch = wanted.batch
