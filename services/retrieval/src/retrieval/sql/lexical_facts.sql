-- `recent`: what is in no block yet, as documents and batches.
SELECT
    coalesce((SELECT chunks FROM workspace_statistics WHERE workspace_id = %(workspace_id)s), 0) AS chunks,
    coalesce((SELECT terms FROM workspace_statistics WHERE workspace_id = %(workspace_id)s), 0) AS terms,
    ARRAY(SELECT stemming FROM workspace_stemming
          WHERE workspace_id = %(workspace_id)s AND documents > 0
          ORDER BY documents DESC, stemming
          LIMIT %(most_stemmings)s) AS stemmings,
    recent.documents,
    recent.batches
FROM (SELECT coalesce(array_agg(document), '{}') AS documents, coalesce(array_agg(batch), '{}') AS batches
      FROM recent_postings
      WHERE workspace_id = %(workspace_id)s) AS recent
