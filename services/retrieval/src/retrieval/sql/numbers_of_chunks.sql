SELECT chunk.number, document_id, chunk.chunk_id
FROM unnest(%(chunk_ids)s::text[], %(document_ids)s::uuid[]) AS wanted (chunk_id, wanted_document)
JOIN chunk ON chunk.workspace_id = %(workspace_id)s AND hashtext(chunk.chunk_id) = hashtext(wanted.chunk_id)
          AND chunk.chunk_id = wanted.chunk_id
JOIN indexed_document ON indexed_document.workspace_id = chunk.workspace_id
                     AND indexed_document.number = chunk.document AND document_id = wanted_document
