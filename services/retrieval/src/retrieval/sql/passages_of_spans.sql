SELECT chunk.document_id, chunk_index, chunk_id, content, page, page_end
FROM unnest(%(document_ids)s::uuid[], %(firsts)s::integer[], %(lasts)s::integer[]) AS wanted (document_id, first, last)
JOIN chunk ON chunk.workspace_id = %(workspace_id)s AND chunk.document_id = wanted.document_id
          AND chunk_index BETWEEN first AND last
ORDER BY chunk.document_id, chunk_index
