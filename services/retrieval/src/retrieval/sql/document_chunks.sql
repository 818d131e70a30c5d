SELECT chunk_id, %(document_id)s::uuid AS document_id, chunk_index, section_title, heading_path, content,
       0 AS token_count, page, page_end, box, line_start, line_end, cells
FROM chunk
WHERE workspace_id = %(workspace_id)s AND number >= %(document)s::bigint << 20
  AND number < (%(document)s::bigint + 1) << 20
ORDER BY chunk_index
