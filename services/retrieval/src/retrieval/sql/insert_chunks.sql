INSERT INTO chunk (workspace_id, number, document, chunk_id, chunk_index, section_title, heading_path,
                   content, page, page_end, box, line_start, line_end, cells, terms, postings, pieces)
SELECT %(workspace_id)s, number, %(document)s, chunk_id, chunk_index, section_title, heading_path,
       content, page, page_end, box, line_start, line_end, cells, terms, postings, pieces
FROM ROWS FROM (
    unnest(%(numbers)s::bigint[]),
    json_to_recordset(%(chunks)s::json) AS (
        chunk_id text, chunk_index integer, section_title text, heading_path text[], content text,
        page integer, page_end integer, box float8[], line_start integer, line_end integer, cells text),
    unnest(%(terms)s::integer[]),
    unnest(%(postings)s::integer[]),
    unnest(%(pieces)b::bytea[])
) AS written (number, chunk_id, chunk_index, section_title, heading_path, content, page, page_end, box,
              line_start, line_end, cells, terms, postings, pieces)
