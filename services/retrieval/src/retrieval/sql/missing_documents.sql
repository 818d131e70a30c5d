-- Documents without a vector of their own, where the workspace wants them, with what it is made of.
SELECT indexed.number, indexed.document_id, indexed.xmin::text AS state, coalesce(title, name) AS title,
       metadata ->> 'summary' AS summary, headings, beginning
FROM indexed_document AS indexed
CROSS JOIN LATERAL (
    SELECT coalesce(jsonb_agg(heading_path ORDER BY chunk_index), '[]') AS headings,
           coalesce(array_agg(content ORDER BY chunk_index) FILTER (WHERE place <= %(most_read)s), '{}') AS beginning
    FROM (SELECT chunk_index, heading_path, content, row_number() OVER (ORDER BY chunk_index) AS place
          FROM chunk
          WHERE workspace_id = %(workspace_id)s AND document = indexed.number
          ORDER BY chunk_index
          LIMIT %(most_outlined)s) AS first
) AS told
WHERE workspace_id = %(workspace_id)s AND indexed.number > %(after)s AND chunk_count > 0
  AND wants_document_vectors(%(workspace_id)s)
  AND NOT EXISTS (SELECT FROM document_vector AS vector
                  WHERE vector.workspace_id = %(workspace_id)s AND vector.document = indexed.number
                    AND vector.model = %(model)s AND vector.dims = %(dims)s)
ORDER BY indexed.number
LIMIT %(limit)s
