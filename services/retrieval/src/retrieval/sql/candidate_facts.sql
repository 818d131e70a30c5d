-- What the words of a chunk's text are; the text itself only where its wordpieces were not kept when it was indexed.
SELECT chunk.number, title_terms, pieces,
       CASE WHEN pieces IS NULL THEN concat_ws(' ', title, array_to_string(chunk.heading_path, ' '), content) END
FROM chunk
JOIN indexed_document ON indexed_document.workspace_id = chunk.workspace_id
                     AND indexed_document.number = chunk.document
WHERE chunk.workspace_id = %(workspace_id)s AND chunk.number = ANY (%(chunks)s::bigint[])
