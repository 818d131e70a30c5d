SELECT number, chunk.document_id, chunk.chunk_id
FROM unnest(%(chunk_ids)s::text[], %(document_ids)s::uuid[]) AS wanted (chunk_id, document_id)
JOIN chunk ON chunk.workspace_id = %(workspace_id)s AND hashtext(chunk.chunk_id) = hashtext(wanted.chunk_id)
          AND chunk.chunk_id = wanted.chunk_id AND chunk.document_id = wanted.document_id
