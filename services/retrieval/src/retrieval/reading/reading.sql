-- name: index_state
-- Returns what a search needs to know before it begins. `changed_by` distinguishes a generation from the same number
-- before the database was restored; `recent_*` are rows that are not folded yet; `index_bytes` is the size of the
-- approximate index of the active (or default) space, which all workspaces share; `exported` is the name of the
-- transaction's snapshot, if there are at least `many` chunks.
SELECT generation, changed_by, active.model, active.dims, coalesce(chunks, 0) AS chunks, coalesce(terms, 0) AS terms,
       ARRAY(SELECT stemming FROM workspace_stemming
             WHERE workspace_id = %(workspace_id)s AND documents > 0
             ORDER BY documents DESC, stemming) AS stemmings,
       recent.documents AS recent_documents, recent.batches AS recent_batches,
       coalesce(pg_relation_size(to_regclass('chunk_vector_' || embedding_space_id(
           coalesce(active.model, %(model)s), coalesce(active.dims, %(dims)s)))), 0) AS index_bytes,
       CASE WHEN chunks >= %(many)s THEN pg_export_snapshot() END AS exported
FROM (SELECT coalesce(array_agg(document), '{}') AS documents, coalesce(array_agg(batch), '{}') AS batches
      FROM recent_postings
      WHERE workspace_id = %(workspace_id)s) AS recent
LEFT JOIN (SELECT generation, xmin::text AS changed_by, chunks, terms FROM workspace_statistics
           WHERE workspace_id = %(workspace_id)s) AS statistics ON true
LEFT JOIN (SELECT model, dims FROM embedding_space
           WHERE workspace_id = %(workspace_id)s AND status = 'active') AS active ON true;

-- name: back_to_snapshot
-- Makes the transaction usable again after a failure.
ROLLBACK TO SAVEPOINT opened;

-- name: chunks
-- Returns chunks with the facts about their documents that hits show.
SELECT
    chunk.number, chunk_id, document_id, name AS document_name, title AS document_title, media_type, source_type,
    language, tags, content, section_title, heading_path, chunk_index, page, page_end, box, lines, line_start,
    line_end, markdown_start, markdown_end
FROM chunk
JOIN indexed_document ON indexed_document.workspace_id = chunk.workspace_id
                     AND indexed_document.number = chunk.document
WHERE chunk.workspace_id = %(workspace_id)s AND chunk.number = ANY (%(chunks)s::bigint[]);

-- name: numbers_of_chunks
-- Finds chunks that another service knows by document and id: returns their places in these lists, and their numbers.
SELECT (place - 1)::integer, chunk.number
FROM unnest(%(chunk_ids)s::text[], %(document_ids)s::uuid[]) WITH ORDINALITY AS wanted (chunk_id, wanted_document, place)
JOIN chunk ON chunk.workspace_id = %(workspace_id)s AND hashtext(chunk.chunk_id) = hashtext(wanted.chunk_id)
          AND chunk.chunk_id = wanted.chunk_id
JOIN indexed_document ON indexed_document.workspace_id = chunk.workspace_id
                     AND indexed_document.number = chunk.document AND document_id = wanted_document;

-- name: candidate_rows
-- Returns the wordpieces of chunks, or the text itself if no pieces were stored when it was indexed, the terms of their
-- documents' titles, and their vectors in the binary form of halfvec: two bytes of dimensions, two unused, then halves,
-- big-endian.
SELECT chunk.number, pieces,
       CASE WHEN pieces IS NULL THEN concat_ws(' ', title, array_to_string(chunk.heading_path, ' '), content) END,
       title_terms, (
           SELECT halfvec_send(embedding) FROM chunk_vector AS vector
           WHERE vector.workspace_id = %(workspace_id)s AND vector.chunk = chunk.number
             AND vector.model = %(model)s AND vector.dims = %(dims)s
       )
FROM chunk
JOIN indexed_document ON indexed_document.workspace_id = chunk.workspace_id
                     AND indexed_document.number = chunk.document
WHERE chunk.workspace_id = %(workspace_id)s AND chunk.number = ANY (%(chunks)s::bigint[]);

-- name: lock_documents
-- Locks out other writers of these documents, even of those without a row. Taken after the workspace's lock, in order.
SELECT pg_advisory_xact_lock(hashtextextended(%(workspace_id)s::text || document_id, 0))
FROM (SELECT DISTINCT unnest(%(document_ids)s::uuid[])::text AS document_id ORDER BY 1) AS ordered;

-- name: change_statistics
-- Adds to the counts and raises the generation, because searches may give other results now. Last in its transaction:
-- the row is locked until the commit, and every indexer of the workspace needs it.
INSERT INTO workspace_statistics AS known (workspace_id, chunks, terms, generation)
VALUES (%(workspace_id)s, %(chunks)s, %(terms)s, 1)
ON CONFLICT (workspace_id) DO UPDATE SET
    chunks = known.chunks + excluded.chunks, terms = known.terms + excluded.terms, generation = known.generation + 1;

-- name: generation
-- Returns the generation of the workspace's index.
SELECT generation FROM workspace_statistics WHERE workspace_id = %(workspace_id)s;
