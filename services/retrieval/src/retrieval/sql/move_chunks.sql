-- What a kept chunk says is the same; where it stands may have changed.
UPDATE chunk SET chunk_index = moved.chunk_index, section_title = moved.section_title, page = moved.page,
                 page_end = moved.page_end, box = moved.box, line_start = moved.line_start, line_end = moved.line_end,
                 cells = moved.cells
FROM ROWS FROM (
    unnest(%(numbers)s::bigint[]),
    json_to_recordset(%(chunks)s::json) AS (
        chunk_index integer, section_title text, page integer, page_end integer, box float8[], line_start integer,
        line_end integer, cells text)
) AS moved (number)
WHERE chunk.workspace_id = %(workspace_id)s AND chunk.number = moved.number
  AND (chunk.chunk_index, chunk.section_title, chunk.page, chunk.page_end, chunk.box, chunk.line_start, chunk.line_end,
       chunk.cells)
      IS DISTINCT FROM
      (moved.chunk_index, moved.section_title, moved.page, moved.page_end, moved.box, moved.line_start, moved.line_end,
       moved.cells)
