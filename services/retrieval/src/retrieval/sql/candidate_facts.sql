-- The words of a chunk: its wordpieces; the text itself only where they were not kept when it was indexed.
SELECT number, pieces,
       CASE WHEN pieces IS NULL THEN (
           SELECT concat_ws(' ', title, array_to_string(chunk.heading_path, ' '), content) FROM indexed_document
           WHERE workspace_id = %(workspace_id)s AND indexed_document.number = chunk.document) END
FROM chunk
WHERE workspace_id = %(workspace_id)s AND number = ANY (%(chunks)s::bigint[])
