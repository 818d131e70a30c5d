SELECT
    chunk.number, chunk_id, document_id, name AS document_name, title AS document_title, media_type, source_type,
    language, tags, content, section_title, heading_path, chunk_index, page, page_end, box, line_start, line_end
FROM chunk
JOIN indexed_document ON indexed_document.workspace_id = chunk.workspace_id
                     AND indexed_document.number = chunk.document
WHERE chunk.workspace_id = %(workspace_id)s AND chunk.number = ANY (%(chunks)s::bigint[])
