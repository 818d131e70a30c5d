COPY chunk (workspace_id, number, document, document_id, chunk_id, chunk_index, section_title, heading_path, content,
            page, page_end, box, line_start, line_end) FROM STDIN
