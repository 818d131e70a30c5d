SELECT chunk.number, name, document_id, chunk_id, metadata #>> '{source,path}', metadata #>> '{source,uri}', content
FROM chunk
JOIN indexed_document ON indexed_document.workspace_id = chunk.workspace_id
                     AND indexed_document.number = chunk.document
WHERE chunk.workspace_id = %(workspace_id)s AND chunk.number = ANY (%(chunks)s)
