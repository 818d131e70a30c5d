-- By space, the vectors of chunks and those of whole documents.
SELECT model, dims, sum(chunks)::bigint, sum(documents)::bigint
FROM (SELECT model, dims, count(*) AS chunks, 0 AS documents FROM chunk_vector
      WHERE workspace_id = %(workspace_id)s GROUP BY model, dims
      UNION ALL
      SELECT model, dims, 0, count(*) FROM document_vector
      WHERE workspace_id = %(workspace_id)s GROUP BY model, dims) AS counted
GROUP BY model, dims
