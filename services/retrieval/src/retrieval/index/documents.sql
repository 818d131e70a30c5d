-- name: find
-- Returns the rows of documents.
SELECT {columns} FROM indexed_document
WHERE workspace_id = %(workspace_id)s AND document_id = ANY (%(document_ids)s);

-- name: deleted
-- Returns which of the documents were deleted for good.
SELECT document_id FROM tombstone WHERE workspace_id = %(workspace_id)s AND document_id = ANY (%(document_ids)s);

-- name: insert_tombstones
-- Records that documents are deleted.
INSERT INTO tombstone (workspace_id, document_id)
SELECT %(workspace_id)s, unnest(%(document_ids)s::uuid[])
ON CONFLICT DO NOTHING;

-- name: take_numbers
-- Takes numbers for documents.
SELECT nextval('document_number') FROM generate_series(1, %(count)s);

-- name: put
-- Writes the row of a document.
INSERT INTO indexed_document (workspace_id, {columns}, title_terms, name_terms)
VALUES (%(workspace_id)s, {values}, %(title_terms)s, %(name_terms)s)
ON CONFLICT (workspace_id, document_id) DO UPDATE SET
    ({columns}, title_terms, name_terms) = ({new_values}, excluded.title_terms, excluded.name_terms),
    indexed_at = now();

-- name: set_facts
-- Changes the facts of a document, but not the words that it is found by.
UPDATE indexed_document SET
    tags = %(tags)s, source_type = %(source_type)s, source_ids = %(source_ids)s, written_at = %(written_at)s,
    modified_at = %(modified_at)s, metadata = %(metadata)s
WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s;

-- name: remove
-- Deletes a document with its chunks and vectors; returns how many there were.
WITH document AS (
    DELETE FROM indexed_document WHERE workspace_id = %(workspace_id)s AND number = %(number)s
                                   AND document_id = %(document_id)s
    RETURNING 1
), chunks AS (
    DELETE FROM chunk
    WHERE workspace_id = %(workspace_id)s AND number >= %(number)s::bigint << 20
      AND number < (%(number)s::bigint + 1) << 20
    RETURNING 1
), vectors AS (
    DELETE FROM chunk_vector USING vector_spaces(%(workspace_id)s) AS space
    WHERE chunk_vector.workspace_id = %(workspace_id)s AND chunk_vector.model = space.model
      AND chunk_vector.dims = space.dims AND chunk_vector.chunk >= %(number)s::bigint << 20
      AND chunk_vector.chunk < (%(number)s::bigint + 1) << 20
    RETURNING 1
)
SELECT (SELECT count(*) FROM document) AS documents, (SELECT count(*) FROM chunks) AS chunks,
       (SELECT count(*) FROM vectors) AS vectors;

-- name: count_remaining
-- Counts what is left of a document.
SELECT
    (SELECT count(*) FROM indexed_document
     WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s) AS documents,
    (SELECT count(*) FROM chunk
     WHERE workspace_id = %(workspace_id)s AND number >= %(number)s::bigint << 20
       AND number < (%(number)s::bigint + 1) << 20) AS chunks,
    (SELECT count(*) FROM chunk_vector
     JOIN vector_spaces(%(workspace_id)s) AS space ON chunk_vector.model = space.model AND chunk_vector.dims = space.dims
     WHERE chunk_vector.workspace_id = %(workspace_id)s AND chunk_vector.chunk >= %(number)s::bigint << 20
       AND chunk_vector.chunk < (%(number)s::bigint + 1) << 20) AS vectors;

-- name: page
-- Returns documents by id, with their counts of vectors.
SELECT document_id, version, chunk_count,
       (SELECT count(*) FROM chunk_vector
        WHERE workspace_id = %(workspace_id)s AND chunk >= indexed.number << 20 AND chunk < (indexed.number + 1) << 20
          AND model = %(model)s AND dims = %(dims)s) AS vectors
FROM indexed_document AS indexed
WHERE workspace_id = %(workspace_id)s AND document_id > %(after)s
ORDER BY document_id
LIMIT %(limit)s;

-- name: stored_chunks
-- Returns the chunks of a document for comparison with a new version.
SELECT number, chunk_id, chunk_index, heading_path, terms, postings,
       EXISTS (SELECT FROM chunk_vector AS vector
               WHERE vector.workspace_id = chunk.workspace_id AND vector.model = %(model)s AND vector.dims = %(dims)s
                 AND vector.chunk = chunk.number) AS embedded
FROM chunk
WHERE workspace_id = %(workspace_id)s AND number >= %(document)s::bigint << 20
  AND number < (%(document)s::bigint + 1) << 20
ORDER BY chunk_index;

-- name: chunks
-- Returns the chunks of a document in their order.
SELECT chunk_id, %(document_id)s::uuid AS document_id, chunk_index, section_title, heading_path, content,
       0 AS token_count, page, page_end, box, line_boxes(lines) AS boxes, line_start, line_end, cells,
       markdown_start, markdown_end
FROM chunk
WHERE workspace_id = %(workspace_id)s AND number >= %(document)s::bigint << 20
  AND number < (%(document)s::bigint + 1) << 20
ORDER BY chunk_index;

-- name: insert_chunks
-- Adds new chunks.
INSERT INTO chunk (workspace_id, number, document, chunk_id, chunk_index, section_title, heading_path,
                   content, page, page_end, box, lines, line_start, line_end, cells, markdown_start, markdown_end,
                   terms, postings, pieces)
SELECT %(workspace_id)s, number, number >> 20, chunk_id, chunk_index, section_title, heading_path,
       content, page, page_end, box, packed_lines(boxes), line_start, line_end, cells, markdown_start, markdown_end,
       terms, postings, pieces
FROM ROWS FROM (
    unnest(%(numbers)s::bigint[]),
    json_to_recordset(%(chunks)s::json) AS (
        chunk_id text, chunk_index integer, section_title text, heading_path text[], content text,
        page integer, page_end integer, box float8[], boxes json, line_start integer, line_end integer, cells text,
        markdown_start integer, markdown_end integer),
    unnest(%(terms)s::integer[]),
    unnest(%(postings)s::integer[]),
    unnest(%(pieces)b::bytea[])
) AS written (number, chunk_id, chunk_index, section_title, heading_path, content, page, page_end, box,
              boxes, line_start, line_end, cells, markdown_start, markdown_end, terms, postings, pieces);

-- name: move_chunks
-- Moves kept chunks: their text is the same, their place may have changed.
UPDATE chunk SET chunk_index = moved.chunk_index, section_title = moved.section_title, page = moved.page,
                 page_end = moved.page_end, box = moved.box, lines = packed_lines(moved.boxes),
                 line_start = moved.line_start, line_end = moved.line_end, cells = moved.cells,
                 markdown_start = moved.markdown_start, markdown_end = moved.markdown_end
FROM ROWS FROM (
    unnest(%(numbers)s::bigint[]),
    json_to_recordset(%(chunks)s::json) AS (
        chunk_index integer, section_title text, page integer, page_end integer, box float8[], boxes json, line_start integer,
        line_end integer, cells text, markdown_start integer, markdown_end integer)
) AS moved (number)
WHERE chunk.workspace_id = %(workspace_id)s AND chunk.number = moved.number
  AND (chunk.chunk_index, chunk.section_title, chunk.page, chunk.page_end, chunk.box, chunk.lines, chunk.line_start,
       chunk.line_end, chunk.cells, chunk.markdown_start, chunk.markdown_end)
      IS DISTINCT FROM
      (moved.chunk_index, moved.section_title, moved.page, moved.page_end, moved.box, packed_lines(moved.boxes),
       moved.line_start, moved.line_end, moved.cells, moved.markdown_start, moved.markdown_end);

-- name: reword_chunks
-- Changes the words that kept chunks are found by.
UPDATE chunk SET terms = reworded.terms, postings = reworded.postings, pieces = reworded.pieces
FROM unnest(%(numbers)s::bigint[], %(terms)s::integer[], %(postings)s::integer[], %(pieces)b::bytea[])
     AS reworded (number, terms, postings, pieces)
WHERE chunk.workspace_id = %(workspace_id)s AND chunk.number = reworded.number;

-- name: remove_chunks
-- Deletes chunks with their vectors.
WITH vectors AS (
    DELETE FROM chunk_vector USING vector_spaces(%(workspace_id)s) AS space
    WHERE chunk_vector.workspace_id = %(workspace_id)s AND chunk_vector.model = space.model
      AND chunk_vector.dims = space.dims AND chunk_vector.chunk = ANY (%(chunks)s)
)
DELETE FROM chunk WHERE workspace_id = %(workspace_id)s AND number = ANY (%(chunks)s);

-- name: insert_vectors
-- Adds the vectors of some chunks.
INSERT INTO chunk_vector (workspace_id, chunk, document, model, embedding)
SELECT %(workspace_id)s, chunk, chunk >> 20, %(model)s, embedding::halfvec
FROM unnest(%(numbers)s::bigint[], %(embeddings)s::text[]) AS written (chunk, embedding)
ON CONFLICT (workspace_id, model, dims, chunk) DO NOTHING;

-- name: change_stemmings
-- Adds to the counts of documents by stemming. Runs after the change of the statistics, whose row lock serialises
-- writers.
INSERT INTO workspace_stemming AS known (workspace_id, stemming, documents)
SELECT %(workspace_id)s, stemming, change
FROM unnest(%(stemmings)s::text[], %(changes)s::bigint[]) AS changed (stemming, change)
ON CONFLICT (workspace_id, stemming) DO UPDATE SET documents = known.documents + excluded.documents;
