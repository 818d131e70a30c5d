SELECT document_id, chunk_index, heading_path, length(content) AS length
FROM unnest(%(document_ids)s::uuid[], %(firsts)s::integer[], %(lasts)s::integer[]) AS wanted (wanted_document, first, last)
JOIN indexed_document ON indexed_document.workspace_id = %(workspace_id)s AND document_id = wanted_document
JOIN chunk ON chunk.workspace_id = %(workspace_id)s AND chunk.document = indexed_document.number
          AND chunk_index BETWEEN first AND last
